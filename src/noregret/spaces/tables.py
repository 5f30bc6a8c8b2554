"""Tables as people have them: CSV with any separator and decimal sign, Excel sheets, Parquet.

Text is read as it stands: every cell of a CSV file or an Excel sheet is a string here, and
:mod:`noregret.spaces.cells` says what it means. Files are read a piece at a time.
"""

import codecs
import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from noregret._types import Ints
from noregret.spaces.cells import (
    commas_in_groups,
    decimal_commas,
    decimal_sign,
    grouped_by_points,
)
from noregret.spaces.layout import SEPARATORS, find_header, find_separator
from noregret.spaces.limits import Lines, check_parquet, longest_field
from noregret.spaces.parquet import frames_of, types_in
from noregret.spaces.sheets import Sheet, choice_in_words, read_sheet, sheet_names

#: rows read at a time
PIECE = 1 << 16
#: separator and decimal sign are told from this many characters, and rows, of a file
_SAMPLE, _SAMPLE_ROWS = 1 << 18, 1000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: what the reader of text says of a cell in quotation marks that does not end as it should
_ABOUT_QUOTES = re.compile("unexpected end of data|expected after '\"'")
_OPEN_QUOTE = (
    'a cell begins with a quotation mark (") and does not end with one. Remove the mark. Marks '
    "inside a cell that has marks around it are written twice"
)

TEXT = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@contextmanager
def naming_sheets(path: str | Path, sheet: str | None) -> Iterator[None]:
    """Refusals of a spreadsheet name its other sheets, for which ``--sheet`` may ask."""
    try:
        yield
    except ValueError as error:
        words = _other_sheets(Path(path), sheet)
        if not words:
            raise
        raise ValueError(f"{error}\n{words}") from error


def is_first_sheet(path: str | Path, sheet: str | None) -> bool:
    """Whether a table is read from the first sheet of a spreadsheet, or from no spreadsheet."""
    file = Path(path)
    return sheet is None or file.suffix.lower() not in EXCEL or sheet_names(file)[0] == sheet


def _other_sheets(path: Path, sheet: str | None) -> str:
    """Which sheet was read, and which others there are; nothing if there is no choice."""
    try:
        names = sheet_names(path) if path.suffix.lower() in EXCEL else []
    except ValueError:
        return ""
    if len(names) < 2 or (sheet is not None and sheet not in names):
        return ""
    read = sheet or names[0]
    others = [name for name in names if name != read]
    usable = [] if _is_table(path, read) else [name for name in others if _is_table(path, name)]
    return choice_in_words(read, others, usable)


def _is_table(path: Path, sheet: str) -> bool:
    """Whether a sheet has names of columns with rows below them."""
    try:
        table = Table(path, sheet=sheet)
        rows = table.read()
    except ValueError:
        return False
    return len(table.columns) > 1 and len(rows.frame) > 0


@dataclass(frozen=True)
class Piece:
    """Some rows of a table.

    Attributes
    ----------
    frame
        The cells: text, except for Parquet, which has types.
    lines
        Where each row begins in the file: lines of text, rows of a sheet, counted from 1 (n).
    """

    frame: pl.DataFrame
    lines: Ints


class Table:
    """A file whose format has been detected; :meth:`pieces` reads its rows, any number of times.

    Parameters
    ----------
    path
        Ends in ``.csv``, ``.tsv``, ``.txt``, ``.xlsx`` (and its relatives) or ``.parquet``.
    sheet
        The sheet of a spreadsheet to read; ``None``: the first.
    decimal_comma
        Whether a comma that may group digits is a decimal sign: ``1,234`` is 1.234 then.

    Attributes
    ----------
    columns
        The names of the columns, in their order.
    decimal
        ``"."`` or ``","``: what stands before decimals.
    separator, encoding
        How a text file is written; commas and UTF-8 for others.
    place
        What a position in the file is called: ``"line"`` or ``"row"``.
    notes
        What was detected about the file, in sentences.
    types
        What the file itself says of the columns' types; nothing for text.
    """

    def __init__(
        self, path: str | Path, *, sheet: str | None = None, decimal_comma: bool = False
    ) -> None:
        self.path = Path(path)
        self._sheet_name = sheet
        self._decimal_comma = decimal_comma
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        self.decimal = "."
        self.encoding, self.separator = "utf-8", ","
        self.notes: list[str] = []
        self.types: dict[str, pl.DataType] = {}
        self.place = "line"
        suffix = self.path.suffix.lower()
        if sheet is not None and suffix not in EXCEL:
            raise ValueError(f"{path} is no spreadsheet, so that it has no sheet {sheet!r}")
        if suffix in PARQUET:
            self.place = "row"
            check_parquet(self.path)
            self.types, self.notes = types_in(self.path)
            self.columns = list(self.types)
        elif suffix in EXCEL:
            self.place = "row"
            self._prepare_rows(self._sheet)
        elif suffix in TEXT:
            self.encoding, self.separator = self._habits()
            self._prepare_rows(self._records)
        else:
            known = ", ".join((*TEXT, *EXCEL, *PARQUET))
            raise ValueError(f"{path} must be a table that ends in one of {known}")

    def pieces(self) -> Iterator[Piece]:
        """The rows, without blank ones."""
        suffix = self.path.suffix.lower()
        if suffix in PARQUET:
            first = 1
            for frame in frames_of(self.path, PIECE):
                yield Piece(frame, np.arange(first, first + len(frame)))
                first += len(frame)
            return
        rows = self._sheet() if suffix in EXCEL else self._records()
        next(islice(rows, self._titles, None))
        while chunk := list(islice(rows, PIECE)):
            yield self._piece(chunk)

    def read(self) -> Piece:
        """All rows at once."""
        pieces = list(self.pieces())
        if not pieces:
            return Piece(pl.DataFrame(dict.fromkeys(self.columns, pl.Series([], dtype=pl.String))),
                         np.empty(0, dtype=np.int64))  # fmt: skip
        return Piece(
            pl.concat([piece.frame for piece in pieces], rechunk=True),
            np.concatenate([piece.lines for piece in pieces]),
        )

    # -- text and sheets ---------------------------------------------------------------------

    def _prepare_rows(self, rows: Any) -> None:
        """Names of the columns and the decimal sign, from the first rows."""
        first = list(islice(rows(), _SAMPLE_ROWS))
        if not first:
            raise ValueError(f"{self.path} is empty")
        try:
            self._titles, note = find_header(first, self.place)
        except ValueError as error:
            raise ValueError(f"{self.path}, {error}") from error
        (line, header), sample = first[self._titles], first[self._titles + 1 :]
        self._header_line = line
        self.notes += [note] if note else []
        self.columns, self._kept = self._names(header, sample)
        self._note_commas(sample)
        numbers = [name for name in self.columns if re.fullmatch(r"-?\d+[.,]\d+", name)]
        if numbers:
            self.notes.append(
                f"The names of the columns, in {self.place} {line}, include the number "
                f"{numbers[0]}. If that {self.place} is a candidate, write a {self.place} of names "
                "above it."
            )

    def _names(self, header: list[str], sample: list[Any]) -> tuple[list[str], list[int]]:
        """The columns' names, and which cells of a row belong to them."""
        names: list[str] = []
        kept: list[int] = []
        for i, text in enumerate(header):
            name = text.strip()
            if not name:
                if not any(i < len(row) and row[i].strip() for _, row in sample):
                    continue  # spreadsheets write empty columns at the right
                name = f"column_{i + 1}"
                self.notes.append(f"Column {i + 1} has no name and is called {name}.")
            if name in names:
                raise ValueError(
                    f"{self.path}: two columns are called {name!r} (columns "
                    f"{kept[names.index(name)] + 1} and {i + 1}); rename one of them"
                )
            names.append(name)
            kept.append(i)
        if not names:
            raise ValueError(f"{self.path} has no names of columns in its first line")
        return names, kept

    def _piece(self, chunk: list[tuple[int, list[str]]]) -> Piece:
        width, most = len(self.columns), self._kept[-1] + 1
        lines, cells = [], []
        for line, row in chunk:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) > most and any(cell.strip() for cell in row[most:]):
                raise ValueError(self._too_many(line, row, most))
            padded = row if len(row) >= most else [*row, *[""] * (most - len(row))]
            lines.append(line)
            cells.append([padded[i] for i in self._kept])
        columns = list(zip(*cells, strict=True)) if cells else [()] * width
        frame = pl.DataFrame(
            [
                pl.Series(name, list(column), dtype=pl.String)
                for name, column in zip(self.columns, columns, strict=True)
            ]
        )
        return Piece(frame, np.array(lines, dtype=np.int64))

    def _too_many(self, line: int, row: list[str], most: int) -> str:
        words = f"{self.path}, {self.place} {line}: {len(row)} cells, but {most} columns have names"
        if self.place == "line" and self.separator == ",":
            words += (
                ". If this is a decimal comma, write a point, or separate columns by semicolons"
            )
        if line <= self._header_line + 2:
            words += (
                f". If the names of the columns stand further down than in {self.place} "
                f"{self._header_line}, delete what is above them"
            )
        return words

    def _note_commas(self, sample: list[tuple[int, list[str]]]) -> None:
        """Find the decimal sign, and say what commas mean."""
        cells = [cell for _, row in sample for cell in row]
        sign = decimal_sign(cells, grouping=self.commas_may_group)
        commas = decimal_commas(cells)
        if self.place == "row":  # of a sheet, where numbers have points and only text has commas
            for i, text in self._read_sheet.commas.items():
                if i in self._kept:
                    name = self.columns[self._kept.index(i)]
                    self.notes.append(
                        f"Column {name!r} has decimal commas: {text} is {text.replace(',', '.')}."
                    )
            sign = "."
        if sign == ",":
            self.notes.append(f"Decimal comma: {commas[0]} is {commas[0].replace(',', '.')}.")
            if found := grouped_by_points(cells):
                self.notes.append(
                    f"Points group digits: {found[0]} is {found[0].replace('.', '')}."
                )
        elif grouped := commas_in_groups(commas):
            self.notes.append(
                f"Commas group digits: {grouped[0]} is {grouped[0].replace(',', '')}."
            )
        self.decimal = sign or "."

    @property
    def commas_may_group(self) -> bool:
        """Whether 1,234 may be a thousand here, and not a number with three decimals."""
        semicolons = self.place == "line" and self.separator == ";"
        return not (self._decimal_comma or semicolons)

    # -- text --------------------------------------------------------------------------------

    def _habits(self) -> tuple[str, str]:
        """Encoding and separator of a text file."""
        with self.path.open("rb") as file:
            start = file.read(_SAMPLE)
        encoding = next((name for mark, name in _MARKS if start.startswith(mark)), None)
        if encoding is None and start[1:400:2].count(0) > len(start[1:400:2]) // 2:
            encoding = "utf-16-le"
        elif encoding is None and start[:400:2].count(0) > len(start[:400:2]) // 2 > 0:
            encoding = "utf-16-be"
        elif encoding is None:
            encoding = "utf-8" if self._is_utf8() else "cp1252"
        if not encoding.startswith("utf-8"):
            self.notes.append(f"The text is {encoding.upper()}.")
        text = start.decode(encoding, errors="replace")
        lines = text.splitlines()[:_SAMPLE_ROWS]
        # a title above the table has no separators
        cut = [line for line in lines if any(one in line for one in SEPARATORS)]
        separator = find_separator(cut)
        if separator != ",":
            self.notes.append(f"Columns are separated by {SEPARATORS[separator]}.")
        return encoding, separator

    def _is_utf8(self) -> bool:
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.path.open("rb") as file:
            try:
                while block := file.read(1 << 20):
                    decoder.decode(block)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return False
        return True

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every record, from the first that is not blank."""
        with self.path.open(newline="", encoding=self.encoding, errors="strict") as file:
            yield from self._parse(file)

    def _parse(self, file: IO[str]) -> Iterator[tuple[int, list[str]]]:
        lines = Lines(file)
        reader = csv.reader(lines, delimiter=self.separator, strict=True)
        seen, line = False, 1
        try:
            for row in reader:
                if not seen:
                    seen = any(cell.strip() for cell in row)
                if seen:
                    yield line, row
                line = reader.line_num + 1
                lines.next_record()
        except csv.Error as error:
            long = lines.long_field(self.separator)
            if long is None:
                words = _OPEN_QUOTE if _ABOUT_QUOTES.search(str(error)) else error
                raise ValueError(f"{self.path}, line {line}: {words}") from error
            raise ValueError(
                f"{self.path}, line {line}, column {long + 1}: more than {longest_field():,} "
                'characters in one field. Is a quotation mark (") open?'
            ) from error
        except UnicodeError as error:
            raise ValueError(f"{self.path}, line {line}: {error}") from error

    # -- Excel -------------------------------------------------------------------------------

    @cached_property
    def _read_sheet(self) -> Sheet:
        found = read_sheet(self.path, self._sheet_name, decimal_comma=self._decimal_comma)
        if found.others and self._sheet_name is None:
            others = ", ".join(map(repr, found.others))
            self.notes.append(
                f"The first sheet, {found.name!r}, is read; not {others} (--sheet for another)."
            )
        return found

    def _sheet(self) -> Iterator[tuple[int, list[str]]]:
        seen = False
        for number, row in enumerate(self._read_sheet.cells.iter_rows(), 1):
            seen = seen or any(cell.strip() for cell in row)
            if seen:
                yield number, list(row)
