"""Frames as candidates: their columns, and rows that are added or asked about later.

Later rows are encoded as the rows of the list: columns are matched by name, and words keep their
coordinates.
"""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats
from noregret.spaces.cells import is_gap
from noregret.spaces.doubts import about_words, doubts
from noregret.spaces.encoding import Encoder, Feature, make_encoder
from noregret.spaces.rows import collected, named_rows
from noregret.spaces.survey import MOST_CATEGORIES, ColumnSurvey, survey
from noregret.spaces.tables import Piece

#: how many names or words a message shows at most
_SHOWN = 10
#: a whole number beyond this has no place in a column of int64
_LARGEST_INT = 1 << 63


def as_frame(frame: Any) -> pl.DataFrame:
    """A pandas or polars frame as a polars one, of numbers, booleans and text."""
    names = [str(name) for name in frame.columns]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"candidates must have columns of different names; {twice[0]} comes twice")
    return pl.DataFrame([_series(str(name), frame[name].to_numpy()) for name in frame.columns])


def frame_of(given: Any) -> pl.DataFrame | None:
    """What a user gave as a frame, if it names its columns: a frame, dicts, labelled rows."""
    given = collected(given)
    if hasattr(given, "columns"):
        return as_frame(given)
    rows = named_rows(given)
    return None if rows is None else frame_of_rows(rows)


def frame_of_rows(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Dicts by column as a frame; what a row does not have is a gap."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame([_series(name, _objects(row.get(name) for row in rows)) for name in names])


def _objects(values: Iterable[Any]) -> Any:
    entries = list(values)
    made = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # slice assignment would unpack sequences
        made[i] = entry
    return made


def _series(name: str, values: Any) -> pl.Series:
    """A column of numbers, booleans or text."""
    values = np.asarray(values)
    inside = values.dtype.kind == "O" and any(map(_is_compound, values))
    if values.dtype.kind in "mM" or inside or values.ndim > 1:
        what = "times" if values.dtype.kind in "mM" else "lists"
        raise TypeError(
            f"candidates must have numbers or words in their columns; {name!r} holds "
            f"{what}. Leave it out, or make numbers of it"
        )
    if values.dtype.kind in "biuf":
        return pl.Series(name, values)
    gaps = [_is_missing(value) for value in values]
    filled = [value for value, gap in zip(values, gaps, strict=True) if not gap]
    if filled and all(isinstance(value, (Real, Decimal, np.bool_)) for value in filled):
        if any(gaps):
            numbers = [np.nan if gap else value for value, gap in zip(values, gaps, strict=True)]
            return pl.Series(name, np.array(numbers, dtype=np.float64))
        return pl.Series(name, np.array(filled, dtype=_number_type(filled)))
    words = [None if gap else str(value) for value, gap in zip(values, gaps, strict=True)]
    return pl.Series(name, words, dtype=pl.String)


def _number_type(values: list[Any]) -> type[Any]:
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return bool
    whole = all(isinstance(value, Integral) and abs(int(value)) < _LARGEST_INT for value in values)
    return np.int64 if whole else np.float64


def _is_missing(value: Any) -> bool:
    """Whether a value is ``None``, NaN, or pandas' NA, whose comparisons have no truth value."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _is_compound(value: Any) -> bool:
    return isinstance(value, (list, tuple, dict, set, np.ndarray, pl.Series))


def encoder_for(frame: pl.DataFrame) -> Encoder:
    """How all columns of a frame become coordinates: one for each number and for each word.

    Columns that hold names rather than categories are refused. Gaps among words are a category.
    """
    return encoder_and_doubts(whole(frame), frame.columns)[0]


def whole(frame: pl.DataFrame) -> list[Piece]:
    """A frame as the one piece of a table."""
    return [Piece(frame, np.arange(len(frame)))]


def encoder_and_doubts(
    pieces: Iterable[Piece], columns: Sequence[str], *, decimal: str = ".", place: str = "row"
) -> tuple[Encoder, list[str]]:
    """As :func:`encoder_for`, for some columns of a table, with what is doubtful about them."""
    found = survey(pieces, columns, decimal).values()
    _refuse_unusable(found, decimal, place)
    encoder = make_encoder(found, {}, standardize=False, decimal=decimal)
    return encoder, doubts(found, decimal)


def _refuse_unusable(columns: Collection[ColumnSurvey], decimal: str, place: str) -> None:
    """Refuse columns that cannot become coordinates as they are."""
    odd = [column.complaint(place) for column in columns if column.kind == "odd"]
    if odd:
        raise ValueError(
            "candidates must be a table of numbers or categories:\n  " + "\n  ".join(odd)
        )
    texts = [column for column in columns if column.kind == "text"]
    if texts:
        notes = ["", *filter(None, (about_words(column, decimal) for column in texts))]
        raise TypeError(
            "candidates must have numeric columns or categories of at most "
            f"{MOST_CATEGORIES} words; these have more: {', '.join(one.name for one in texts)}. "
            "Leave them out (Candidates.open has columns=[...]), or treat the rows of a frame as "
            "objects, with a kernel of dicts: Candidates(frame, objects=True)" + "\n  ".join(notes)
        )
    empty = [column.name for column in columns if column.kind == "empty" and column.rows]
    if empty:
        raise ValueError(f"candidates must not have empty columns: {', '.join(empty)}")


def encode_like(name: str, frame: pl.DataFrame, encoder: Encoder) -> Floats:
    """Points (n × d) of rows that have the columns of a list, encoded as the rows of the list.

    Parameters
    ----------
    name
        How messages call the rows.
    frame
        The rows (n), with columns in any order.
    encoder
        The list's.
    """
    known = encoder.columns
    missing = [column for column in known if column not in frame.columns]
    further = [column for column in frame.columns if column not in known]
    if missing or further:
        wrong = [f"missing: {_shown(missing)}"] if missing else []
        wrong += [f"not in the list: {_shown(further)}"] if further else []
        raise ValueError(
            f"{name} must have the columns of the list, {_shown(known)}; {'; '.join(wrong)}"
        )
    for feature in encoder.features:
        _refuse_cells(name, frame[feature.name], feature, encoder.decimal)
    return encoder.encode(frame)


def _refuse_cells(name: str, cells: pl.Series, feature: Feature, decimal: str) -> None:
    """Refuse cells that the coordinates of a feature cannot say."""
    if feature.gaps(cells):
        row = int(np.flatnonzero(_gaps(cells))[0])
        raise ValueError(
            f"{name} must not have gaps where the list has none: row {row}, column "
            f"{feature.name!r} is {cells[row]}"
        )
    if unknown := feature.unknown_words(cells):
        raise ValueError(
            f"{name} must have words of the list in column {feature.name!r}, "
            f"{_shown(feature.categories)}; got {_shown(unknown)}. The model has no coordinate for "
            "a new word: make a new list that has all words, and tell it the values so far"
        )
    wrong = feature.unreadable(cells, decimal).to_numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        what = "finite numbers" if feature.kind == "number" else "yes or no"
        raise ValueError(
            f"{name} must have {what} in column {feature.name!r}, got {cells[row]!r} in row {row}"
        )


def _gaps(cells: pl.Series) -> Any:
    return is_gap(cells).to_numpy()


def _shown(words: Iterable[str]) -> str:
    """Words for a message, the first of them if there are many."""
    found = list(words)
    more = f", … ({len(found)} in all)" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def longer(frame: pl.DataFrame, more: pl.DataFrame, encoder: Encoder) -> pl.DataFrame:
    """A list's frame with rows at its end, in the types of its columns where they can hold them."""
    cells = [_as_type(more[one.name], frame[one.name].dtype, one, encoder.decimal)
             for one in encoder.features]  # fmt: skip
    return pl.concat([frame.select(encoder.columns), pl.DataFrame(cells)], how="vertical_relaxed")


def _as_type(cells: pl.Series, kind: pl.DataType, feature: Feature, decimal: str) -> pl.Series:
    if kind == cells.dtype:
        return cells
    if kind == pl.String:
        return cells.cast(pl.String)
    values = feature.values(cells, decimal).alias(feature.name)
    made = values.cast(kind, strict=False)
    return made if (made.cast(pl.Float64) == values).all() else values
