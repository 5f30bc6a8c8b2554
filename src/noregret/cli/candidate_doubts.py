"""What may have been meant otherwise in a table of candidates, in sentences for people."""

from collections.abc import Iterable

import polars as pl

from noregret.spaces.cells import numbers
from noregret.spaces.doubts import about_capitals, about_numbering, about_text
from noregret.spaces.survey import ColumnSurvey
from noregret.spaces.tables import Piece, Table

#: how many columns or words a sentence names
_NAMED = 20


def about_texts(table: Table, whole: Piece, names: Iterable[str]) -> list[str]:
    """Which columns are text here and may be meant as numbers: dates, units, other decimals."""
    found = (about_text(name, whole.frame[name], table.decimal) for name in names)
    return [note for note in found if note is not None]


def about_words(columns: Iterable[ColumnSurvey]) -> list[str]:
    """Which categories differ by capitals only."""
    return [note for column in columns if (note := about_capitals(column)) is not None]


def about_numbers(columns: Iterable[ColumnSurvey]) -> list[str]:
    """Which features are called like numbers of rows, and are different in every row."""
    return [
        f"{note} If it names them: --id-column {column.name!r}."
        for column in columns
        if (note := about_numbering(column)) is not None
    ]


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
