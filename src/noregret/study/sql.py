"""Every SQL statement of the package: a study's tables, and the table of its lock file.

*Operations* are everything that changed the optimiser, in order. *Trials* say which operation asked
for them and which one ended them. A *snapshot* is the optimiser after an operation: the optimiser
of a study is its last snapshot plus the operations after it.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any, Protocol

from noregret.study.rows import TRIAL_COLUMNS, Event, Holder, Operation, Packed, Trial

#: mark a file as a study, and number its layout
APPLICATION, FORMAT = 0x6E6F7265, 2

BEGIN_READING = "BEGIN"
BEGIN_WRITING = "BEGIN IMMEDIATE"
COMMIT = "COMMIT"
ROLLBACK = "ROLLBACK"
#: readers go on while the writer writes; for new files
WRITE_AHEAD = "PRAGMA journal_mode = WAL"
#: a transaction is on disk when it has been committed
WRITE_THROUGH = "PRAGMA synchronous = FULL"
#: fails where the file is no database
TRY_TO_READ = "SELECT 1 FROM sqlite_master"

#: SQLite limits a value to 10⁹ bytes
_LARGEST_PART = 64 * 2**20
_SNAPSHOTS_KEPT = 2

_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blobs (
    name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (name, part));
CREATE TABLE operations (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, n INTEGER, time REAL NOT NULL, info TEXT);
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, id INTEGER NOT NULL, point BLOB,
    status TEXT NOT NULL CHECK (status IN ('pending', 'told', 'failed')),
    value REAL, reason TEXT, origin TEXT NOT NULL,
    asked_by INTEGER NOT NULL, done_by INTEGER,
    asked_at REAL NOT NULL, given_at REAL NOT NULL, times_given INTEGER NOT NULL, done_at REAL);
CREATE INDEX trials_asked ON trials (asked_by);
CREATE INDEX trials_done ON trials (done_by);
CREATE INDEX trials_pending ON trials (given_at) WHERE status = 'pending';
CREATE TABLE snapshots (operation INTEGER PRIMARY KEY, time REAL NOT NULL);
CREATE TABLE events (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, details TEXT NOT NULL)
"""

_READ_TRIALS = f"SELECT {', '.join(TRIAL_COLUMNS)} FROM trials"
_ADD_TRIAL = (
    f"INSERT INTO trials ({', '.join(TRIAL_COLUMNS)}) "
    f"VALUES ({', '.join('?' for _ in TRIAL_COLUMNS)})"
)


class Run(Protocol):
    """Runs one statement with its values and gives all rows of the result."""

    def __call__(self, statement: str, values: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
        """The rows."""


def on(connection: sqlite3.Connection) -> Run:
    """Run statements on a connection, with SQLite's own errors."""
    return lambda statement, values=(): connection.execute(statement, values).fetchall()


class Storage:
    """What a study's file holds. Whoever uses it sees to transactions.

    Parameters
    ----------
    run
        Runs one statement.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def _number(self, statement: str, values: Sequence[Any] = ()) -> int:
        """The only value of the only row."""
        return int(self._run(statement, values)[0][0])

    # -- the file as a whole -----------------------------------------------------------------

    def create(self, settings: dict[str, Any], blobs: dict[str, bytes]) -> None:
        """Make the tables of a new study, with these settings (JSON) and bytes."""
        for statement in _SCHEMA.split(";"):
            self._run(statement)
        for key, value in settings.items():
            self._run("INSERT INTO settings VALUES (?, ?)", (key, json.dumps(value)))
        for name, data in blobs.items():
            self.put_blob(name, data)
        # Last: without these marks the file is not a study.
        self._run(f"PRAGMA application_id = {APPLICATION}")
        self._run(f"PRAGMA user_version = {FORMAT}")
        self.add_event("created", {})

    def application(self) -> int:
        """:data:`APPLICATION` where the file is a study."""
        return self._number("PRAGMA application_id")

    def format(self) -> int:
        """The number of the file's layout."""
        return self._number("PRAGMA user_version")

    def tables(self) -> list[str]:
        """The names of the tables that the file's first page knows of."""
        return [row[0] for row in self._run("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def problems(self, most: int) -> list[str]:
        """What is wrong with the file in SQLite's words, so many at the most."""
        rows = self._run(f"PRAGMA quick_check({most})")
        return [str(row[0]) for row in rows if row[0] != "ok"]

    # -- settings, bytes, events -------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Everything that was decided when the study was created."""
        rows = self._run("SELECT key, value FROM settings")
        return {key: json.loads(value) for key, value in rows}

    def put_blob(self, name: str, data: bytes) -> None:
        """Store bytes of any length, in place of what had this name."""
        self._run("DELETE FROM blobs WHERE name = ?", (name,))
        for part, start in enumerate(range(0, max(len(data), 1), _LARGEST_PART)):
            values = (name, part, data[start : start + _LARGEST_PART])
            self._run("INSERT INTO blobs VALUES (?, ?, ?)", values)

    def get_blob(self, name: str) -> bytes | None:
        """The bytes of this name, if there are any."""
        parts = self._run("SELECT data FROM blobs WHERE name = ? ORDER BY part", (name,))
        return b"".join(part[0] for part in parts) if parts else None

    def add_event(self, kind: str, details: dict[str, Any]) -> None:
        """Note something worth reading later."""
        values = (time.time(), kind, json.dumps(details))
        self._run("INSERT INTO events (time, kind, details) VALUES (?, ?, ?)", values)

    def events(self) -> list[Event]:
        """All events in their order."""
        rows = self._run("SELECT time, kind, details FROM events ORDER BY number")
        return [Event(when, kind, json.loads(details)) for when, kind, details in rows]

    # -- operations --------------------------------------------------------------------------

    def add_operation(self, kind: str, n: int | None = None, info: Any = None) -> int:
        """Append to the log; the number of the new operation."""
        number = self.last_operation() + 1
        values = (number, kind, n, time.time(), None if info is None else json.dumps(info))
        self._run("INSERT INTO operations VALUES (?, ?, ?, ?, ?)", values)
        return number

    def last_operation(self) -> int:
        """The number of the last operation, 0 before the first."""
        return self._number("SELECT coalesce(max(number), 0) FROM operations")

    def operations(self, after: int = 0) -> list[Operation]:
        """The operations after this one, in their order."""
        return self._operations("WHERE number > ? ORDER BY number", (after,))

    def last_ask(self) -> Operation | None:
        """The last operation that asked for new trials."""
        found = self._operations("WHERE kind = 'ask' ORDER BY number DESC LIMIT 1")
        return found[0] if found else None

    def last_best_noted(self) -> int:
        """How many answers there were when the best choice was last noted with an ask."""
        return self._number(
            "SELECT coalesce(max(json_extract(info, '$.best.t')), 0) FROM operations "
            "WHERE kind = 'ask'"
        )

    def _operations(self, which: str, values: Sequence[Any] = ()) -> list[Operation]:
        rows = self._run(f"SELECT number, kind, n, time, info FROM operations {which}", values)
        return [
            Operation(number, kind, n, when, None if info is None else json.loads(info))
            for number, kind, n, when, info in rows
        ]

    # -- trials ------------------------------------------------------------------------------

    def add_trials(
        self,
        operation: int,
        choices: Iterable[Packed],
        origin: str,
        values: Sequence[float] | None = None,
    ) -> list[int]:
        """New trials of these choices: told where values are given, else pending."""
        first = self._number("SELECT coalesce(max(number) + 1, 0) FROM trials")
        now = time.time()
        numbers = []
        for number, (id_, point) in enumerate(choices, first):
            told = values is not None
            row = Trial(
                number=number,
                id=id_,
                point=point,
                status="told" if told else "pending",
                value=None if values is None else values[number - first],
                reason=None,
                origin=origin,
                asked_by=operation,
                done_by=operation if told else None,
                asked_at=now,
                given_at=now,
                times_given=1,
                done_at=now if told else None,
            )
            self._run(_ADD_TRIAL, astuple(row))
            numbers.append(number)
        return numbers

    def end_trial(
        self, operation: int, number: int, value: float | None, reason: str | None
    ) -> None:
        """A trial has been told a value, or has failed for a reason."""
        status = "told" if reason is None else "failed"
        self._run(
            "UPDATE trials SET status = ?, value = ?, reason = ?, done_by = ?, done_at = ? "
            "WHERE number = ?",
            (status, value, reason, operation, time.time(), number),
        )

    def reassign_trial(self, number: int) -> None:
        """A pending trial has been given to somebody else."""
        self._run(
            "UPDATE trials SET times_given = times_given + 1, given_at = ? WHERE number = ?",
            (time.time(), number),
        )

    def trial(self, number: int) -> Trial | None:
        """The trial of this number, if there is one."""
        found = self._trials("WHERE number = ?", (number,))
        return found[0] if found else None

    def trials(self) -> list[Trial]:
        """All trials in their order."""
        return self._trials("ORDER BY number")

    def trials_asked_by(self, operation: int) -> list[Trial]:
        """The trials that an operation asked for, in their order."""
        return self._trials("WHERE asked_by = ? ORDER BY number", (operation,))

    def trials_done_by(self, operation: int) -> list[Trial]:
        """The trials that an operation ended, in their order."""
        return self._trials("WHERE done_by = ? ORDER BY number", (operation,))

    def told_trials(self) -> list[Trial]:
        """The trials with a value, in the order in which the values came."""
        return self._trials("WHERE status = 'told' ORDER BY done_by, number")

    def pending_trials(self) -> list[Trial]:
        """The trials without an answer, in their order."""
        return self._trials("WHERE status = 'pending' ORDER BY number")

    def overdue_trials(self, given_before: float) -> list[Trial]:
        """Pending trials that were given to somebody before this time, the oldest first.

        Trials of a run are left out: the run watches over them itself.
        """
        return self._trials(
            "WHERE status = 'pending' AND origin != 'run' AND given_at < ? "
            "ORDER BY given_at, number",
            (given_before,),
        )

    def trials_between(self, first: int, last: int) -> list[Trial]:
        """The trials of these numbers, both ends included."""
        return self._trials("WHERE number BETWEEN ? AND ? ORDER BY number", (first, last))

    def _trials(self, which: str, values: Sequence[Any] = ()) -> list[Trial]:
        return [Trial(*row) for row in self._run(f"{_READ_TRIALS} {which}", values)]

    def largest_number(self) -> int:
        """The largest number of a trial by the table itself, −1 where there is none."""
        return self._number("SELECT coalesce(max(number), -1) FROM trials")

    def largest_number_by_index(self) -> int:
        """The same by an index, which may be readable where the table is not."""
        rows = self._run("SELECT number FROM trials ORDER BY asked_by DESC, number DESC LIMIT 1")
        return int(rows[0][0]) if rows else -1

    def count_by_status(self) -> dict[str, int]:
        """How many trials are pending, told and failed."""
        rows = self._run("SELECT status, count(*) FROM trials GROUP BY status")
        return dict.fromkeys(("pending", "told", "failed"), 0) | dict(rows)

    def count_history(self) -> int:
        """How many trials are answers that nobody asked for."""
        return self._number("SELECT count(*) FROM trials WHERE origin = 'history'")

    # -- snapshots ---------------------------------------------------------------------------

    def put_snapshot(self, operation: int, data: bytes) -> None:
        """Keep the optimiser as it is after this operation; older snapshots make room."""
        values = (operation, time.time())
        self._run("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", values)
        self.put_blob(_snapshot_name(operation), data)
        for number in self.snapshots()[_SNAPSHOTS_KEPT:]:
            self._run("DELETE FROM snapshots WHERE operation = ?", (number,))
            self._run("DELETE FROM blobs WHERE name = ?", (_snapshot_name(number),))

    def snapshots(self) -> list[int]:
        """Numbers of the operations with a snapshot, the latest first."""
        rows = self._run("SELECT operation FROM snapshots ORDER BY operation DESC")
        return [int(row[0]) for row in rows]

    def get_snapshot(self, operation: int) -> bytes:
        """The optimiser after this operation; empty where it is lost."""
        return self.get_blob(_snapshot_name(operation)) or b""


class HolderTable:
    """The table of a lock file: one row that says who holds the lock."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def write(self, holder: Holder) -> None:
        """Put this holder in place of any other."""
        self._run("CREATE TABLE IF NOT EXISTS holder (token TEXT, about TEXT)")
        self._run("DELETE FROM holder")
        values = (holder.token, json.dumps(holder.about))
        self._run("INSERT INTO holder VALUES (?, ?)", values)

    def read(self) -> Holder | None:
        """The holder, if there is one."""
        rows = self._run("SELECT token, about FROM holder")
        return Holder(rows[0][0], json.loads(rows[0][1])) if rows else None


def _snapshot_name(operation: int) -> str:
    return f"snapshot/{operation}"
