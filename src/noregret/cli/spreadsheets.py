"""CSV that may be opened in a spreadsheet: text that would be run as a formula is marked.

A spreadsheet runs a cell that begins with one of ``= + - @``. Such text gets an apostrophe before
it, which spreadsheets take for "this is text", and which is taken off again when a file is read.
"""

import csv
import re
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

from noregret.cli.app import visible

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*%?")


def mark(text: str) -> str:
    """The text as it is written: with an apostrophe where a spreadsheet would run it."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def write_csv(file: IO[str], header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV; on a terminal control characters are written out."""
    show = visible if file is sys.stdout and file.isatty() else str
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([show(mark(name)) for name in header])
    for row in rows:
        cells = (show(mark(cell)) if isinstance(cell, str) else cell for cell in row)
        writer.writerow(list(cells))
