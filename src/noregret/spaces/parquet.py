"""Reads Parquet as the other tables are read: numbers, yes and no, and texts.

Dates and times become text, as they are in CSV. Durations become seconds. Lists, records and bytes
are left out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error


def types_in(path: Path) -> tuple[dict[str, pl.DataType], list[str]]:
    """The types of the columns that can be read, by name, and notes on the others."""
    with _readable(path):
        given = pl.read_parquet_schema(path)
        kept = {name: _read(name, kind) for name, kind in given.items() if _is_cell(kind)}
        types = dict(pl.scan_parquet(path).select(*kept.values()).collect_schema())
    notes = [
        f"Column {name!r} holds {_what(kind)} and is left out."
        for name, kind in given.items()
        if name not in kept
    ]
    notes += [
        f"Column {name!r} holds durations: here they are seconds."
        for name, kind in given.items()
        if kind == pl.Duration
    ]
    return types, notes


def frames_of(path: Path, size: int) -> Iterator[pl.DataFrame]:
    """The rows, so many at a time."""
    with _readable(path):
        given = pl.read_parquet_schema(path)
        kept = [_read(name, kind) for name, kind in given.items() if _is_cell(kind)]
        yield from pl.scan_parquet(path).select(kept).collect_batches(chunk_size=size)


def _is_cell(kind: pl.DataType) -> bool:
    return not (kind.is_nested() or kind in (pl.Binary, pl.Object))


def _what(kind: pl.DataType) -> str:
    if kind == pl.Struct:
        return "records"
    return "lists" if kind.is_nested() else "bytes"


def _read(name: str, kind: pl.DataType) -> pl.Expr:
    """A column as numbers, yes and no, or text."""
    cells = pl.col(name)
    if kind == pl.Duration:
        return cells.dt.total_microseconds() / 1e6
    if kind == pl.Datetime:
        return cells.dt.replace_time_zone(None).cast(pl.String).str.replace(r"\.0+$", "")
    texts = kind.is_temporal() or kind in (pl.Categorical, pl.Enum)
    return cells.cast(pl.String) if texts else cells
