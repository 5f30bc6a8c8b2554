"""The CSV files of a study: their columns, and cells that a spreadsheet may open.

Files are written in the style of the user's own. A spreadsheet runs a cell that begins with one of
``= + - @``. Such text gets an apostrophe before it, which means "this is text" to spreadsheets. The
apostrophe is removed when a file is read.
"""

import csv
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from noregret.cli.app import visible

if TYPE_CHECKING:
    from noregret.study import Study

#: what tells Excel that a file is UTF-8
_BYTE_ORDER_MARK = "\ufeff"
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*%?")


@dataclass(frozen=True)
class Style:
    """How a text file writes a table.

    Attributes
    ----------
    separator
        What stands between cells.
    decimal
        The decimal mark, ``"."`` or ``","``.
    marked
        Whether the file begins with a byte-order mark, which tells Excel that it is UTF-8.
    """

    separator: str = ","
    decimal: str = "."
    marked: bool = False


def mark(text: str) -> str:
    """The text as it is written: with an apostrophe if a spreadsheet would run it."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def write_csv(
    file: IO[str], header: Sequence[str], rows: Iterable[Sequence[Any]], style: Style
) -> None:
    """Write rows as text; on a terminal, control characters are escaped."""
    on_terminal = file is sys.stdout and file.isatty()
    show = visible if on_terminal else str

    def written(cell: Any) -> Any:
        if isinstance(cell, float):
            return repr(cell).replace(".", style.decimal)
        return show(mark(cell)) if isinstance(cell, str) else cell

    if style.marked and not on_terminal:
        file.write(_BYTE_ORDER_MARK)
    writer = csv.writer(file, delimiter=style.separator, lineterminator="\n")
    writer.writerow([show(mark(name)) for name in header])
    for row in rows:
        writer.writerow([written(cell) for cell in row])


def id_column(study: "Study") -> str:
    """The column with the candidates' names in files."""
    return str(study.settings["about"].get("id", "id"))


def value_column(study: "Study") -> str:
    """The column of values in files."""
    return str(study.settings["about"].get("value", "value"))


def style_of(study: "Study") -> Style:
    """How the study's files are written: as the library was."""
    return Style(**study.settings["about"].get("style", {}))


def fields_of(study: "Study") -> list[str]:
    """The fields of a choice: the names that a command may have in braces."""
    from noregret.study.frames import coordinate_names

    if study.domain.size is None:
        return coordinate_names(study.domain)
    table = study.table
    return ["id", "name", id_column(study), *([] if table is None else table.columns)]


def values_of(study: "Study", id_: int, point: Any) -> dict[str, Any]:
    """The values of a choice's fields."""
    from noregret.study.frames import coordinates

    if study.domain.size is None:
        columns = coordinates(study.domain, [point])
        return {name: column[0] for name, column in columns.items()}
    table = study.table
    row = {} if table is None else table.row(id_, named=True)
    name = study.name_of(id_, point)
    return {"id": id_, "name": name, id_column(study): name, **row}
