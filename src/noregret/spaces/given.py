"""What a list of candidates may be made from: arrays, frames, objects, what is read lazily."""

from collections.abc import Sequence
from numbers import Real
from pathlib import PurePath
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Points
from noregret.spaces import sources
from noregret.spaces.rows import collected, rows_of
from noregret.spaces.sources import Opened

#: what candidates without columns may be, for errors
_ALLOWED = (
    "candidates must be an n × d array of numbers, a frame of numeric columns or a list of "
    "objects (objects=True treats any entries as such)"
)


def opened(points: Any, objects: bool) -> Opened:
    """The given points as an array, or as rows that are read when they are indexed."""
    if points is None or isinstance(points, (str, bytes, PurePath)):
        way = "" if points is None else "; nr.Candidates.open(path) reads a file"
        raise TypeError(
            f"candidates must be an array of n rows, a frame or a list, got {points!r}{way}"
        )
    points = collected(points)
    if hasattr(points, "columns"):
        return Opened(object_vector(rows_of(points))) if objects else _frame(points)
    if objects or _holds_objects(points):
        return Opened(object_vector(list(points)))
    if isinstance(points, np.memmap) and points.ndim == 2 and sources.may_be_mapped(points.dtype):
        return sources.mapped(points)
    _checks.refuse_masked_and_sparse(points, _ALLOWED)
    if sources.is_lazy(points):
        return sources.open_source(points, None, None)
    return Opened(_numeric(points))


def _frame(given: Any) -> Opened:
    """A pandas or polars frame, with an encoder that is made for its columns."""
    # Polars is slow to import.
    from noregret.spaces.frames import as_frame, encoder_and_doubts, whole

    frame = as_frame(given)
    if not len(frame):
        raise ValueError("candidates must not be empty: the frame has no rows")
    encoder, doubts = encoder_and_doubts(whole(frame), frame.columns)
    points = _numeric(encoder.encode(frame), encoder.names)
    return Opened(points, encoder.names, frame=frame, encoder=encoder, doubts=doubts)


def _holds_objects(points: Any) -> bool:
    if isinstance(points, np.ndarray):
        return points.dtype.kind in "OUS" and not _all_numbers(points.ravel())
    if not isinstance(points, Sequence):
        return False
    return any(not isinstance(p, (Real, np.ndarray, list, tuple)) for p in points)


def _all_numbers(values: Any) -> bool:
    return all(isinstance(value, Real) for value in values)


def object_vector(entries: list[Any]) -> Points:
    """A vector of Python objects."""
    vector = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # slice assignment would unpack sequences
        vector[i] = entry
    return vector


def _cannot_change(points: Any) -> bool:
    """Whether nobody can write to an array, nor to the array that it is a view of."""
    while isinstance(points, np.ndarray) and not points.flags.writeable:
        if points.base is None or isinstance(points.base, bytes):
            return True
        points = points.base
    return False


def _numeric(points: Any, names: tuple[str, ...] | None = None) -> Points:
    kept = isinstance(points, np.ndarray) and points.dtype in (np.float32, np.uint8)
    copies = None if _cannot_change(points) else True
    if kept:
        _checks.refuse_masked_and_sparse(points, _ALLOWED)
    else:
        points = _checks.numbers("candidates", points, _ALLOWED)
    array = np.array(points, order="C", copy=copies)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or (len(array) and array.shape[1] == 0):
        raise ValueError(f"candidates must be an n × d array, got shape {array.shape}")
    sources.refuse_infinite(array, np.arange(len(array)), names)
    return array
