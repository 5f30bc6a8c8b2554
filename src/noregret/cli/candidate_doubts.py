"""What may have been meant otherwise in a table of candidates, in sentences for people."""

import re
from collections.abc import Iterable

import polars as pl

from noregret.spaces.cells import decimal_commas, is_gap, numbers, with_unit
from noregret.spaces.survey import ColumnSurvey
from noregret.spaces.tables import Piece, Table

#: how many columns or words a sentence names
_NAMED = 20
#: words in the name of a column that numbers its rows
_NUMBERING = {"no", "nr", "num", "number", "nummer", "id", "code", "key", "index", "barcode", "cas"}
#: a day, with a time or not: 2024-05-01, 01.05.2024, 5/1/24
_DAY = (
    r"^\s*(\d{4}([-/.])\d{1,2}([-/.])\d{1,2}|\d{1,2}([-/.])\d{1,2}([-/.])(\d{4}|\d{2}))"
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?\s*$"
)


def a_day(cells: pl.Series) -> str | None:
    """The first text, if all texts of a column are dates."""
    if cells.dtype != pl.String:
        return None
    filled = cells.filter(~is_gap(cells))
    return str(filled[0]) if len(filled) and filled.str.contains(_DAY).all() else None


def about_texts(table: Table, whole: Piece, names: Iterable[str]) -> list[str]:
    """Which columns are text here and may be meant as numbers: dates, units, other decimals."""
    notes = []
    for name in names:
        cells = whole.frame[name]
        if (day := a_day(cells)) is not None:
            notes.append(
                f"{name!r} has dates, such as {day}. Dates are no numbers here: if they describe "
                "the candidates, write the days since the first of them."
            )
        elif (cell := with_unit(cells, table.decimal)) is not None:
            notes.append(
                f"{name!r} has numbers with a unit, such as {cell!r}. Here they are text, without "
                "an order: write the numbers alone if they describe the candidates."
            )
        elif (cell := _other_decimals(cells, table.decimal)) is not None:
            notes.append(
                f"{name!r} has numbers such as {cell!r}, but the decimal sign of this file is "
                f"{table.decimal!r}. Here they are text, without an order: write them with "
                f"{table.decimal!r} if they describe the candidates."
            )
    return notes


def _other_decimals(cells: pl.Series, decimal: str) -> str | None:
    """The first text of a column of numbers with the other decimal sign."""
    if cells.dtype != pl.String:
        return None
    filled = cells.filter(~is_gap(cells))
    other = "," if decimal == "." else "."
    if not len(filled) or numbers(filled, other).has_nulls():
        return None
    unread = filled.filter(numbers(filled, decimal).is_null())
    shown = unread if other == "." else decimal_commas(unread)
    return str(shown[0]) if len(shown) else None


def about_words(columns: Iterable[ColumnSurvey]) -> list[str]:
    """Which categories differ by capitals only."""
    notes = []
    for column in columns:
        if column.kind != "category":
            continue
        alike: dict[str, list[str]] = {}
        for word in sorted(column.words):
            alike.setdefault(word.casefold(), []).append(word)
        pairs = [" and ".join(map(repr, words)) for words in alike.values() if len(words) > 1]
        if pairs:
            notes.append(
                f"{column.name!r} has categories that differ by capitals only: "
                f"{', '.join(pairs[:_NAMED])}. They are as different as any others: write them "
                "alike if they mean the same."
            )
    return notes


def about_numbering(columns: Iterable[ColumnSurvey]) -> list[str]:
    """Which features are called like numbers of rows, and are different in every row."""
    return [
        f"{column.name!r} has another number in every row and is called like a number of the "
        f"rows, but describes the candidates here. If it names them: --id-column {column.name!r}."
        for column in columns
        if column.kind == "number" and column.all_different and _numbers_rows(column.name)
    ]


def _numbers_rows(name: str) -> bool:
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
    return bool({*words} & _NUMBERING) and "of" not in words


def note_doubts(table: Table, whole: Piece, used: list[str], notes: list[str]) -> None:
    """Say if the first line may be no names of columns, and if rows have the same features."""
    if numbers(pl.Series(table.columns, dtype=pl.String), table.decimal).count():
        notes.append(
            f"The first {table.place} is taken as the names of the columns: "
            f"{', '.join(table.columns[:_NAMED])}. If it is a candidate, write names above it."
        )
    same = len(whole.frame) - whole.frame.select(used).n_unique()
    if same:
        notes.append(
            f"{same} of {len(whole.frame)} rows have the same features as a row before: the model "
            "cannot tell them apart."
        )
