"""Lists of candidates from CSV and Parquet: which columns, gaps, one-hot, standardisation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.spatial.distance import pdist

from noregret._types import Floats

#: rows whose distances give the default lengthscale
_SUBSAMPLE = 1000
#: more words than this in a column are names, not categories
_MOST_CATEGORIES = 100
#: rows named in an error
_NAMED_ROWS = 20


@dataclass(frozen=True)
class Library:
    """Candidates as read: what people see, what the kernel sees, and how one became the other.

    Attributes
    ----------
    names
        What each candidate is called, where a column says so.
    table
        The raw features (n rows).
    points
        n × d floats for the kernel.
    columns
        For each of the d dimensions its name, and mean and deviation taken out (or the category).
    notes
        What was done, in sentences.
    """

    names: list[str] | None
    table: pl.DataFrame
    points: Floats
    columns: list[dict[str, Any]]
    notes: list[str]


def read_frame(path: str) -> pl.DataFrame:
    """A CSV or Parquet file as a frame."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            return pl.read_parquet(file)
        return pl.read_csv(file, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def read_library(
    path: str, features: str | None, id_column: str | None, *, standardize: bool, drop: bool
) -> Library:
    """The candidates of a file; what is wrong with it is said with row numbers."""
    frame = read_frame(path)
    if not len(frame):
        raise ValueError(f"{path} has no rows")
    chosen = _columns(frame, features, id_column)
    notes: list[str] = []
    needed = [*chosen, id_column] if id_column else chosen
    frame = _without_gaps(frame, needed, drop, notes)
    names = None
    if id_column is not None:
        names = frame[id_column].cast(pl.String).to_list()
        _check_names(frame[id_column], id_column)
    table = frame.select(chosen)
    points, columns = _encode(table, standardize, notes)
    return Library(names, table, points, columns, notes)


def _columns(frame: pl.DataFrame, features: str | None, id_column: str | None) -> list[str]:
    for name in [id_column] if id_column else []:
        if name not in frame.columns:
            raise ValueError(f"--id: there is no column {name!r}; there is {_listed(frame)}")
    if features is None:
        found = [n for n in frame.columns if frame[n].dtype.is_numeric() and n != id_column]
        if not found:
            raise ValueError(
                f"no column but the id is numeric; name some in --features: {_listed(frame)}"
            )
        return found
    chosen = [name.strip() for name in features.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in frame.columns]
    if unknown or not chosen:
        raise ValueError(
            f"--features: there is no column {', '.join(unknown) or '(none given)'}; "
            f"there is {_listed(frame)}"
        )
    if len(set(chosen)) < len(chosen):
        raise ValueError("--features: a column is named twice")
    return chosen


def _listed(frame: pl.DataFrame) -> str:
    return ", ".join(frame.columns)


def _without_gaps(
    frame: pl.DataFrame, columns: list[str], drop: bool, notes: list[str]
) -> pl.DataFrame:
    gaps = np.zeros(len(frame), dtype=bool)
    for name in columns:
        column = frame[name]
        gaps |= column.is_null().to_numpy()
        if column.dtype.is_float():
            gaps |= ~np.isfinite(column.fill_null(0.0).to_numpy())
    rows = np.flatnonzero(gaps) + 1
    if not len(rows):
        return frame
    if drop:
        if len(rows) == len(frame):
            raise ValueError("every row has a gap; nothing is left")
        notes.append(f"{len(rows)} of {len(frame)} rows have gaps and were dropped.")
        return frame.filter(~gaps)
    named = ", ".join(str(row) for row in rows[:_NAMED_ROWS])
    more = f" and {len(rows) - _NAMED_ROWS} more" if len(rows) > _NAMED_ROWS else ""
    raise ValueError(
        f"{len(rows)} rows have gaps (empty, NaN or infinite) in {', '.join(columns)}: rows {named}"
        f"{more}, counted from 1 without the header. Fill them, or leave them out: --drop-missing"
    )


def _check_names(column: pl.Series, id_column: str) -> None:
    twice = column.is_duplicated()
    if twice.any():
        rows = (np.flatnonzero(twice.to_numpy()) + 1)[:_NAMED_ROWS]
        raise ValueError(
            f"--id: column {id_column!r} must name every candidate differently; these rows share "
            f"a name: {', '.join(str(row) for row in rows)}"
        )


def _encode(
    table: pl.DataFrame, standardize: bool, notes: list[str]
) -> tuple[Floats, list[dict[str, Any]]]:
    parts: list[Floats] = []
    columns: list[dict[str, Any]] = []
    for name in table.columns:
        column = table[name]
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            values = column.cast(pl.Float64).to_numpy()
            mean, deviation = 0.0, 1.0
            if standardize:
                mean, deviation = float(values.mean()), float(values.std())
                if deviation == 0.0:
                    notes.append(f"{name} is the same everywhere and tells nothing apart.")
                    deviation = 1.0
            parts.append((values - mean) / deviation)
            columns.append({"name": name, "mean": mean, "deviation": deviation})
            continue
        words = column.cast(pl.String)
        categories = sorted(words.unique().to_list())
        if len(categories) > _MOST_CATEGORIES:
            raise ValueError(
                f"{name} has {len(categories)} different texts, which are names rather than "
                f"categories (at most {_MOST_CATEGORIES}); leave it out of --features"
            )
        notes.append(f"{name} is text: one-hot over {len(categories)} categories.")
        for category in categories:
            parts.append((words == category).to_numpy().astype(np.float64))
            columns.append({"name": name, "category": category})
    if standardize and any("mean" in column for column in columns):
        notes.append("Numeric features are standardised (mean 0, deviation 1).")
    return np.column_stack(parts), columns


def median_distance(points: Floats) -> float:
    """The median distance of two different rows, on at most 1,000 rows drawn with seed 0."""
    if len(points) > _SUBSAMPLE:
        chosen = np.random.default_rng(0).choice(len(points), _SUBSAMPLE, replace=False)
        points = points[np.sort(chosen)]
    distances = pdist(points)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
