"""Checksums of rows: what was read is what was written, or the row is named."""

import zlib
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from noregret._types import Ints
from noregret.study.rows import TRIAL_COLUMNS

#: trials named in a message
_NAMED = 10
_WHOLE = ("number", "id", "asked_by", "times_given")
_REAL = ("value", "done_by", "asked_at", "given_at", "done_at")  # None where there is none
_TEXT = ("point", "status", "reason", "origin")
#: odd constants of the splitmix64 generator: multiplying by them loses nothing
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def row_sum(*values: Any) -> int:
    """The checksum of one row of numbers, words and ``None``."""
    return _signed(blake2b(repr(values).encode(), digest_size=8).digest())


def bytes_sum(name: str, part: int, data: bytes) -> int:
    """The checksum of stored bytes."""
    return row_sum(name, part, zlib.crc32(data))


def trial_sums(rows: Sequence[Sequence[Any]]) -> Ints:
    """The checksums of n rows of the table of trials, in the order of their columns.

    Every step can be undone, so that a row with one changed field never keeps its checksum.
    Raises ``TypeError`` or ``ValueError`` where a field has another type than its column.
    """
    total = np.zeros(len(rows), dtype=np.uint64)
    if not rows:
        return total.view(np.int64)
    fields = list(zip(*rows, strict=True))
    columns = {name: fields[i] for i, name in enumerate(TRIAL_COLUMNS)}
    for name in _WHOLE:
        total = _mixed(total, np.array(columns[name], dtype=np.int64))
    for name in _REAL:
        # SQLite keeps no sign of zero.
        total = _mixed(total, np.array(columns[name], dtype=np.float64) + 0.0)
    for name in _TEXT:
        total = _mixed(total, np.array(_text_sums(columns[name]), dtype=np.int64))
    return total.view(np.int64)


def changed_trials(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Positions of the rows whose last field is not the checksum of the others."""
    try:
        stored = np.array([row[-1] for row in rows], dtype=np.int64)
        return [int(i) for i in np.flatnonzero(trial_sums(rows) != stored)]
    except (TypeError, ValueError, OverflowError):
        if len(rows) == 1:
            return [0]
        return [i for i, row in enumerate(rows) if changed_trials([row])]


def broken_link(operations: Sequence[Sequence[Any]], chain: int | None) -> int | None:
    """The first operation that is missing, or whose last field is not the running checksum.

    ``chain`` is the running checksum before the first of these rows.
    """
    for number, row in enumerate(operations, operations[0][0] if operations else 0):
        if row[0] != number or row_sum(chain, *row[:-1]) != row[-1]:
            return number
        chain = row[-1]
    return None


def in_words(numbers: Sequence[Any]) -> str:
    """Trials in words, the first few of them."""
    more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    listed = ", ".join(str(number) for number in numbers[:_NAMED])
    return f"trial {listed} is" if len(numbers) == 1 else f"trials {listed}{more} are"


def _mixed(total: Any, values: Any) -> Any:
    total = total ^ values.view(np.uint64)
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        total = (total ^ (total >> np.uint64(shift))) * np.uint64(factor)
    return total ^ (total >> np.uint64(31))


def _text_sums(column: Sequence[Any]) -> list[int]:
    known: dict[Any, int] = {None: -1}
    for entry in column:
        if entry not in known:
            kind = b"t" if isinstance(entry, str) else b"b"
            known[entry] = zlib.crc32(kind + (entry.encode() if kind == b"t" else bytes(entry)))
    return [known[entry] for entry in column]


def _signed(digest: bytes) -> int:
    return int.from_bytes(digest, "little", signed=True)
