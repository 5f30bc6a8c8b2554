"""Lists made from a list: its first candidates, others of the same kind, and more at its end."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret._types import Points
from noregret.spaces.candidates import Candidates
from noregret.spaces.given import object_vector
from noregret.spaces.sources import Opened


def first_of(candidates: Candidates, n: int) -> Candidates:
    """The first n candidates of a list."""
    points, frame = candidates.points[:n], candidates.frame
    if candidates.encoder is None:
        return Candidates(points, objects=candidates.are_objects)
    return _with_columns(candidates, points, None if frame is None else frame[:n])


def of_the_same_kind(candidates: Candidates, given: Any) -> Candidates:
    """What a user gave as candidates, with the coordinates of a list.

    Columns are matched by name and encoded as those of the list. Missing and further columns, and
    words that the list does not have, are refused. Rows without names are coordinates.
    """
    encoder = candidates.encoder
    if encoder is None:
        return _without_columns(candidates, given)
    from noregret.spaces.frames import encode_like, frame_of  # polars is slow to import

    if isinstance(given, Candidates):
        if given.encoder is not None and given.encoder.features == encoder.features:
            return given
        frame = _frame_of_values(given)
    else:
        frame = frame_of(given)
    if frame is not None:
        return _with_columns(candidates, encode_like("candidates", frame, encoder), frame)
    made = given if isinstance(given, Candidates) else Candidates(given)
    if made.dimension != candidates.dimension or not made.in_memory:
        return made
    return _with_columns(candidates, made.points.astype(np.float64), None)


def joined(candidates: Candidates, more: Candidates) -> Candidates:
    """A list with more of the same kind at its end; both must be in memory."""
    if not (candidates.in_memory and more.in_memory):
        raise ValueError(
            "candidates can be added to a list in memory, and from one: this one is in a "
            "file or on a cluster. Write one file with all candidates and make a new list"
        )
    old, encoder = candidates.points, candidates.encoder
    if candidates.are_objects:
        return Candidates(object_vector([*old, *more.points]), objects=True)
    points = np.concatenate([old, more.points.astype(old.dtype)])
    if encoder is None:
        return Candidates(points)
    if candidates.frame is None:
        return _with_columns(candidates, points, None)
    from noregret.spaces.frames import longer

    frame = longer(candidates.frame, _frame_of_values(more), encoder)
    return _with_columns(candidates, points, frame)


def _without_columns(candidates: Candidates, given: Any) -> Candidates:
    """Candidates for a list whose columns have no names."""
    dicts = candidates.are_objects and isinstance(candidates.points[0], Mapping)
    objects = dicts and hasattr(given, "columns")
    made = given if isinstance(given, Candidates) else Candidates(given, objects=objects)
    if made.encoder is not None and made.encoder.has_words:
        raise ValueError(
            "candidates must be rows of numbers, because the list was made without names of "
            f"columns; got words in {', '.join(made.encoder.columns)}"
        )
    return made


def _with_columns(candidates: Candidates, points: Points, frame: Any) -> Candidates:
    """Other points with the columns of a list."""
    names, encoder = candidates.names, candidates.encoder
    return Candidates(Opened(points, names, frame=frame, encoder=encoder))


def _frame_of_values(candidates: Candidates) -> Any:
    """The values of a list as a polars frame; ``None`` if columns have no names."""
    if candidates.frame is not None or candidates.encoder is None:
        return candidates.frame
    from noregret.spaces.frames import frame_of_rows

    if not candidates.in_memory:
        raise ValueError(
            "candidates that are not in memory must have the columns and words of the list "
            f"before, in its order; got {', '.join(candidates.names or ())}"
        )
    return frame_of_rows(candidates.encoder.decode(candidates.points))
