"""What can still be read of a damaged study."""

import contextlib
import io
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from noregret.spaces import Box, Domain
from noregret.state import load
from noregret.study.errors import DamagedError
from noregret.study.sql import TRIAL_COLUMNS
from noregret.study.tables import from_bytes, trials_frame


@dataclass(frozen=True)
class Salvaged:
    """The trials that could be read, and what could not.

    Attributes
    ----------
    trials
        As :meth:`noregret.Study.trials` gives them; names only where those can be read.
    lost
        Numbers of trials between the first and the last known that could not be read.
    problems
        What SQLite says about the file, in its words.
    """

    trials: pl.DataFrame
    lost: list[int]
    problems: list[str]


def salvage(path: Path) -> Salvaged:
    """Read every trial that can be read, in whatever state the file is; nothing is changed."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no study at {path}")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        try:
            connection.execute("SELECT trial FROM trials LIMIT 1")
        except sqlite3.DatabaseError as error:
            raise DamagedError(
                f"{path}: its first page, which says where everything is, cannot be read "
                f"({error}). Nothing can be saved by this program."
            ) from error
        last = _last_trial(connection)
        rows, lost = _read(connection, 0, last)
        domain, names = None, None
        with contextlib.suppress(sqlite3.DatabaseError, ValueError, pl.exceptions.PolarsError):
            domain = _box(connection)
        with contextlib.suppress(sqlite3.DatabaseError, ValueError, pl.exceptions.PolarsError):
            names = _names(connection)
        try:
            found = connection.execute("PRAGMA quick_check(10)").fetchall()
            problems = [str(row[0]) for row in found if row[0] != "ok"]
        except sqlite3.DatabaseError as error:
            problems = [str(error)]
    finally:
        connection.close()
    return Salvaged(trials_frame(rows, domain, names), lost, problems)


def _last_trial(connection: sqlite3.Connection) -> int:
    """The largest trial number that any readable page knows of, −1 for none."""
    known = [-1]
    for query in ("SELECT max(trial) FROM trials", "SELECT trial FROM trials ORDER BY asked DESC"):
        try:
            row = connection.execute(query).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row is not None and row[0] is not None:
            known.append(int(row[0]))
    if known == [-1]:  # the right edge of the table is gone: feel for it
        known += [p for p in range(1 << 16) if _read_span(connection, p, p)]
    return max(known)


def _read(
    connection: sqlite3.Connection, first: int, last: int
) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Rows of trials first..last, by halving around what cannot be read."""
    if first > last:
        return [], []
    rows = _read_span(connection, first, last)
    if rows is not None:
        there = {row[0] for row in rows}
        return rows, [number for number in range(first, last + 1) if number not in there]
    if first == last:
        return [], [first]
    middle = (first + last) // 2
    left, lost_left = _read(connection, first, middle)
    right, lost_right = _read(connection, middle + 1, last)
    return left + right, lost_left + lost_right


def _read_span(
    connection: sqlite3.Connection, first: int, last: int
) -> list[tuple[Any, ...]] | None:
    query = f"SELECT {TRIAL_COLUMNS} FROM trials WHERE trial BETWEEN ? AND ? ORDER BY trial"
    try:
        return connection.execute(query, (first, last)).fetchall()
    except sqlite3.DatabaseError:
        return None


def _blob(connection: sqlite3.Connection, name: str) -> bytes:
    query = "SELECT data FROM blobs WHERE name = ? ORDER BY part"
    return b"".join(row[0] for row in connection.execute(query, (name,)))


def _box(connection: sqlite3.Connection) -> Domain | None:
    """The box, whose points have names; a list is not needed here."""
    optimizer = load(io.BytesIO(_blob(connection, "start")), fresh=True)
    return optimizer.domain if isinstance(optimizer.domain, Box) else None


def _names(connection: sqlite3.Connection) -> pl.Series | None:
    table = from_bytes(_blob(connection, "table"))
    return table["name"] if "name" in table.columns else None
