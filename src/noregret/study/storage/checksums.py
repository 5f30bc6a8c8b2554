"""Checksums of rows, which find rows that are not as they were written."""

import zlib
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from noregret._checks import first_few
from noregret._types import Ints
from noregret.study.trials import TRIAL_COLUMNS

#: how many trials a message names
_NAMED = 10
_WHOLE = ("number", "id", "asked_by", "times_given")
_REAL = ("value", "done_by", "asked_at", "given_at", "done_at")  # None if there is none
_TEXT = ("point", "status", "reason", "origin")
#: odd constants of the splitmix64 generator: multiplication by them can be undone
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def row_sum(*values: Any) -> int:
    """The checksum of one row of numbers, words and ``None``."""
    return _signed(blake2b(repr(values).encode(), digest_size=8).digest())


def bytes_sum(name: str, part: int, data: bytes) -> int:
    """The checksum of stored bytes."""
    return row_sum(name, part, zlib.crc32(data))


def trial_sums(columns: Sequence[Sequence[Any]]) -> Ints:
    """The checksums of n rows of the table of trials, given as columns of n fields.

    Every step can be undone, so that a row with one changed field never keeps its checksum.
    Raises ``TypeError`` or ``ValueError`` if a field has another type than its column.
    """
    named = dict(zip(TRIAL_COLUMNS, columns, strict=False))
    total = np.zeros(len(named["number"]), dtype=np.uint64)
    for name in _WHOLE:
        total = _mixed(total, np.array(named[name], dtype=np.int64))
    for name in _REAL:
        # SQLite does not keep the sign of zero.
        total = _mixed(total, np.array(named[name], dtype=np.float64) + 0.0)
    for name in _TEXT:
        total = _mixed(total, np.array(_text_sums(named[name]), dtype=np.int64))
    return total.view(np.int64)


def changed_trials(columns: Sequence[Sequence[Any]]) -> list[int]:
    """Positions of the rows whose last field is not the checksum of the others."""
    if not columns:
        return []
    try:
        stored = np.array(columns[-1], dtype=np.int64)
        return [int(i) for i in np.flatnonzero(trial_sums(columns) != stored)]
    except (TypeError, ValueError, OverflowError):
        n = len(columns[-1])
        if n == 1:
            return [0]
        return [i for i in range(n) if changed_trials([column[i : i + 1] for column in columns])]


def broken_link(operations: Sequence[Sequence[Any]], chain: int | None) -> int | None:
    """The first operation that is missing, or whose last field is not the running checksum.

    ``chain`` is the running checksum before the first of these rows.
    """
    for number, row in enumerate(operations, operations[0][0] if operations else 0):
        if row[0] != number or row_sum(chain, *row[:-1]) != row[-1]:
            return number
        chain = row[-1]
    return None


def trials_in_words(numbers: Sequence[Any]) -> str:
    """Trials in words, the first few of them."""
    listed = first_few(numbers, _NAMED)
    return f"trial {listed} is" if len(numbers) == 1 else f"trials {listed} are"


def _mixed(total: Any, values: Any) -> Any:
    total = total ^ values.view(np.uint64)
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        total = (total ^ (total >> np.uint64(shift))) * np.uint64(factor)
    return total ^ (total >> np.uint64(31))


def _text_sums(column: Sequence[Any]) -> list[int]:
    known = {entry: _text_sum(entry) for entry in set(column)}
    if len(known) == 1:
        return list(known.values()) * len(column)
    return [known[entry] for entry in column]


def _text_sum(entry: str | bytes | None) -> int:
    if entry is None:
        return -1
    if isinstance(entry, str):
        return zlib.crc32(b"t" + entry.encode())
    return zlib.crc32(b"b" + bytes(entry))


def _signed(digest: bytes) -> int:
    return int.from_bytes(digest, "little", signed=True)
