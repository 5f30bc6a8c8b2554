"""Where a table begins in a file of text or a sheet, and what separates its cells.

Instruments and people write titles, dates and settings above the names of the columns.
"""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from noregret.spaces.cells import GAPS

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: a cell that holds digits only, and their signs
_DIGITS = re.compile(r"[+-]?[\d.,]+%?")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?\s*%?")
#: a column holds numbers if at least this share of its filled cells are numbers
_MOSTLY = 0.8

#: rows with their places in the file
Rows = list[tuple[int, list[str]]]


@dataclass(frozen=True)
class Reading:
    """Lines cut by a separator.

    Attributes
    ----------
    alike
        The share of the lines that have the usual number of cells.
    named
        Whether the first of them has no numbers, so that it may name the columns.
    first
        Which line this is.
    width
        The usual number of cells.
    decimal
        Whether most of the cuts are between two digits, as at a decimal comma.
    """

    alike: float
    named: bool
    first: int
    width: int
    decimal: bool

    @property
    def merit(self) -> tuple[float, bool, int, int]:
        """Which reading is right: the one that most lines agree on, from the first line on."""
        return round(self.alike, 1), self.named, -self.first, self.width


def find_separator(lines: list[str]) -> str:
    """The character that separates the cells of these lines.

    Lines are cut by each possible separator, and the one is taken that most lines agree on. Commas
    between digits are decimal signs if another separator makes sense.
    """
    found = {one: reading for one in SEPARATORS if (reading := _read(lines, one)) is not None}
    other = any(r.alike >= 0.5 and r.named for sign, r in found.items() if sign != ",")
    if other and "," in found and found[","].decimal:
        del found[","]
    return max(found, key=lambda sign: found[sign].merit, default=",")


def _read(lines: list[str], separator: str) -> Reading | None:
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return None
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return None
    width = max(widths, key=lambda one: (widths[one], one))
    usual = [row for row in rows if len(row) == width]
    named = not any(_DIGITS.fullmatch(cell.strip()) for cell in usual[0])
    cuts = [
        left[-1:].isdigit() and right[:1].isdigit()
        for row in usual
        for left, right in pairwise(row)
    ]
    first = next(i for i, row in enumerate(rows) if len(row) == width)
    return Reading(len(usual) / len(rows), named, first, width, sum(cuts) > len(cuts) / 2)


def find_header(rows: Rows, place: str) -> tuple[int, str]:
    """Which row has the names of the columns, and what to say of the rows above it.

    A table whose beginning is not clear is refused.

    Parameters
    ----------
    rows
        The first rows, the very first one not blank.
    place
        What a position in the file is called.
    """
    cells = [row for _, row in rows]
    start = _titles(cells)
    below = _below_a_gap(cells, start)
    header = _widest(rows, start, place) if below is None else below
    if not header:
        return 0, ""
    above = [(line, row) for line, row in rows[:header] if any(map(str.strip, row))]
    text = next(cell for cell in above[0][1] if cell.strip()).strip()
    names = f"the names of the columns are in {place} {rows[header][0]}."
    if len(above) == 1:
        return header, f"{place.capitalize()} {above[0][0]} ({text!r}) is a title: {names}"
    return header, (
        f"{place.capitalize()}s {above[0][0]} to {above[-1][0]} ({text!r}, …) stand above the "
        f"table and are passed over: {names}"
    )


def _titles(rows: list[list[str]]) -> int:
    """How many rows stand above the names of the columns: a title in the first cell, blank rows."""
    filled = [_filled(row) for row in rows]
    above = next((i for i, cells in enumerate(filled) if len(cells) > 1), 0)
    if any(cells not in ([], [0]) for cells in filled[:above]):
        return 0  # a first column without a name
    if any(_DIGITS.fullmatch(cell.strip()) for cell in rows[above]):
        return 0  # values, not names
    return above


def _widest(rows: Rows, start: int, place: str) -> int:
    """The first row that is as wide as most are, if it has names; unclear ones are refused."""
    cells = [row for _, row in rows]
    extents = [_extent(row) for row in cells]
    counts = Counter(one for one in extents if one)
    usual = max(counts, key=lambda one: (counts[one], one))
    if extents[start] >= usual:
        return start
    at = next(i for i in range(start, len(rows)) if extents[i] >= usual)
    if any(_NUMBER.fullmatch(cell.strip()) for cell in cells[at]):
        return start  # values: some columns have no names
    if _names_columns(cells, at):
        return at
    last = max(i for i in range(at) if extents[i])
    raise ValueError(
        f"{place} {rows[start][0]} has {extents[start]} cells, and most {place}s have {usual}. If "
        f"{place}s {rows[0][0]} to {rows[last][0]} stand above the table, delete them; if {place} "
        f"{rows[start][0]} has the names of the columns, give every column a name"
    )


def _below_a_gap(rows: list[list[str]], start: int) -> int | None:
    """The row of names below a blank row, if what stands above it is no table."""
    extents = [_extent(row) for row in rows]
    counts = Counter(one for one in extents if one)
    usual = max(counts, key=lambda one: (counts[one], one))
    for at in range(start + 1, len(rows)):
        if extents[at] and not extents[at - 1]:
            return at if extents[at] >= usual and _names_columns(rows, at) else None
    return None


def _names_columns(rows: list[list[str]], at: int) -> bool:
    """Whether a row surely has names: texts above a column of numbers, and no number further up."""
    names = [cell.strip() for cell in rows[at][: _extent(rows[at])]]
    if len({*names}) < len(names) or any(
        name.lower() in GAPS or _NUMBER.fullmatch(name) for name in names
    ):
        return False
    for column in range(len(names)):
        above, under = (
            [row[column].strip() for row in part if len(row) > column and row[column].strip()]
            for part in (rows[:at], rows[at + 1 :])
        )
        numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in under)
        if under and numbers >= _MOSTLY * len(under) and not any(map(_NUMBER.fullmatch, above)):
            return True
    return False


def _filled(row: list[str]) -> list[int]:
    return [i for i, cell in enumerate(row) if cell.strip()]


def _extent(row: list[str]) -> int:
    """How many cells a row has up to the last one with text."""
    return max(_filled(row), default=-1) + 1
