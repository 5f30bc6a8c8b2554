"""What may be chosen: a finite list of candidates."""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np

from noregret._types import Points


class Candidates:
    """A finite list of choices, known by their row numbers (ids) 0 .. n-1.

    Parameters
    ----------
    points
        An n × d array, a list of rows, a pandas or polars frame of numeric columns, a vector (n
        choices in one dimension), or a list of arbitrary Python objects (strings, graphs, …) for
        which the kernel is a callable ``k(xs, ys) -> matrix``.
    objects
        Treat the entries as opaque objects even where they look like numbers or rows.

    Attributes
    ----------
    points
        n × d floats, or a vector of n objects. Read only.
    names
        The columns' names where a frame was given, else ``None``.
    """

    def __init__(self, points: Any, *, objects: bool = False) -> None:
        self.names: tuple[str, ...] | None = None
        if hasattr(points, "columns") and not objects:
            self.names = tuple(str(name) for name in points.columns)
            array = _from_frame(points)
        elif objects or _holds_objects(points):
            array = _object_vector(list(points))
        else:
            array = _numeric(points)
        if len(array) == 0:
            raise ValueError("candidates must not be empty")
        array.flags.writeable = False
        self.points: Points = array

    @property
    def are_objects(self) -> bool:
        """Whether the choices are Python objects rather than rows of numbers."""
        return self.points.dtype == object

    @property
    def dimension(self) -> int | None:
        """d, or ``None`` for objects."""
        return None if self.are_objects else int(self.points.shape[1])

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, ids: Any) -> Any:
        """The points of these ids."""
        return self.points[ids]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.points)

    def __repr__(self) -> str:
        what = "objects" if self.are_objects else f"× {self.dimension}"
        return f"Candidates({len(self)} {what})"


def as_candidates(domain: Any) -> Candidates:
    """``domain`` itself, or the list it describes."""
    return domain if isinstance(domain, Candidates) else Candidates(domain)


def _holds_objects(points: Any) -> bool:
    if isinstance(points, np.ndarray):
        return points.dtype.kind in "OUS" and not _all_numbers(points.ravel())
    if not isinstance(points, Sequence):
        return False
    return any(not isinstance(p, (Real, np.ndarray, list, tuple)) for p in points)


def _all_numbers(values: Any) -> bool:
    return all(isinstance(value, Real) for value in values)


def _object_vector(entries: list[Any]) -> Points:
    vector = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # slice assignment would unpack sequences
        vector[i] = entry
    return vector


def _numeric(points: Any) -> Points:
    try:
        array = np.array(points, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(
            "candidates must be an n × d array of numbers, a frame of numeric columns or a list of "
            f"objects (objects=True treats any entries as such): {error}"
        ) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or (len(array) and array.shape[1] == 0):
        raise ValueError(f"candidates must be an n × d array, got shape {array.shape}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"candidates must be finite, got {array[row, column]} in row {row}, column {column}"
        )
    return array


def _from_frame(frame: Any) -> Points:
    """The numeric columns of a pandas or polars frame; other columns are refused by name."""
    columns = []
    wrong = []
    for name in frame.columns:
        values = np.asarray(frame[name].to_numpy())
        if values.dtype.kind in "biuf":
            columns.append(values.astype(np.float64))
        elif values.dtype == object and _all_numbers(values):
            columns.append(values.astype(np.float64))
        else:
            wrong.append(str(name))
    if wrong:
        raise TypeError(
            f"candidates must have numeric columns; these are not: {', '.join(wrong)}. "
            "Encode or drop them first."
        )
    return _numeric(np.column_stack(columns) if columns else np.empty((len(frame), 0)))
