"""What runs SQL statements."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

#: a row of a table
Row = tuple[Any, ...]


class Database(Protocol):
    """Runs statements on a file."""

    path: Path

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> list[Row]:
        """Run one statement with its values; all rows of the result."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run one statement for each row of values."""

    def reading(self) -> AbstractContextManager[None]:
        """Until the block is left, statements read the file as it is at one moment."""


class On:
    """Runs statements on a connection with no other writer, with SQLite's own errors."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement with its values; all rows of the result."""
        return self._connection.execute(statement, values).fetchall()

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._connection.executemany(statement, rows)

    def reading(self) -> AbstractContextManager[None]:
        """Nothing to do: nobody else writes."""
        return nullcontext()
