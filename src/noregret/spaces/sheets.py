"""A sheet of a spreadsheet as text, cell by cell: numbers in full, percents with their sign.

The reader gives numbers nine decimals, and does not tell how a cell is shown. What it leaves out is
added here.
"""

import re
import shlex
import zipfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl

from noregret.spaces.cells import commas_in_groups, decimal_commas, is_gap, nearest, numbers
from noregret.spaces.limits import check_archive

#: the numbers of Excel's own formats with a percent sign
_PERCENTS = {9, 10}
#: a cell with content, and its attributes
_CELL = re.compile(rb"<(?:\w+:)?c ([^>]*[^/>])>")
_PLACE = re.compile(rb'\br="([A-Z]+)(\d+)"')
_STYLE = re.compile(rb'\bs="(\d+)"')
_TYPE = re.compile(rb'\bt="(\w+)"')


@dataclass(frozen=True)
class Sheet:
    """A sheet that has been read.

    Attributes
    ----------
    name
        What it is called.
    others
        The names of the other sheets.
    cells
        Its cells as text, from the first row on and the first column with text.
    commas
        For columns (by position) in which text with decimal commas stood: such a text.
    """

    name: str
    others: list[str]
    cells: pl.DataFrame
    commas: dict[int, str]


def sheet_names(path: Path) -> list[str]:
    """The names of a spreadsheet's sheets."""
    return list(_open(path).sheet_names)


def read_sheet(path: Path, name: str | None, *, decimal_comma: bool) -> Sheet:
    """A sheet by its name, else the first.

    Parameters
    ----------
    path
        The spreadsheet.
    name
        Of the sheet.
    decimal_comma
        Whether a comma that may group digits is a decimal sign in text.
    """
    book = _open(path)
    import fastexcel  # there, or the book would not be open

    names = list(book.sheet_names)
    if name is not None and name not in names:
        raise ValueError(
            f"{path} has no sheet {name!r}{nearest(name, names)} (there is {', '.join(names)})"
        )
    name = names[0] if name is None else name
    try:
        # Row 0 is the first of the sheet, also if it is blank.
        where: dict[str, Any] = {"header_row": None, "skip_rows": 0}
        text = pl.DataFrame(book.load_sheet(name, dtypes="string", **where))
        values = pl.DataFrame(book.load_sheet(name, dtypes="float", **where))
    except fastexcel.FastExcelError as error:
        raise ValueError(f"{path} cannot be read as a spreadsheet: {error}") from error
    percents = _percents(path, name, text.height, text.width)
    commas: dict[int, str] = {}
    columns = []
    for i, (words, exact) in enumerate(zip(text, values, strict=True)):
        cells = _in_full(words.fill_null(""), exact)
        cells = cells.str.strip_suffix(" 00:00:00")  # a day without a time
        cells, example = _with_points(cells, decimal_comma)
        if example:
            commas[i] = example
        columns.append(_with_percents(cells, percents.get(i, [])))
    return Sheet(name, [one for one in names if one != name], pl.DataFrame(columns), commas)


def _open(path: Path) -> Any:
    try:
        import fastexcel
    except ImportError as error:
        raise ValueError(
            f"{path} is a spreadsheet: reading it needs one more package, pip install "
            "'noregret[excel]'. Or save the sheet as CSV"
        ) from error
    check_archive(path)
    try:
        return fastexcel.read_excel(path)
    except fastexcel.FastExcelError as error:
        raise ValueError(f"{path} cannot be read as a spreadsheet: {error}") from error


def choice_in_words(name: str, others: list[str], usable: list[str]) -> str:
    """Which sheet was read, and which others there are: the end of a refusal."""
    if len(usable) == 1:
        option = f"--sheet {shlex.quote(usable[0])}"
        return f"This is sheet {name!r}. Sheet {usable[0]!r} has a table: {option}"
    return f"This is sheet {name!r}; there is also {', '.join(map(repr, others))} (--sheet)."


def _in_full(words: pl.Series, exact: pl.Series) -> pl.Series:
    """Texts (n), with all digits that the spreadsheet shows where they are numbers."""
    short = words.cast(pl.Float64, strict=False)
    longer = (short.is_not_null() & exact.is_not_null() & (short != exact)).fill_null(False)
    if not longer.any():
        return words
    # A spreadsheet shows 15 digits: the sum of 0.1 and 0.2 is 0.3 there.
    full = [f"{value:.15g}" if one else None for value, one in zip(exact, longer, strict=True)]
    return pl.Series(words.name, full, dtype=pl.String).fill_null(words)


def _with_points(words: pl.Series, decimal_comma: bool) -> tuple[pl.Series, str]:
    """Texts (n) with points for decimal commas, and such a text; numbers themselves have points."""
    found = decimal_commas(words)
    groups = set() if decimal_comma else {*commas_in_groups(found)}
    sure = [text for text in found if text not in groups]
    if not sure:
        return words, ""
    filled = words.filter(~is_gap(words))
    read = numbers(filled, ",").is_not_null() | numbers(filled, ".").is_not_null()
    if 2 * int(read.sum()) < len(filled):
        return words, ""  # names rather than numbers
    commas = {*found}
    points = [
        text.replace(".", "").replace(",", ".") if text.strip().rstrip("% ") in commas else text
        for text in words
    ]
    return pl.Series(words.name, points, dtype=pl.String), sure[0]


# -- percents --------------------------------------------------------------------------------


def _with_percents(words: pl.Series, rows: list[int]) -> pl.Series:
    """Texts (n) with a percent sign in the rows that a spreadsheet shows with one."""
    shown = words.to_list()
    for row in rows:
        try:
            shown[row] = f"{(100 * Decimal(shown[row])).normalize():f}%"
        except ArithmeticError:
            continue
    return pl.Series(words.name, shown, dtype=pl.String)


def _percents(path: Path, name: str, height: int, width: int) -> dict[int, list[int]]:
    """The rows, for each column, of the cells that are shown with a percent sign.

    Only ``.xlsx`` and ``.xlsm`` tell. Nothing if the file is not as expected.
    """
    if path.suffix.lower() not in (".xlsx", ".xlsm") or not zipfile.is_zipfile(path):
        return {}
    try:
        with zipfile.ZipFile(path) as archive:
            styles = _percent_styles(archive)
            data = archive.read(_part(archive, name)) if styles else b""
    except (KeyError, StopIteration, ValueError, ElementTree.ParseError):
        return {}
    found: list[tuple[int, int]] = []
    rows, columns = [0], []
    for attributes in _CELL.findall(data):
        place = _PLACE.search(attributes)
        if place is None:
            return {}
        row, column = int(place[2]) - 1, _column(place[1])
        rows.append(row)
        columns.append(column)
        style, kind = _STYLE.search(attributes), _TYPE.search(attributes)
        if style and int(style[1]) in styles and (kind is None or kind[1] == b"n"):
            found.append((row, column))
    if not found or max(rows) + 1 != height or max(columns) - min(columns) + 1 != width:
        return {}
    places: dict[int, list[int]] = {}
    for row, column in found:
        places.setdefault(column - min(columns), []).append(row)
    return places


def _percent_styles(archive: zipfile.ZipFile) -> set[int]:
    """The styles of cells with a percent sign in their format."""
    root = ElementTree.fromstring(archive.read("xl/styles.xml"))
    formats = {
        int(one.attrib["numFmtId"])
        for one in root.iterfind("{*}numFmts/{*}numFmt")
        if "%" in re.sub(r'"[^"]*"|\\.', "", one.attrib["formatCode"])
    }
    styles = enumerate(root.iterfind("{*}cellXfs/{*}xf"))
    return {i for i, one in styles if int(one.get("numFmtId", "0")) in formats | _PERCENTS}


def _part(archive: zipfile.ZipFile, name: str) -> str:
    """The part of the archive that holds a sheet."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    sheet = next(one for one in book.iterfind("{*}sheets/{*}sheet") if one.get("name") == name)
    own = next(value for key, value in sheet.attrib.items() if key.endswith("}id"))
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    target = next(one.attrib["Target"] for one in links if one.get("Id") == own)
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _column(letters: bytes) -> int:
    """The position of column A, B, …, Z, AA, …"""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1
