"""Columns of a table as coordinates of points: numbers, yes and no, and words.

One encoder serves files, frames and the command line. A survey (:mod:`noregret.spaces.survey`)
looks at the columns, a piece at a time; a :class:`Encoder` made from it turns pieces into rows of
numbers.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from noregret._checks import LARGEST
from noregret._types import Floats
from noregret.spaces.cells import booleans, is_gap, numbers
from noregret.spaces.survey import ColumnSurvey
from noregret.spaces.tables import Piece

#: the name of the category for gaps
_NOTHING = "(gap)"
#: the end of the name of a coordinate that is 1 where a number was missing
GAP_FLAG = f" {_NOTHING}"


#: how cells of each kind become numbers (n floats), null at gaps
_VALUES: dict[str, Callable[[pl.Series, str], pl.Series]] = {
    "number": lambda cells, decimal: numbers(cells, decimal).set(is_gap(cells), None),
    "boolean": lambda cells, decimal: booleans(cells),
}


def medians(
    pieces: Iterable[Piece], columns: Iterable[ColumnSurvey], decimal: str = "."
) -> dict[str, float]:
    """The medians of those columns of numbers or booleans that have gaps."""
    kinds = {one.name: one.kind for one in columns if one.gaps and one.kind in _VALUES}
    found: dict[str, list[Floats]] = {name: [] for name in kinds}
    for piece in pieces if found else ():
        for name, parts in found.items():
            values = _VALUES[kinds[name]](piece.frame[name], decimal)
            parts.append(values.drop_nulls().to_numpy())
    return {name: float(np.median(np.concatenate(parts))) for name, parts in found.items()}


@dataclass(frozen=True)
class Feature:
    """How a column becomes coordinates.

    Attributes
    ----------
    name
        Of the column.
    kind
        ``"number"``, ``"boolean"`` or ``"category"``.
    mean, deviation
        The mean that is subtracted from numbers, and the deviation that they are divided by.
    categories
        The words, in their order; each has a coordinate that is 1 where it stands, else 0.
    fill
        The number used for gaps, if there are gaps; one more coordinate is 1 where there is a gap.
    percent
        Whether the numbers had percent signs; ``None``: nobody knows. Coordinates do not depend on
        it.
    """

    name: str
    kind: str
    mean: float = 0.0
    deviation: float = 1.0
    categories: tuple[str, ...] = ()
    fill: float | None = None
    percent: bool | None = field(default=None, compare=False)

    @property
    def dimensions(self) -> list[dict[str, Any]]:
        """For each coordinate the column's name, with mean and deviation or with the category."""
        if self.kind == "category":
            return [{"name": self.name, "category": word} for word in self.categories]
        own = {"name": self.name, "mean": self.mean, "deviation": self.deviation}
        flag = {"name": f"{self.name}{GAP_FLAG}", "mean": 0.0, "deviation": 1.0}
        return [own] if self.fill is None else [own, flag]

    def encode(self, cells: pl.Series, decimal: str) -> list[Floats]:
        """The coordinates of cells (n each)."""
        if self.kind == "category":
            words = self.words(cells).set(is_gap(cells), _NOTHING)
            return [(words == word).to_numpy().astype(np.float64) for word in self.categories]
        values = self.values(cells, decimal)
        empty = values.is_null().to_numpy().astype(np.float64)
        filled = values.fill_null(np.nan if self.fill is None else self.fill).to_numpy()
        own = (filled - self.mean) / self.deviation
        return [own] if self.fill is None else [own, empty]

    def values(self, cells: pl.Series, decimal: str) -> pl.Series:
        """The numbers in cells (n floats), yes and no as 1 and 0, null where there is none."""
        return _VALUES[self.kind](cells, decimal)

    def words(self, cells: pl.Series) -> pl.Series:
        """The words in cells (n), without spaces at their ends unless a category has them."""
        words = cells.cast(pl.String)
        return words.zip_with(words.is_in(list(self.categories)), words.str.strip_chars())

    def unreadable(self, cells: pl.Series, decimal: str) -> pl.Series:
        """Which cells are neither a gap nor what the column holds (n booleans)."""
        if self.kind == "category":
            return pl.repeat(False, len(cells), eager=True)
        return self.values(cells, decimal).is_null() & ~is_gap(cells)

    def decode(self, coordinates: Floats) -> list[Any]:
        """The cells (n) whose coordinates (n × k) these are; ``None`` for gaps and no known word.

        A word, and yes or no, is told from coordinates that are 0 and 1.
        """
        if self.kind == "category":
            words = [None if word == _NOTHING else word for word in self.categories]
            ones = coordinates == 1.0
            return [words[row.argmax()] if row.sum() == 1 else None for row in ones]
        numbers = (coordinates[:, 0] * self.deviation + self.mean).tolist()
        if self.kind == "boolean":
            numbers = [{0.0: False, 1.0: True}.get(one) for one in numbers]
        flags = [False] * len(numbers) if self.fill is None else coordinates[:, 1] == 1.0
        return [None if gap else one for gap, one in zip(flags, numbers, strict=True)]

    def gaps(self, cells: pl.Series) -> int:
        """How many cells are empty, if this feature knows of no gaps; else 0."""
        knows = _NOTHING in self.categories or self.fill is not None
        return 0 if knows else int(is_gap(cells).sum())

    def unknown_words(self, cells: pl.Series) -> list[str]:
        """The words in cells that are none of the categories; none for numbers, yes and no."""
        if self.kind != "category":
            return []
        return sorted({*self.words(cells.filter(~is_gap(cells)))} - {*self.categories})


@dataclass(frozen=True)
class Encoder:
    """Turns columns into points; see :func:`make_encoder`."""

    features: tuple[Feature, ...]
    decimal: str = "."

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(feature.name for feature in self.features)

    @property
    def has_words(self) -> bool:
        """Whether a column holds categories."""
        return any(feature.kind == "category" for feature in self.features)

    @property
    def dimensions(self) -> list[dict[str, Any]]:
        """One entry for each coordinate; JSON."""
        return [one for feature in self.features for one in feature.dimensions]

    @property
    def names(self) -> tuple[str, ...]:
        """What the coordinates are called."""
        return tuple(
            one["name"] + (f" = {one['category']}" if "category" in one else "")
            for one in self.dimensions
        )

    def encode(self, frame: pl.DataFrame) -> Floats:
        """Points (n × d) of rows (n)."""
        parts = [
            part
            for feature in self.features
            for part in feature.encode(frame[feature.name], self.decimal)
        ]
        return np.column_stack(parts) if parts else np.empty((len(frame), 0))

    def decode(self, points: Floats) -> list[dict[str, Any]]:
        """The rows (n) by column whose points (n × d) these are; see :meth:`Feature.decode`."""
        ends = np.cumsum([len(feature.dimensions) for feature in self.features])[:-1]
        parts = zip(self.features, np.split(points, ends, axis=1), strict=True)
        columns = [feature.decode(part) for feature, part in parts]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def spec(self) -> list[dict[str, Any]]:
        """The features as JSON, which :func:`encoder_of` reads."""
        return [asdict(feature) for feature in self.features]


def encoder_of(features: Iterable[dict[str, Any]], decimal: str = ".") -> Encoder:
    """The encoder whose features :meth:`Encoder.spec` described."""
    made = [Feature(**(one | {"categories": tuple(one["categories"])})) for one in features]
    return Encoder(tuple(made), decimal)


def encoder_of_numbers(names: Iterable[str]) -> Encoder:
    """The encoder of columns of numbers, which are used as they are."""
    return Encoder(tuple(Feature(name, "number") for name in names))


def make_encoder(
    columns: Iterable[ColumnSurvey],
    fills: dict[str, float],
    *,
    standardize: bool,
    decimal: str = ".",
) -> Encoder:
    """An encoder for columns that are numbers, booleans or categories.

    Parameters
    ----------
    columns
        The surveys of the columns.
    fills
        The numbers used for gaps, by column; see :func:`medians`.
    standardize
        Whether numbers get mean 0 and deviation 1.
    decimal
        The decimal sign of text.
    """
    features = []
    for column in columns:
        if column.kind == "category":
            words = sorted(column.words) + ([_NOTHING] if column.gaps else [])
            features.append(Feature(column.name, "category", categories=tuple(words)))
            continue
        mean, deviation = 0.0, 1.0
        if standardize and column.kind == "number":
            mean, deviation = column.mean, column.deviation or 1.0
            if not math.isfinite(deviation):
                raise ValueError(
                    f"column {column.name!r} must lie within ±{LARGEST:g}: give it in another unit"
                )
        fill = fills.get(column.name)
        features.append(
            Feature(column.name, column.kind, mean, deviation, (), fill, column.percents > 0)
        )
    return Encoder(tuple(features), decimal)
