"""A study's tables: every SQL statement on them.

*Operations* are everything that changed the optimiser, in order. *Trials* say which operation asked
for them and which one ended them. A *snapshot* is the optimiser after an operation: the optimiser
of a study is its last snapshot plus the operations after it. Every row has a checksum, operations
have a running one, and the *head* says where log and trials end. Everything read is checked.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from functools import partial, reduce
from typing import Any

from noregret.study.database import Database, Row
from noregret.study.errors import DamagedError
from noregret.study.plain_json import dumps
from noregret.study.rows import (
    TRIAL_COLUMNS,
    Event,
    Head,
    Operation,
    Packed,
    Trial,
    new_trials,
)
from noregret.study.sums import (
    broken_link,
    bytes_sum,
    changed_trials,
    in_words,
    row_sum,
    trial_sums,
)

#: mark a file as a study, and number its layout
APPLICATION, FORMAT = 0x6E6F7265, 3

BEGIN_READING = "BEGIN"
BEGIN_WRITING = "BEGIN IMMEDIATE"
COMMIT = "COMMIT"
ROLLBACK = "ROLLBACK"
WRITE_AHEAD = "PRAGMA journal_mode = WAL"  # readers go on while the writer writes
WRITE_BACK = "PRAGMA wal_checkpoint(TRUNCATE)"  # the write-ahead log goes into the file
WRITE_THROUGH = "PRAGMA synchronous = FULL"  # on disk when it has been committed
READ_ONLY = "PRAGMA query_only = ON"  # statements that change something fail
DISTRUST = "PRAGMA trusted_schema = OFF"  # functions in a schema are not called
TRY_TO_READ = "SELECT 1 FROM sqlite_master"  # fails if the file is not a database

_LARGEST_PART = 64 * 2**20  # SQLite limits a value to 10⁹ bytes
_SNAPSHOT, _SNAPSHOTS_KEPT = "snapshot/", 2
_CHUNK = 20_000  # trials read at once

_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE blobs (
    name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (name, part));
CREATE TABLE operations (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, n INTEGER, time REAL NOT NULL, info TEXT,
    chain INTEGER NOT NULL);
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, id INTEGER NOT NULL, point BLOB,
    status TEXT NOT NULL CHECK (status IN ('pending', 'told', 'failed')),
    value REAL, reason TEXT, origin TEXT NOT NULL,
    asked_by INTEGER NOT NULL, done_by INTEGER,
    asked_at REAL NOT NULL, given_at REAL NOT NULL, times_given INTEGER NOT NULL, done_at REAL,
    sum INTEGER NOT NULL);
CREATE INDEX trials_asked ON trials (asked_by);
CREATE INDEX trials_done ON trials (done_by);
CREATE INDEX trials_pending ON trials (given_at) WHERE status = 'pending';
CREATE TABLE events (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, details TEXT NOT NULL,
    sum INTEGER NOT NULL);
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), operation INTEGER NOT NULL, chain INTEGER NOT NULL,
    pending INTEGER NOT NULL, told INTEGER NOT NULL, failed INTEGER NOT NULL,
    history INTEGER NOT NULL, noted INTEGER NOT NULL, sum INTEGER NOT NULL)
"""

_OBJECTS = {(kind.lower(), name) for kind, name in re.findall(r"CREATE (\w+) (\w+)", _SCHEMA)}
_COLUMNS = (*TRIAL_COLUMNS, "sum")
_READ_TRIALS = f"SELECT {', '.join(_COLUMNS)} FROM trials"
_ADD_TRIAL = f"INSERT INTO trials VALUES ({', '.join('?' for _ in _COLUMNS)})"
_CHANGE_TRIAL = (
    f"UPDATE trials SET {', '.join(f'{name} = ?' for name in _COLUMNS[1:])} WHERE number = ?"
)


class Storage:
    """What a study's file holds. Callers begin and end the transactions.

    Everything read is checked; :class:`~noregret.study.DamagedError` says what has changed.
    """

    def __init__(self, database: Database) -> None:
        self._run = database.execute
        self._run_many = database.executemany
        self._reading = database.reading
        self._damaged = partial(DamagedError.of, database.path)

    # -- the file as a whole -----------------------------------------------------------------

    def create(self, settings: dict[str, Any], blobs: dict[str, bytes]) -> None:
        """Make the tables of a new study, with these settings (JSON) and bytes."""
        for statement in _SCHEMA.split(";"):
            self._run(statement)
        for key, value in settings.items():
            text = dumps(value)
            self._run("INSERT INTO settings VALUES (?, ?, ?)", (key, text, row_sum(key, text)))
        for name, data in blobs.items():
            self.put_blob(name, data)
        self._set_head(Head())
        self.add_event("created", {})
        # Last: without these marks the file is not a study.
        self._run(f"PRAGMA application_id = {APPLICATION}")
        self._run(f"PRAGMA user_version = {FORMAT}")

    def marks(self) -> tuple[int, int]:
        """:data:`APPLICATION` if the file is a study, and the number of its layout."""
        application, layout = (self._run(f"PRAGMA {m}") for m in ("application_id", "user_version"))
        return application[0][0], layout[0][0]

    def foreign(self) -> list[str]:
        """Tables and indices that are not those of a study, views and triggers."""
        rows = self._run("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        return [f"{kind} {name}" for kind, name in rows if (kind, name) not in _OBJECTS]

    def problems(self, most: int) -> list[str]:
        """What SQLite finds wrong with the tables of the log, at most ``most`` problems."""
        tables = ("trials", "operations", "settings", "events")
        found = [row for table in tables for row in self._run(f"PRAGMA quick_check({table})")]
        return [str(row[0]) for row in found if row[0] != "ok"][:most]

    def check_ends(self) -> None:
        """Check that log and trials end where the head says."""
        head = self.head()
        last = self._run("SELECT coalesce(max(number), 0) FROM operations")[0][0]
        count = self._run("SELECT coalesce(max(number), -1) + 1 FROM trials")[0][0]
        if (last, count) != (head.operation, head.trials):
            raise self._damaged(
                f"{last} operations and {count} trials are there instead of {head.operation} and "
                f"{head.trials}"
            )

    def head(self) -> Head:
        """Where log and trials end."""
        names = "operation, chain, pending, told, failed, history, noted, sum"
        rows = self._run(f"SELECT {names} FROM head")
        if len(rows) != 1 or row_sum(*rows[0][:-1]) != rows[0][-1]:
            raise self._damaged("the row that says where the log ends has changed")
        return Head(*rows[0][:-1])

    def _set_head(self, head: Head) -> None:
        values = astuple(head)
        marks = ", ".join("?" for _ in (1, *values, 1))
        self._run(f"INSERT OR REPLACE INTO head VALUES ({marks})", (1, *values, row_sum(*values)))

    # -- settings, bytes, events -------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Everything that was decided when the study was created."""
        rows = self._run("SELECT key, value, sum FROM settings")
        for key, value, stored in rows:
            if row_sum(key, value) != stored:
                raise self._damaged(f"the setting {key!r} has changed")
        return {key: json.loads(value) for key, value, _ in rows}

    def put_blob(self, name: str, data: bytes) -> None:
        """Store bytes of any length; they replace what had this name."""
        self._run("DELETE FROM blobs WHERE name = ?", (name,))
        for part, start in enumerate(range(0, max(len(data), 1), _LARGEST_PART)):
            piece = data[start : start + _LARGEST_PART]
            values = (name, part, piece, bytes_sum(name, part, piece))
            self._run("INSERT INTO blobs VALUES (?, ?, ?, ?)", values)

    def get_blob(self, name: str) -> bytes | None:
        """The bytes of this name, if there are any."""
        parts = self._run("SELECT part, data, sum FROM blobs WHERE name = ? ORDER BY part", (name,))
        for i, (part, data, stored) in enumerate(parts):
            if part != i or bytes_sum(name, part, data) != stored:
                raise self._damaged(f"the bytes called {name!r} have changed")
        return b"".join(part[1] for part in parts) if parts else None

    def add_event(self, kind: str, details: dict[str, Any]) -> None:
        """Note something worth reading later."""
        values = (time.time(), kind, dumps(details))
        statement = "INSERT INTO events (time, kind, details, sum) VALUES (?, ?, ?, ?)"
        self._run(statement, (*values, row_sum(*values)))

    def events(self) -> list[Event]:
        """All events in their order."""
        rows = self._run("SELECT time, kind, details, sum FROM events ORDER BY number")
        for i, row in enumerate(rows):
            if row_sum(*row[:-1]) != row[-1]:
                raise self._damaged(f"event {i} has changed")
        return [Event(when, kind, json.loads(details)) for when, kind, details, _ in rows]

    # -- operations --------------------------------------------------------------------------

    def add_operation(self, kind: str, n: int | None = None, info: Any = None) -> int:
        """Append to the log; returns the number of the new operation."""
        head = self.head()
        text = None if info is None else dumps(info)
        values = (head.operation + 1, kind, n, time.time(), text)
        chain = row_sum(head.chain, *values)
        self._run("INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?)", (*values, chain))
        noted = ((info or {}).get("best") or {}).get("t", head.noted)
        self._set_head(replace(head, operation=values[0], chain=chain, noted=noted))
        return values[0]

    def operations(self, after: int = 0) -> list[Operation]:
        """The operations after this one, in their order."""
        with self._reading():
            found = self._operations("WHERE number > ? ORDER BY number", (after,))
            if (found[-1].number if found else after) != self.head().operation:
                raise self._damaged("the log ends too early")
        return found

    def last_ask(self) -> Operation | None:
        """The last operation that asked for new trials."""
        found = self._operations("WHERE kind = 'ask' ORDER BY number DESC LIMIT 1")
        return found[0] if found else None

    def chain(self, operation: int) -> int | None:
        """The running checksum after an operation; ``None`` if it is not in the log."""
        if operation == 0:
            return 0
        rows = self._run("SELECT chain FROM operations WHERE number = ?", (operation,))
        return int(rows[0][0]) if rows else None

    def _operations(self, which: str, values: Sequence[Any] = ()) -> list[Operation]:
        """A run of operations without gaps."""
        statement = f"SELECT number, kind, n, time, info, chain FROM operations {which}"
        rows = self._run(statement, values)
        broken = broken_link(rows, self.chain(rows[0][0] - 1) if rows else 0)
        if broken is not None:
            raise self._damaged(f"operation {broken} of the log is not as written")
        return [
            Operation(number, kind, n, when, None if info is None else json.loads(info))
            for number, kind, n, when, info, _ in rows
        ]

    # -- trials ------------------------------------------------------------------------------

    def add_trials(
        self,
        operation: int,
        choices: Iterable[Packed],
        origin: str,
        values: Sequence[float] | None = None,
    ) -> list[int]:
        """Add trials of these choices: told if values are given, else pending."""
        head, told = self.head(), values is not None
        made = new_trials(head.trials, choices, values, origin, operation, time.time())
        rows = [trial.row for trial in made]
        self._run_many(_ADD_TRIAL, _with_sums(rows))
        head = head.moved(None, "told" if told else "pending", len(rows))
        if origin == "history":
            head = replace(head, history=head.history + len(rows))
        self._set_head(head)
        return [row[0] for row in rows]

    def end_trials(
        self,
        operation: int,
        trials: Sequence[Trial],
        values: Sequence[float | None],
        reason: str | None,
    ) -> None:
        """These trials have been told values, or have failed for a reason."""
        now, status = time.time(), "told" if reason is None else "failed"
        end: dict[str, Any] = {"status": status, "reason": reason, "done_by": operation}
        changed = [
            replace(t, value=v, done_at=now, **end) for t, v in zip(trials, values, strict=True)
        ]
        self._change(changed)
        self._set_head(
            reduce(lambda head, one: head.moved(one.status, status), trials, self.head())
        )

    def reassign_trial(self, trial: Trial) -> None:
        """Note that a pending trial was given to another worker."""
        given = replace(trial, times_given=trial.times_given + 1, given_at=time.time())
        self._change([given])

    def _change(self, trials: Sequence[Trial]) -> None:
        rows = _with_sums([trial.row for trial in trials])
        self._run_many(_CHANGE_TRIAL, [(*rest, number) for number, *rest in rows])

    def find_trials(self, numbers: Sequence[int]) -> list[Trial]:
        """The trials with these numbers, as far as they exist, in this order."""
        found: dict[int, Trial] = {}
        count = self.head().trials
        known = [number for number in numbers if 0 <= number < count]
        for start in range(0, len(known), 500):
            some = known[start : start + 500]
            which = f"WHERE number IN ({', '.join('?' for _ in some)})"
            found |= {trial.number: trial for trial in self._trials(which, some)}
        return [found[number] for number in numbers if number in found]

    def trial_chunks(self) -> Iterator[list[Row]]:
        """The columns of all trials in their order, some thousand trials at a time."""
        count = self.head().trials
        for first in range(0, count, _CHUNK):
            columns = self._columns("WHERE number >= ? ORDER BY number LIMIT ?", (first, _CHUNK))
            expected = range(first, min(first + _CHUNK, count))
            found = columns[0] if columns else ()
            if found != tuple(expected):
                missing = sorted(set(expected) - set(found))
                raise self._damaged(f"{in_words(missing)} no longer there")
            yield columns

    def trials_asked_by(self, operation: int) -> list[Trial]:
        """The trials that an operation asked for, in their order."""
        return self._trials("WHERE asked_by = ? ORDER BY number", (operation,))

    def trials_done_by(self, operation: int) -> list[Trial]:
        """The trials that an operation ended, in their order."""
        return self._trials("WHERE done_by = ? ORDER BY number", (operation,))

    def pending_trials(self) -> list[Trial]:
        """The trials without an answer, in their order."""
        with self._reading():
            found = self._trials("WHERE status = 'pending' ORDER BY number")
            missing = self.head().pending - len(found)
        if missing:
            raise self._damaged(f"{missing} open trials are missing")
        return found

    def failed_trials(self) -> list[Trial]:
        """The trials that failed, in the order in which they did."""
        with self._reading():
            found = self._trials("WHERE status = 'failed' ORDER BY done_by, number")
            missing = self.head().failed - len(found)
        if missing:
            raise self._damaged(f"{missing} failed trials are missing")
        return found

    def overdue_trials(self, given_before: float) -> list[Trial]:
        """Pending trials that were given to a worker before this time, the oldest first.

        Trials of a run are left out: the run watches over them itself.
        """
        return self._trials(
            "WHERE status = 'pending' AND origin != 'run' AND given_at < ? "
            "ORDER BY given_at, number",
            (given_before,),
        )

    def _trials(self, which: str, values: Sequence[Any] = ()) -> list[Trial]:
        return [Trial(*row) for row in zip(*self._columns(which, values), strict=True)]

    def _columns(self, which: str, values: Sequence[Any] = ()) -> list[Row]:
        columns = list(zip(*self._run(f"{_READ_TRIALS} {which}", values), strict=True))
        changed = changed_trials(columns)
        if changed:
            raise self._damaged(f"{in_words([columns[0][i] for i in changed])} not as written")
        return columns[:-1]

    # -- snapshots ---------------------------------------------------------------------------

    def put_snapshot(self, operation: int, data: bytes) -> None:
        """Store the optimiser after this operation; all but the latest snapshots are deleted."""
        self.put_blob(f"{_SNAPSHOT}{operation}/{self.chain(operation)}", data)
        kept = [name for _, name in self._snapshots()[:_SNAPSHOTS_KEPT]]
        self._run(
            "DELETE FROM blobs WHERE name LIKE ? AND name NOT IN (?, ?)",
            (f"{_SNAPSHOT}%", *kept, *[""] * (2 - len(kept))),
        )

    def snapshots(self) -> list[int]:
        """Numbers of the operations with a snapshot, the latest first."""
        return [number for number, _ in self._snapshots()]

    def _snapshots(self) -> list[tuple[int, str]]:
        """Operations of the log with a snapshot, and the name of that snapshot."""
        rows = self._run("SELECT DISTINCT name FROM blobs WHERE name LIKE ?", (f"{_SNAPSHOT}%",))
        found = []
        for (name,) in rows:
            number, _, chain = name[len(_SNAPSHOT) :].partition("/")
            if number.isdecimal() and str(self.chain(int(number))) == chain:
                found.append((int(number), name))
        return sorted(found, reverse=True)

    def get_snapshot(self, operation: int) -> bytes:
        """The optimiser after this operation; empty if it is lost."""
        return self.get_blob(f"{_SNAPSHOT}{operation}/{self.chain(operation)}") or b""


def _with_sums(rows: Sequence[Row]) -> list[Row]:
    """Rows of trials, each with its checksum at the end."""
    sums = trial_sums(list(zip(*rows, strict=True))).tolist() if rows else []
    return [(*row, one) for row, one in zip(rows, sums, strict=True)]
