"""Trials and events as frames; frames as bytes."""

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from noregret.algorithms.base import Optimizer
from noregret.spaces import Box, Domain
from noregret.study.errors import StudyError
from noregret.study.sql import Storage
from noregret.study.units import Units


def to_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as Parquet."""
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def from_bytes(data: bytes) -> pl.DataFrame:
    """What :func:`to_bytes` made."""
    return pl.read_parquet(io.BytesIO(data))


def shown_table(
    domain: Domain, names: Sequence[Any] | None, table: pl.DataFrame | None
) -> pl.DataFrame | None:
    """The table people see of a list, names first; checked."""
    if names is None and table is None:
        return None
    if isinstance(domain, Box):
        raise StudyError("names and table are for lists of candidates, not for a box")
    shown = pl.DataFrame() if table is None else table
    if table is not None and len(table) != len(domain):
        raise StudyError(f"table must have {len(domain)} rows, one per candidate, got {len(table)}")
    if names is None:
        return shown
    words = [str(name) for name in names]
    if len(words) != len(domain):
        raise StudyError(f"names must be {len(domain)}, one per candidate, got {len(words)}")
    if len(set(words)) != len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise StudyError(f"names must all be different; {twice!r} comes twice")
    if "name" in shown.columns:
        shown = shown.rename({"name": "name_"})
    return (
        shown.insert_column(0, pl.Series("name", words))
        if shown.width
        else pl.DataFrame({"name": words})
    )


def trials_frame(
    rows: list[tuple[Any, ...]], domain: Domain | None, names: pl.Series | None
) -> pl.DataFrame:
    """Rows of trials as a frame: trial, id, (name), (the point on a box), value, status, …"""
    columns: dict[str, Any] = {
        "trial": pl.Series([row[0] for row in rows], dtype=pl.Int64),
        "id": pl.Series([row[1] for row in rows], dtype=pl.Int64),
    }
    if names is not None:
        columns["name"] = names.gather([row[1] for row in rows])
    if isinstance(domain, Box):
        points = [np.frombuffer(row[2], dtype="<f8") for row in rows]
        array = np.array(points).reshape(len(rows), domain.dimension)
        labels = domain.names or [f"x{i}" for i in range(domain.dimension)]
        columns |= {label: array[:, i] for i, label in enumerate(labels)}
    columns |= {
        "value": pl.Series([row[4] for row in rows], dtype=pl.Float64),
        "status": pl.Series([row[3] for row in rows], dtype=pl.String),
        "origin": pl.Series([row[6] for row in rows], dtype=pl.String),
        "asked": _times([row[9] for row in rows]),
        "given": _times([row[10] for row in rows]),
        "done": _times([row[12] for row in rows]),
        "reason": pl.Series([row[5] for row in rows], dtype=pl.String),
    }
    return pl.DataFrame(columns)


def events_frame(storage: Storage, own: list[dict[str, Any]]) -> pl.DataFrame:
    """The study's events by time, then the algorithm's (which know their t, not their time)."""
    rows = storage.all("SELECT time, kind, details FROM events ORDER BY event")
    details = [row[2] for row in rows]
    rest = [{k: v for k, v in event.items() if k != "event"} for event in own]
    return pl.DataFrame(
        {
            "time": _times([row[0] for row in rows] + [None] * len(own)),
            "event": pl.Series(
                [row[1] for row in rows] + [event["event"] for event in own], dtype=pl.String
            ),
            "details": pl.Series(details + [json.dumps(r) for r in rest], dtype=pl.String),
        }
    )


def top_frame(
    optimizer: Optimizer, units: Units, table: pl.DataFrame | None, k: int
) -> pl.DataFrame:
    """The k candidates of a list with the largest lower bounds of their rewards."""
    mean, deviation = optimizer.predict()
    radius = optimizer.beta * deviation
    order = np.argsort(radius - mean, kind="stable")[:k]
    seen = optimizer._observations
    counts = np.zeros(len(mean), dtype=np.int64)
    counts[seen.ids] = seen.told
    bounds = np.sort(np.stack([units.values(mean - radius), units.values(mean + radius)]), axis=0)
    columns: dict[str, Any] = {"id": order}
    if table is not None and "name" in table.columns:
        columns["name"] = table["name"][order.tolist()]
    columns |= {
        "mean": units.values(mean)[order],
        "lower": bounds[0, order],
        "upper": bounds[1, order],
        "evaluations": counts[order],
    }
    frame = pl.DataFrame(columns)
    if table is None:
        return frame
    return frame.hstack(table.select(c for c in table.columns if c not in columns)[order.tolist()])


def _times(seconds: list[float | None]) -> pl.Series:
    micro = [None if s is None else round(s * 1e6) for s in seconds]
    return pl.Series(micro, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
