"""Limits on what a file may put into memory: archives that grow when unpacked, endless text."""

import copy
import csv
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

#: bytes that the parts of a spreadsheet may have together once they are unpacked
LARGEST_SHEET = 1 << 30
#: a Parquet file that needs more bytes than this, and this many times its size, is refused
LARGEST_PARQUET, MOST_SWOLLEN = 1 << 32, 1000
#: characters of one record of text
LONGEST_RECORD = 1 << 24

_BLOCK = 1 << 20
_PARQUET = b"PAR1"


# -- text ------------------------------------------------------------------------------------


class Lines:
    """The lines of a text file for ``csv.reader``; a record that is too long is refused.

    Parameters
    ----------
    file
        Open for text.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        #: the lines of the record that is being read
        self.record: list[str] = []
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(LONGEST_RECORD + 1):
            self.record.append(line)
            self._size += len(line)
            if self._size > LONGEST_RECORD:
                raise csv.Error(f"more than {LONGEST_RECORD:,} characters in one record")
            yield line

    def next_record(self) -> None:
        """Note that the record is complete."""
        self.record, self._size = [], 0

    def long_field(self, separator: str) -> int | None:
        """Which field of the record, counted from 0, has more characters than a field may have."""
        column = length = 0
        quoted = False
        for one in "".join(self.record):
            if one == '"':
                quoted = not quoted
            elif one == separator and not quoted:
                column, length = column + 1, 0
                continue
            length += 1
            if length > longest_field():
                return column
        return None


def longest_field() -> int:
    """Characters that one field of text may have."""
    return csv.field_size_limit()


# -- spreadsheets ----------------------------------------------------------------------------


def check_archive(path: Path) -> None:
    """Refuse a spreadsheet whose parts are far larger once unpacked; other files are left alone.

    What an archive declares may be wrong, so its parts are unpacked here, a block at a time.
    """
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            declared = sum(part.file_size for part in parts)
            if declared <= LARGEST_SHEET:
                declared = sum(_unpacked(archive, part) for part in parts)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError) as error:
        raise ValueError(f"{path} cannot be read as a spreadsheet: {error}") from error
    if declared > LARGEST_SHEET:
        raise ValueError(
            f"{path} has {path.stat().st_size:,} bytes and needs {declared:,} or more once it is "
            f"unpacked; a spreadsheet may need {LARGEST_SHEET:,}. Save the sheet as CSV or Parquet"
        )


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """How many bytes a part really has, or more than a spreadsheet may have."""
    whole = copy.copy(part)
    whole.file_size = LARGEST_SHEET + 2 * _BLOCK  # else reading ends where the archive says
    size = 0
    with archive.open(whole) as file:
        while size <= LARGEST_SHEET and (block := file.read(_BLOCK)):
            size += len(block)
    return size


# -- Parquet ---------------------------------------------------------------------------------


def check_parquet(path: Path) -> None:
    """Refuse a Parquet file that would be far larger in memory, by the sizes that it declares."""
    size = path.stat().st_size
    rows, columns, declared = _declared(path)
    needed = max(declared, 8 * rows * columns)
    if needed > LARGEST_PARQUET and needed > MOST_SWOLLEN * size:
        raise ValueError(
            f"{path} has {size:,} bytes and declares {rows:,} rows, which need {needed:,} bytes: "
            f"{needed // size:,} times as many. More than {MOST_SWOLLEN:,} times are refused"
        )


def _declared(path: Path) -> tuple[int, int, int]:
    """Rows, columns, and bytes without compression, as the end of a Parquet file says."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(end - 8, 0))
            length, mark = struct.unpack("<I4s", file.read(8))
            if mark != _PARQUET or length > end - 8:
                raise ValueError("its end is not that of a Parquet file")
            file.seek(end - 8 - length)
            about = _Compact(file.read(length)).structure()
        groups = about.get(4, [])
        parts = [column.get(3, {}) for group in groups for column in group.get(1, [])]
        columns = max((len(group.get(1, [])) for group in groups), default=0)
        return int(about[3]), columns, sum(int(part.get(6, 0)) for part in parts)
    except (LookupError, TypeError, AttributeError, ValueError, struct.error) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error


class _Compact:
    """Reads Thrift's compact protocol, which Parquet files end with."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind, step = head & 0x0F, head >> 4
            number = number + step if step else self._signed()
            # A field that is true or false has its value in its type.
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > 20:
            raise ValueError("it is nested too deeply")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._take(8)
        if kind == 8:
            return self._take(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 0x0F, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.structure(depth + 1)
        raise ValueError(f"it has a value of the unknown type {kind}")

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, n: int) -> bytes:
        found = self._data[self._at : self._at + n]
        if len(found) < n:
            raise ValueError("it ends too early")
        self._at += n
        return found

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("it has a number that is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
