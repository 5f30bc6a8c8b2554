"""Rows of an SQLite file found by their bytes, in whatever state the file is.

No tree, no index and no page's list of its rows is trusted: every place that can be the start of a
row is tried, and checksums tell which ones are rows. The format is that of
https://www.sqlite.org/fileformat2.html, sections 1.6 (pages), 2.1 (rows) and 4 (write-ahead log).
"""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC = b"SQLite format 3\0"
_USUAL_SIZE = 4096
_LOG_MAGIC = (0x377F0682, 0x377F0683)
#: how many bytes integers of the serial types 1 to 6 have
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)
#: the longest row number that is looked for, in bytes of seven bits
_ROW_NUMBER = 5


class Pages:
    """The pages of a database file, with those of the write-ahead log beside it in their place."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        log = path.with_name(path.name + "-wal")
        log_data = log.read_bytes() if log.is_file() else b""
        size = int.from_bytes(self._data[16:18], "big")
        known = self._data.startswith(_MAGIC) and size >= 512 and size & (size - 1) == 0
        self._size = size if known else (65536 if size == 1 else _USUAL_SIZE)
        self._newer = dict(_committed(log_data, self._size))

    def __iter__(self) -> Iterator[bytes]:
        count = -(-len(self._data) // self._size)
        for number in range(1, max([count, *self._newer]) + 1):
            yield self.page(number)

    def page(self, number: int) -> bytes:
        """A page by its number, which starts at 1; short or empty if the file ends before."""
        if number in self._newer:
            return self._newer[number]
        return self._data[(number - 1) * self._size : number * self._size]

    def records(self, header: bytes) -> Iterator[tuple[list[int], list[Any]]]:
        """Everything that can be a row: the numbers it can have, and its values.

        ``header`` is a regular expression for the first bytes of a row: the length of its header
        and the types of its first columns.
        """
        pattern = re.compile(header, re.DOTALL)
        for page in self:
            start = 0
            while (found := pattern.search(page, start)) is not None:
                start = found.start() + 1
                try:
                    values = self._values(page, found.start())
                except (IndexError, ValueError, struct.error):
                    continue
                yield _numbers_before(page, found.start()), values

    def _values(self, page: bytes, start: int) -> list[Any]:
        length, at = _varint(page, start)
        types = []
        while at < start + length:
            kind, at = _varint(page, at)
            types.append(kind)
        if at != start + length or len(types) > 20:
            raise ValueError("no header of a row")
        size = length + sum(_width(kind) for kind in types)
        data = self._payload(page, start, size)
        values, at = [], length
        for kind in types:
            width = _width(kind)
            values.append(_value(kind, data[at : at + width]))
            at += width
        return values

    def _payload(self, page: bytes, start: int, size: int) -> bytes:
        """The bytes of a row, which may go on in other pages."""
        usable = self._size
        if size <= usable - 35:
            return _whole(page[start : start + size], size)
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        if local > usable - 35:
            local = least
        parts = [_whole(page[start : start + local], local)]
        following = int.from_bytes(page[start + local : start + local + 4], "big")
        missing = size - local
        if missing > len(self._data) + self._size * len(self._newer):
            raise ValueError("longer than the file")
        while missing > 0:
            if following == 0:
                raise ValueError("the row ends too early")
            more = self.page(following)
            part = _whole(more[4 : 4 + missing], min(missing, usable - 4))
            parts.append(part)
            missing -= len(part)
            following = int.from_bytes(more[:4], "big")
        return b"".join(parts)


def _committed(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Pages of the write-ahead log, up to the last transaction that was finished."""
    if len(log) < 32 or int.from_bytes(log[:4], "big") not in _LOG_MAGIC:
        return
    salts, waiting = log[16:24], []
    for start in range(32, len(log) - size - 23, size + 24):
        number, after = struct.unpack(">II", log[start : start + 8])
        if log[start + 8 : start + 16] != salts:
            return
        waiting.append((number, log[start + 24 : start + 24 + size]))
        if after:
            yield from waiting
            waiting = []


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer of variable length, as SQLite writes it, and where it ends."""
    value = 0
    for i in range(8):
        byte = data[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    return value << 8 | data[at + 8], at + 9


def _numbers_before(page: bytes, start: int) -> list[int]:
    """The numbers that end just before a place: one of them is the row's."""
    found = []
    for length in range(1, min(_ROW_NUMBER, start) + 1):
        if length > 1 and page[start - length] < 0x80:
            break
        number, end = _varint(page, start - length)
        if end == start:
            found.append(number)
    return found


def _width(kind: int) -> int:
    if kind < 7:
        return _WIDTHS[kind]
    if kind < 12:
        if kind > 9:
            raise ValueError("no type of a column")
        return 8 if kind == 7 else 0
    return (kind - 12) // 2


def _value(kind: int, data: bytes) -> Any:
    if kind == 0:
        return None
    if kind < 7:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        return struct.unpack(">d", data)[0]
    if kind < 10:
        return kind - 8
    return data.decode() if kind % 2 else data


def _whole(data: bytes, size: int) -> bytes:
    if len(data) < size:
        raise ValueError("the file ends inside a row")
    return data
