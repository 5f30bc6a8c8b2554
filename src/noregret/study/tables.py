"""Trials and events as frames; frames as bytes."""

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from noregret.results import Recommendation
from noregret.spaces import Domain
from noregret.study.errors import StudyError
from noregret.study.rows import TRIAL_COLUMNS, Event, Operation
from noregret.study.units import Units

#: names of the columns of a study's tables
_COLUMNS = {
    "trial", "id", "name", "value", "failed", "status", "origin", "asked", "given", "done",
    "reason", "mean", "lower", "upper", "evaluations",
}  # fmt: skip


def to_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as Parquet."""
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def from_bytes(data: bytes) -> pl.DataFrame:
    """What :func:`to_bytes` made."""
    return pl.read_parquet(io.BytesIO(data))


def coordinate_names(domain: Domain) -> list[str]:
    """The names of the d dimensions; none if the choices are objects."""
    return list(domain.names or [f"x{i}" for i in range(domain.dimension or 0)])


def coordinates(domain: Domain, points: Any) -> dict[str, list[Any]]:
    """The values of points (n) of a box or space by name, n of each, as people see them."""
    rows = domain.labels(np.full(len(points), -1), points)
    if domain.names is None:
        rows = [row.tolist() for row in rows]
    columns = enumerate(coordinate_names(domain))
    return {name: [row[name if domain.names else i] for row in rows] for i, name in columns}


def column_of(values: list[Any]) -> pl.Series:
    """A column of values; as texts if they have several types."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return pl.Series([None if value is None else str(value) for value in values])
    return pl.Series(values, strict=False)


def parameter_columns(domain: Domain, points: Any) -> dict[str, pl.Series]:
    """The values of points (n) by parameter, as columns of a frame."""
    return {name: column_of(values) for name, values in coordinates(domain, points).items()}


def in_words(point: Any) -> str:
    """A point of a box or space in few digits: ``rate=0.1, kind=a``, or coordinates."""
    if isinstance(point, dict):
        return ", ".join(f"{name}={_short(value)}" for name, value in point.items())
    return ", ".join(_short(x) for x in point)


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def check_names(domain: Domain) -> None:
    """Refuse parameters with the name of a column of a study's tables."""
    taken = [name for name in domain.names or () if name.lower() in _COLUMNS]
    if taken and not domain.listed:
        raise StudyError(
            f"parameters must not be called {', '.join(sorted(_COLUMNS))} in a study; {taken[0]} is"
        )


def table_to_show(
    size: int | None, names: Sequence[Any] | None, table: pl.DataFrame | None
) -> pl.DataFrame | None:
    """The table that is shown of a list of ``size`` candidates, names first; checked."""
    if names is None and table is None:
        return None
    if size is None:
        raise StudyError("names and table are for lists of candidates, not for a box")
    if table is not None and len(table) != size:
        raise StudyError(f"table must have {size} rows, one per candidate, got {len(table)}")
    shown = pl.DataFrame() if table is None else table
    if names is None:
        return shown
    words = [str(name) for name in names]
    if len(words) != size:
        raise StudyError(f"names must be {size}, one per candidate, got {len(words)}")
    column = pl.Series("name", words, dtype=pl.String)
    twice = column.filter(column.is_duplicated())
    if len(twice):
        raise StudyError(f"names must all be different; {twice[0]!r} comes twice")
    if "name" in shown.columns:
        raise StudyError(
            "table must not have a column 'name' if names are given: rename the column"
        )
    return pl.DataFrame([column, *shown.get_columns()])


def beside(frame: pl.DataFrame, table: pl.DataFrame, ids: Sequence[int]) -> pl.DataFrame:
    """A frame (n rows) with the table's rows of these ids (n) at its right.

    Names come once. A feature with the name of one of our columns gets an underscore at its end.
    """
    features = table.drop("name", strict=False)
    taken = set(frame.columns)
    renamed = {}
    for name in features.columns:
        free = name
        while free in taken:
            free += "_"
        taken.add(free)
        renamed[name] = free
    if not renamed:
        return frame
    return frame.hstack(features[list(ids)].rename(renamed))


def longer_table(
    old: pl.DataFrame | None,
    size: int,
    names: Sequence[Any] | None,
    table: pl.DataFrame | None,
    named: bool,
) -> pl.DataFrame | None:
    """The table of all candidates once ``size`` more have been added; checked.

    Parameters
    ----------
    old
        The table of the candidates so far.
    size
        How many are added.
    names, table
        Names and table of the new candidates, as for a new study. Missing columns stay empty.
    named
        Whether the others have names: then the new ones need names, else they must have none.
    """
    if named != (names is not None):
        raise StudyError(
            "names must be given: the study's other candidates have some"
            if named
            else "names must not be given: the study's other candidates have none"
        )
    new = table_to_show(size, names, table)
    if old is None:
        return None
    if new is None:
        new = pl.DataFrame({"_": [None] * size}).select(
            pl.lit(None, dtype=kind).alias(name) for name, kind in old.schema.items()
        )
    if named:
        known = new["name"].filter(new["name"].is_in(old["name"].implode()))
        if len(known):
            raise StudyError(f"names must be new; {known[0]!r} is in the study already")
    unknown = [name for name in new.columns if name not in old.columns]
    if unknown:
        raise StudyError(
            f"table must have the study's columns; {unknown[0]!r} is not one of "
            f"{', '.join(old.columns)}"
        )
    new = new.cast({name: old.schema[name] for name in new.columns})
    return pl.concat([old, new], how="diagonal")


def trials_frame(
    trials: Sequence[Sequence[Any]], box: Domain | None, names: pl.Series | None
) -> pl.DataFrame:
    """A row per trial: trial, id, (name), (the point's coordinates on a box), value, status, …

    Parameters
    ----------
    trials
        Their columns, as the file has them; empty if there is no trial.
    box
        The box or space of the trials' points; ``None`` on a list.
    names
        The names of the candidates of a list.
    """
    held = dict(zip(TRIAL_COLUMNS, trials or [()] * len(TRIAL_COLUMNS), strict=True))
    columns: dict[str, Any] = {
        "trial": pl.Series(held["number"], dtype=pl.Int64),
        "id": pl.Series(held["id"], dtype=pl.Int64),
    }
    if names is not None:
        columns["name"] = names.gather(columns["id"])
    if box is not None:
        packed = list(zip(held["id"], held["point"], strict=True))
        columns |= parameter_columns(box, box.unpack(packed))
    columns |= {
        "value": pl.Series(held["value"], dtype=pl.Float64),
        "status": pl.Series(held["status"], dtype=pl.String),
        "origin": pl.Series(held["origin"], dtype=pl.String),
        "asked": _times(held["asked_at"]),
        "given": _times(held["given_at"]),
        "done": _times(held["done_at"]),
        "reason": pl.Series(held["reason"], dtype=pl.String),
    }
    return pl.DataFrame(columns)


def events_frame(events: Sequence[Event], own: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """The study's events by time, then the algorithm's own (which know their t, not their time)."""
    rest = [{key: value for key, value in event.items() if key != "event"} for event in own]
    details = [json.dumps(one) for one in [*(event.details for event in events), *rest]]
    kinds = [*(event.kind for event in events), *(event["event"] for event in own)]
    return pl.DataFrame(
        {
            "time": _times([*(event.time for event in events), *[None] * len(own)]),
            "event": pl.Series(kinds, dtype=pl.String),
            "details": pl.Series(details, dtype=pl.String),
        }
    )


def operations_frame(operations: Sequence[Operation]) -> pl.DataFrame:
    """The log: a row per operation."""
    return pl.DataFrame(
        {
            "operation": [one.number for one in operations],
            "kind": [one.kind for one in operations],
            "time": [one.time for one in operations],
            "info": [one.info for one in operations],
        },
        schema_overrides={"info": pl.Object},
    )


def top_frame(
    found: Sequence[Recommendation],
    units: Units,
    domain: Domain,
    table: pl.DataFrame | None,
) -> pl.DataFrame:
    """A row per choice: id and name (coordinates on a box), mean, bounds, what was measured, …"""
    columns: dict[str, Any] = {}
    ids = [one.id for one in found]
    if domain.listed:
        columns["id"] = pl.Series(ids, dtype=pl.Int64)
    else:
        _, points = domain.locate([one.point for one in found])
        columns |= parameter_columns(domain, points)
    if table is not None and "name" in table.columns:
        columns["name"] = table["name"].gather(ids)
    shown = [units.recommendation(one) for one in found]
    columns |= {
        name: pl.Series([getattr(one, name) for one in shown], dtype=pl.Float64)
        for name in ("mean", "lower", "upper")
    }
    columns["evaluations"] = pl.Series([one.evaluations for one in shown], dtype=pl.Int64)
    columns["measured"] = pl.Series([one.measured for one in shown], dtype=pl.Float64)
    frame = pl.DataFrame(columns)
    return frame if table is None else beside(frame, table, ids)


def _times(seconds: Sequence[float | None]) -> pl.Series:
    micro = (pl.Series(seconds, dtype=pl.Float64) * 1e6).round()
    return micro.cast(pl.Int64).cast(pl.Datetime("us", "UTC"))
