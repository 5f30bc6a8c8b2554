"""What is in the columns of a table: numbers, words, gaps, cells that do not fit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.spaces.cells import advice, booleans, is_gap, numbers
from noregret.spaces.tables import Piece

#: a column with more words than this holds names, not categories
MOST_CATEGORIES = 100
#: in so many rows, words that hardly ever come twice are names
ENOUGH_NAMES = 20
#: a column is meant to hold numbers if at least this share of its cells are numbers
_MOSTLY = 0.5
#: how many cells a message names at most
_NAMED = 20


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
        The different texts, without spaces at their ends, until there are more than can be
        categories.
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
            self.scatter += float(np.square(mean - self.mean)) * n * k / (n + k)
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
        if cells.dtype == pl.String:
            cells = cells.str.strip_chars()
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
    def mostly_different(self) -> bool:
        """Whether hardly a text comes twice, in a column long enough to tell."""
        # Empty cells do not count: most compounds have no remark.
        return self.filled >= ENOUGH_NAMES and 2 * len(self.words) > self.filled

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
