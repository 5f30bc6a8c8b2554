"""Trials, events, operations and choices of a study as frames."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret.results import Recommendation
from noregret.spaces import Domain
from noregret.study.answers import Units
from noregret.study.candidate_table import beside
from noregret.study.storage.rows import Event, Operation, SetAside
from noregret.study.trials import TRIAL_COLUMNS, Trial

if TYPE_CHECKING:
    from noregret.study.study import Study


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
    if domain.size is not None:
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


def aside_frame(
    study: "Study", operations: Sequence[Operation], failed: Sequence[Trial]
) -> pl.DataFrame:
    """The candidates that are set aside: id, name, how often each failed, the last reason."""
    found = SetAside.by(operations)
    reasons: dict[int, list[str]] = {id_: [] for id_ in sorted(found.ids)}
    for trial in failed:
        if trial.id in reasons and found.counts(trial):
            reasons[trial.id].append(trial.short_reason)
    return pl.DataFrame(
        {
            "id": list(reasons),
            "name": [study.name_of(id_, None) for id_ in reasons],
            "failures": [len(why) for why in reasons.values()],
            "reason": [why[-1] if why else None for why in reasons.values()],
        },
        schema={"id": pl.Int64, "name": pl.String, "failures": pl.Int64, "reason": pl.String},
    )


def _times(seconds: Sequence[float | None]) -> pl.Series:
    micro = (pl.Series(seconds, dtype=pl.Float64) * 1e6).round()
    return micro.cast(pl.Int64).cast(pl.Datetime("us", "UTC"))
