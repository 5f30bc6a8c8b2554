"""Tables as people have them: CSV with any separator and decimal sign, Excel sheets, Parquet.

Text is read as it stands: every cell of a CSV file or an Excel sheet is a string here, and
:mod:`noregret.spaces.cells` says what it means. Files are read a piece at a time.
"""

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from noregret._types import Ints
from noregret.spaces.cells import commas_in_groups, decimal_commas, decimal_sign
from noregret.spaces.limits import Lines, check_archive, check_parquet, longest_field

#: rows read at a time
PIECE = 1 << 16
#: separator and decimal sign are told from this many characters, and rows, of a file
_SAMPLE, _SAMPLE_ROWS = 1 << 18, 1000
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

TEXT = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


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

    def __init__(self, path: str | Path, *, decimal_comma: bool = False) -> None:
        self.path = Path(path)
        self._decimal_comma = decimal_comma
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        self.decimal = "."
        self.encoding, self.separator = "utf-8", ","
        self.notes: list[str] = []
        self.types: dict[str, pl.DataType] = {}
        self.place = "line"
        suffix = self.path.suffix.lower()
        if suffix in PARQUET:
            self.place = "row"
            check_parquet(self.path)
            self.types = self._parquet_types()
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
            yield from self._parquet_pieces()
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
        self._titles = _titles([row for _, row in first])
        (line, header), sample = first[self._titles], first[self._titles + 1 :]
        if self._titles:
            title = next(cell for cell in first[0][1] if cell.strip()).strip()
            self.notes.append(
                f"{self.place.capitalize()} {first[0][0]} ({title!r}) is a title: the names of "
                f"the columns are in {self.place} {line}."
            )
        self.columns, self._kept = self._names(header, sample)
        self.decimal = self._decimal_sign(sample)
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
        return words

    def _decimal_sign(self, sample: list[tuple[int, list[str]]]) -> str:
        cells = [cell for _, row in sample for cell in row]
        sign = decimal_sign(cells, grouping=self.commas_may_group)
        commas = decimal_commas(cells)
        if sign == ",":
            self.notes.append(f"Decimal comma: {commas[0]} is {commas[0].replace(',', '.')}.")
        elif grouped := commas_in_groups(commas):
            self.notes.append(
                f"Commas group digits: {grouped[0]} is {grouped[0].replace(',', '')}."
            )
        return sign or "."

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
        lines = [line for line in text.splitlines()[:_SAMPLE_ROWS] if line.strip()]
        # a title above the table has no separators
        cut = [line for line in lines if any(one in line for one in _SEPARATORS)]
        separator = _separator(cut or lines) if lines else ","
        if separator != ",":
            self.notes.append(f"Columns are separated by {_SEPARATORS[separator]}.")
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
        reader = csv.reader(lines, delimiter=self.separator)
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
                raise ValueError(f"{self.path}, line {line}: {error}") from error
            raise ValueError(
                f"{self.path}, line {line}, column {long + 1}: more than {longest_field():,} "
                'characters in one field. Is a quotation mark (") open?'
            ) from error
        except UnicodeError as error:
            raise ValueError(f"{self.path}, line {line}: {error}") from error

    # -- Excel -------------------------------------------------------------------------------

    @cached_property
    def _sheet_frame(self) -> pl.DataFrame:
        try:
            import fastexcel
        except ImportError as error:
            raise ValueError(
                f"{self.path} is a spreadsheet: reading it needs one more package, pip install "
                "'noregret[excel]'. Or save the sheet as CSV"
            ) from error
        check_archive(self.path)
        try:
            book = fastexcel.read_excel(self.path)
            sheet = book.load_sheet(0, header_row=None, dtypes="string")
            frame = pl.DataFrame(sheet)
        except fastexcel.FastExcelError as error:
            raise ValueError(f"{self.path} cannot be read as a spreadsheet: {error}") from error
        if len(book.sheet_names) > 1:
            others = ", ".join(map(repr, book.sheet_names[1:]))
            self.notes.append(f"The first sheet, {book.sheet_names[0]!r}, is read; not {others}.")
        return frame

    def _sheet(self) -> Iterator[tuple[int, list[str]]]:
        rows = self._sheet_frame.fill_null("").iter_rows()
        seen = False
        for number, row in enumerate(rows, 1):
            seen = seen or any(cell.strip() for cell in row)
            if seen:
                yield number, list(row)

    # -- Parquet -----------------------------------------------------------------------------

    def _parquet_types(self) -> dict[str, pl.DataType]:
        try:
            return dict(pl.read_parquet_schema(self.path))
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{self.path} cannot be read as Parquet: {error}") from error

    def _parquet_pieces(self) -> Iterator[Piece]:
        first = 1
        try:
            for frame in pl.scan_parquet(self.path).collect_batches(chunk_size=PIECE):
                yield Piece(frame, np.arange(first, first + len(frame)))
                first += len(frame)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{self.path} cannot be read as Parquet: {error}") from error


def _titles(rows: list[list[str]]) -> int:
    """How many rows stand above the names of the columns: a title in the first cell, blank rows."""
    filled = [[i for i, cell in enumerate(row) if cell.strip()] for row in rows]
    above = next((i for i, cells in enumerate(filled) if len(cells) > 1), 0)
    if any(cells not in ([], [0]) for cells in filled[:above]):
        return 0  # a first column without a name
    if any(re.fullmatch(r"[+-]?[\d.,]+%?", cell.strip()) for cell in rows[above]):
        return 0  # values, not names
    return above


def _separator(lines: list[str]) -> str:
    """The character that separates the cells of these lines.

    Lines are cut by each possible separator. The one is taken that gives the first line the most
    columns, and the other lines as many. A decimal comma does not occur in the first line, which
    holds names.
    """
    best, found = ",", (0.0, 0)
    for separator in _SEPARATORS:
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            continue
        width = len(rows[0])
        alike = sum(len(row) == width for row in rows) / len(rows)
        if width > 1 and (round(alike, 1), width) > found:
            best, found = separator, (round(alike, 1), width)
    return best
