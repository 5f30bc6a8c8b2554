"""Columns of a table as coordinates of points: numbers, yes and no, and words.

One encoder serves files, frames and the command line. A :class:`Survey` looks at the columns, a
piece at a time; a :class:`Encoder` made from it turns pieces into rows of numbers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.spaces.cells import advice, booleans, is_gap, numbers
from noregret.spaces.tables import Piece

#: a column with more words than this holds names, not categories
MOST_CATEGORIES = 100
#: a column is meant to hold numbers if at least this share of its cells are numbers
_MOSTLY = 0.5
#: how many cells a message names at most
_NAMED = 20
#: the name of the category for gaps
_NOTHING = "(gap)"
#: the end of the name of a coordinate that is 1 where a number was missing
GAP_FLAG = f" {_NOTHING}"


#: how cells of each kind become numbers (n floats), null at gaps
_VALUES: dict[str, Callable[[pl.Series, str], pl.Series]] = {
    "number": lambda cells, decimal: numbers(cells, decimal).set(is_gap(cells), None),
    "boolean": lambda cells, decimal: booleans(cells),
}


@dataclass
class ColumnSurvey:
    """What is in a column.

    Attributes
    ----------
    name
        Of the column.
    rows, gaps
        Rows seen, and how many of them hold nothing.
    numbers, percents, booleans
        How many cells are numbers, numbers with a percent sign, yes or no.
    odd
        The first cells that are not numbers: line and text.
    words
        The different texts, until there are more than can be categories.
    distinct
        Whether no text has come twice so far.
    typed
        Whether the file itself says that these are numbers or booleans.
    decimal
        The decimal sign of text.
    mean, scatter, low, high
        Of the numbers: mean, Σ (number − mean)², smallest and largest.
    """

    name: str
    rows: int = 0
    gaps: int = 0
    numbers: int = 0
    percents: int = 0
    booleans: int = 0
    odd: list[tuple[int, str]] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    distinct: bool = True
    typed: bool = False
    decimal: str = "."
    mean: float = 0.0
    scatter: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    _seen: set[Any] = field(default_factory=set)

    def add(self, cells: pl.Series, lines: Ints, decimal: str) -> None:
        """Look at more cells (n)."""
        self.decimal = decimal
        found = numbers(cells, decimal)
        self.typed = cells.dtype.is_numeric() or cells.dtype == pl.Boolean
        self.rows += len(cells)
        if found.null_count():
            empty = is_gap(cells)
            found = found.set(empty, None)
            self.gaps += int(empty.sum())
            self._note_odd(cells, found.is_null() & ~empty, lines)
            cells = cells.filter(~empty)
        self._add_numbers(found.drop_nulls().to_numpy())
        if cells.dtype == pl.Boolean or found.null_count():
            self.booleans += len(cells) - int(booleans(cells).null_count())
        if cells.dtype == pl.String:
            self.percents += int(cells.str.ends_with("%").sum())
        self._compare(cells)

    def _add_numbers(self, values: Floats) -> None:
        """Join mean and scatter of more numbers (Chan's parallel formula)."""
        n, k = self.numbers, len(values)
        if not k:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(values.mean())
            self.scatter += float(np.square(values - mean).sum())
            self.scatter += (mean - self.mean) ** 2 * n * k / (n + k)
            self.mean += (mean - self.mean) * k / (n + k)
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())
        self.numbers += k

    def _note_odd(self, cells: pl.Series, odd: pl.Series, lines: Ints) -> None:
        rows = np.flatnonzero(odd.to_numpy())[: _NAMED - len(self.odd)]
        self.odd += [(int(lines[i]), str(cells[int(i)])) for i in rows]

    def _compare(self, cells: pl.Series) -> None:
        """Collect different texts, and whether one comes twice."""
        if cells.dtype.is_float():
            self.distinct = False
            return
        different = cells.unique()
        self.distinct = self.distinct and len(different) == len(cells)
        if self.distinct:
            seen = set(different.to_list())
            self.distinct = not (seen & self._seen)
            self._seen |= seen
        else:
            self._seen.clear()
        if not cells.dtype.is_numeric() and len(self.words) <= MOST_CATEGORIES:
            self.words |= set(different.cast(pl.String).to_list()[: MOST_CATEGORIES + 1])

    @property
    def filled(self) -> int:
        """Cells that hold something."""
        return self.rows - self.gaps

    @property
    def kind(self) -> str:
        """``"number"``, ``"boolean"``, ``"category"``, ``"text"``, ``"odd"`` or ``"empty"``.

        ``"odd"``: mostly numbers, but not all. ``"text"``: too many words for categories.
        """
        if not self.filled:
            return "empty"
        if self.booleans == self.filled:
            return "boolean"
        if self.numbers == self.filled:
            return "odd" if 0 < self.percents < self.filled else "number"
        if self.typed or self.numbers >= _MOSTLY * self.filled:
            return "odd"
        return "text" if len(self.words) > MOST_CATEGORIES else "category"

    @property
    def all_different(self) -> bool:
        """Whether every row has a different word."""
        return self.distinct and not self.gaps and self.rows > 1

    @property
    def constant(self) -> bool:
        """Whether every cell holds the same."""
        if self.gaps:
            return False
        return self.low == self.high if self.numbers == self.rows else len(self.words) == 1

    @property
    def deviation(self) -> float:
        """The numbers' standard deviation."""
        return float(np.sqrt(self.scatter / self.numbers)) if self.numbers else 0.0

    def complaint(self, place: str) -> str:
        """What is wrong with a column that is mostly numbers, with the cells."""
        if self.numbers == self.filled:
            return (
                f"column {self.name!r}: {self.percents} of {self.filled} numbers have a percent "
                "sign; write it on all of them or on none"
            )
        lines: dict[str, list[str]] = {}
        for line, text in self.odd:
            lines.setdefault(text, []).append(str(line))
        cells = []
        for text, found in lines.items():
            hint = advice(text, self.decimal)
            also = f"; also in {place} {', '.join(found[1:])}" if len(found) > 1 else ""
            cells.append(
                f"{place} {found[0]}, column {self.name!r}: {text!r} is not a number{hint}{also}"
            )
        more = self.filled - self.numbers - len(self.odd)
        return "\n  ".join([*cells, *([f"… and {more} more"] if more > 0 else [])])


def survey(
    pieces: Iterable[Piece], columns: Sequence[str], decimal: str = "."
) -> dict[str, ColumnSurvey]:
    """What is in these columns."""
    found = {name: ColumnSurvey(name) for name in columns}
    for piece in pieces:
        for name, column in found.items():
            column.add(piece.frame[name], piece.lines, decimal)
    return found


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
    """

    name: str
    kind: str
    mean: float = 0.0
    deviation: float = 1.0
    categories: tuple[str, ...] = ()
    fill: float | None = None

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
            words = cells.cast(pl.String).set(is_gap(cells), _NOTHING)
            return [(words == word).to_numpy().astype(np.float64) for word in self.categories]
        values = self.values(cells, decimal)
        empty = values.is_null().to_numpy().astype(np.float64)
        filled = values.fill_null(np.nan if self.fill is None else self.fill).to_numpy()
        own = (filled - self.mean) / self.deviation
        return [own] if self.fill is None else [own, empty]

    def values(self, cells: pl.Series, decimal: str) -> pl.Series:
        """The numbers in cells (n floats), yes and no as 1 and 0, null where there is none."""
        return _VALUES[self.kind](cells, decimal)

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
        return sorted({*cells.filter(~is_gap(cells)).cast(pl.String)} - {*self.categories})


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
        fill = fills.get(column.name)
        features.append(Feature(column.name, column.kind, mean, deviation, fill=fill))
    return Encoder(tuple(features), decimal)
