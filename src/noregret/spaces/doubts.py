"""Columns of a table that may have been meant otherwise, in sentences for people."""

import re
from collections.abc import Iterable

import polars as pl

from noregret.spaces.cells import decimal_commas, is_gap, numbers, with_unit
from noregret.spaces.survey import ColumnSurvey

#: how many words a sentence names
_NAMED = 20
#: words in the name of a column that numbers its rows
_NUMBERING = {"no", "nr", "num", "number", "nummer", "id", "code", "key", "index", "barcode", "cas"}
#: what a column without a name is called, such as the index that pandas writes
_UNNAMED = re.compile(r"|column_\d+|Unnamed: \d+")
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


def about_text(name: str, cells: pl.Series, decimal: str) -> str | None:
    """Whether a column is text here and may be meant as numbers: dates, units, other decimals."""
    if (day := a_day(cells)) is not None:
        return (
            f"{name!r} has dates, such as {day}. Dates are no numbers here: if they describe "
            "the candidates, write the days since the first of them."
        )
    if (cell := with_unit(cells)) is not None:
        return (
            f"{name!r} has numbers with a unit, such as {cell!r}. Here they are text, without "
            "an order: write the numbers alone if they describe the candidates."
        )
    if (cell := _other_decimals(cells, decimal)) is not None:
        return (
            f"{name!r} has numbers such as {cell!r}, but the decimal sign here is "
            f"{decimal!r}. Here they are text, without an order: write them with "
            f"{decimal!r} if they describe the candidates."
        )
    return None


def about_words(column: ColumnSurvey, decimal: str) -> str | None:
    """As :func:`about_text`, from the different texts of a column."""
    words = pl.Series(sorted(column.words), dtype=pl.String)
    return about_text(column.name, words, decimal)


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


def about_numbering(column: ColumnSurvey) -> str | None:
    """Whether a feature is called like a number of the rows, and is different in every row."""
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column.name).lower())
    called_so = ({*words} & _NUMBERING and "of" not in words) or _UNNAMED.fullmatch(column.name)
    if column.kind != "number" or not column.all_different or not called_so:
        return None
    return (
        f"{column.name!r} has another number in every row and is called like a number of the "
        "rows, but describes the candidates here."
    )


def about_capitals(column: ColumnSurvey) -> str | None:
    """Whether categories differ by capitals only."""
    if column.kind != "category":
        return None
    alike: dict[str, list[str]] = {}
    for word in sorted(column.words):
        alike.setdefault(word.casefold(), []).append(word)
    pairs = [" and ".join(map(repr, words)) for words in alike.values() if len(words) > 1]
    if not pairs:
        return None
    return (
        f"{column.name!r} has categories that differ by capitals only: "
        f"{', '.join(pairs[:_NAMED])}. They are as different as any others: write them "
        "alike if they mean the same."
    )


def doubts(columns: Iterable[ColumnSurvey], decimal: str) -> list[str]:
    """What is doubtful about columns that all become coordinates."""
    found: list[str | None] = []
    for column in columns:
        if column.kind == "category":
            found.append(about_words(column, decimal) or _about_names(column))
            found.append(about_capitals(column))
        elif note := about_numbering(column):
            found.append(f"{note} Leave it out if it names them.")
    return [note for note in found if note is not None]


def _about_names(column: ColumnSurvey) -> str | None:
    if not column.mostly_different:
        return None
    return (
        f"{column.name!r} has {len(column.words)} different texts in {column.filled} rows. Each is "
        "a coordinate of its own and says nothing of other rows: leave the column out if it names "
        "the candidates."
    )
