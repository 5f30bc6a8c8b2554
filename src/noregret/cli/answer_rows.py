"""The rows of a file of answers: its columns, its numbers, and what is wrong with a row."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from noregret._checks import first_few
from noregret.cli.csv_files import Style
from noregret.spaces.cells import (
    BOOLEANS,
    GAPS,
    advice,
    decimal_commas,
    decimal_sign,
    grouped_by_points,
    is_gap,
    nearest,
    numbers,
)
from noregret.spaces.tables import Table

#: how many lines an error names
_NAMED_LINES = 20
#: what a cell of the column ``failed`` may say of a row that has not failed (in lower case)
_NOT_FAILED = GAPS | {word for word, value in BOOLEANS.items() if not value} | {"0", "0.0", "0,0"}
#: what to do with a word among the values
_NO_VALUE = " (a reason why there is none belongs in a column 'failed')"


@dataclass(frozen=True)
class Wrong:
    """A row that cannot be told: where, why, and its cells by column."""

    text: str
    row: dict[str, Any]


class Rows:
    """The rows of a file, with the columns that matter.

    Parameters
    ----------
    path
        The table.
    value_column
        What the column of values is called.
    style
        How the study's files are written.
    sheet
        The sheet of a spreadsheet; ``None``: the first.
    """

    def __init__(
        self, path: str, value_column: str, style: Style, sheet: str | None = None
    ) -> None:
        self.table = Table(path, sheet=sheet, decimal_comma=style.decimal == ",")
        piece = self.table.read()
        self.lines, self.frame = piece.lines, piece.frame
        self.value_column = value_column
        column = self.frame[self.needed(value_column, "; --value-column names the values")]
        self._empty = is_gap(column).to_list()
        self._decimal = self.decimal(value_column)
        self._values = self.numbers(value_column)
        self._refuse_some_percents()

    def __len__(self) -> int:
        return len(self.lines)

    def needed(self, name: str, hint: str = "") -> str:
        """The name of a column that must be there; the error ends with the hint."""
        if name not in self.table.columns:
            raise ValueError(
                f"{self.table.path} has no column {name!r}{nearest(name, self.table.columns)} "
                f"(there is {', '.join(self.table.columns)}){hint}"
            )
        return name

    def _refuse_some_percents(self) -> None:
        """Refuse values of which some have a percent sign: 0.5 beside 50% may mean either."""
        texts = self.texts(self.value_column)
        filled = np.array([number is not None for number in self._values], dtype=bool)
        signs = np.array([text.strip().endswith("%") for text in texts], dtype=bool) & filled
        if 0 < signs.sum() < filled.sum():
            most = 2 * signs.sum() > filled.sum()
            rare = first_few(self.lines[filled & ~signs if most else signs], _NAMED_LINES)
            raise ValueError(
                f"{self.table.path} was refused: in column {self.value_column!r}, {signs.sum()} of "
                f"{filled.sum()} numbers have a percent sign; write it on all of them or on none "
                f"(those {'without' if most else 'with'} it: {self.table.place} {rare})"
            )

    def texts(self, name: str) -> list[str]:
        """The cells of a column as they stand; empty texts if there is no such column."""
        if name not in self.table.columns:
            return [""] * len(self)
        return self.frame[name].cast(pl.String).fill_null("").to_list()

    def reasons(self, features: Callable[[], Collection[str]]) -> list[str]:
        """Why each row has no value, in the column ``failed``; empty where it does not say so.

        Words such as no and 0 do not say so. The name may have capital letters, unless one of the
        ``features`` has this name.
        """
        name = self._failed(features)
        texts = [text.strip() for text in self.texts(name)]
        return ["" if text.lower() in _NOT_FAILED else text for text in texts]

    def _failed(self, features: Callable[[], Collection[str]]) -> str:
        if "failed" in self.table.columns:
            return "failed"
        alike = [name for name in self.table.columns if name.strip().lower() == "failed"]
        own = features() if alike else ()
        return next((name for name in alike if name not in own), "failed")

    def numbers(self, name: str) -> list[float | None]:
        """The numbers in a column; ``None`` where there is none."""
        return numbers(self.frame[name], self.decimal(name)).to_list()

    def decimal(self, name: str) -> str:
        """The decimal sign of a column; that of the file if the column does not show one.

        An instrument may write values with a point into a file that has commas elsewhere.
        """
        if self.frame[name].dtype != pl.String:
            return self.table.decimal
        grouping = self.table.commas_may_group
        return decimal_sign(self.texts(name), grouping=grouping) or self.table.decimal

    @property
    def note(self) -> str:
        """What is said of values such as 1,234 or 1.234, which may be a thousand or about one."""
        texts = self.texts(self.value_column)
        if self._decimal == ".":
            sign, name, grouped = ",", "Commas", decimal_commas(texts)
        else:
            sign, name, grouped = ".", "Points", grouped_by_points(texts)
        return (
            f"{name} group digits: {grouped[0]} is {grouped[0].replace(sign, '')}."
            if grouped
            else ""
        )

    def value(self, i: int) -> float | None:
        """The number in row i; ``None`` for a gap; anything else is refused."""
        if self._empty[i]:
            return None
        value = self._values[i]
        if value is None:
            text = str(self.frame[self.value_column][i])
            hint = advice(text, self._decimal) or _NO_VALUE
            raise ValueError(f"column {self.value_column!r}: {text!r} is not a finite number{hint}")
        return float(value)

    def wrong(self, i: int, error: Exception) -> Wrong:
        """Row i, which cannot be told."""
        joint = ", " if str(error).startswith("column ") else ": "
        place = f"{self.table.place} {self.lines[i]}"
        return Wrong(f"{place}{joint}{error}", self.frame.row(i, named=True))


def refusal(path: str, wrong: list[Wrong]) -> str:
    """Why a file is refused, row by row."""
    more = [f"… and {len(wrong) - _NAMED_LINES} more"] if len(wrong) > _NAMED_LINES else []
    listed = "\n  ".join([*(one.text for one in wrong[:_NAMED_LINES]), *more])
    return (
        f"{path} was refused, and nothing of it was told (--skip-bad tells the good rows):\n  "
        f"{listed}"
    )
