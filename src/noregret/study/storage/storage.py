"""What a study's file holds: settings, bytes, events, operations, trials and snapshots.

Everything written gets a checksum, and everything read is compared with it.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, Protocol

from noregret._json import dumps
from noregret.study.errors import DamagedError
from noregret.study.storage import sql
from noregret.study.storage.checksums import (
    broken_link,
    bytes_sum,
    changed_trials,
    row_sum,
    trial_sums,
    trials_in_words,
)
from noregret.study.storage.rows import Event, Head, Operation
from noregret.study.trials import Packed, Trial, new_trials

_LARGEST_PART = 64 * 2**20  # SQLite limits a value to 10⁹ bytes
_SNAPSHOT, _SNAPSHOTS_KEPT = "snapshot/", 2
_CHUNK = 20_000  # trials read at once

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
        for statement in sql.CREATE_TABLES:
            self._run(statement)
        for key, value in settings.items():
            text = dumps(value)
            self._run(sql.ADD_SETTING, (key, text, row_sum(key, text)))
        for name, data in blobs.items():
            self.put_blob(name, data)
        self._set_head(Head())
        self.add_event("created", {})
        for statement in sql.MARK:  # last: without these marks the file is not a study
            self._run(statement)

    def marks(self) -> tuple[int, int]:
        """:data:`sql.APPLICATION` if the file is a study, and the number of its layout."""
        application, layout = (self._run(statement)[0][0] for statement in sql.READ_MARKS)
        return application, layout

    def foreign(self) -> list[str]:
        """Tables and indices that are not those of a study, views and triggers."""
        rows = self._run(sql.READ_OBJECTS)
        return [f"{kind} {name}" for kind, name in rows if (kind, name) not in sql.OBJECTS]

    def problems(self) -> list[str]:
        """What SQLite finds wrong with the tables of the log."""
        found = [row for statement in sql.QUICK_CHECKS for row in self._run(statement)]
        return [str(row[0]) for row in found if row[0] != "ok"]

    def check_ends(self) -> None:
        """Check that log and trials end where the head says."""
        head = self.head()
        last = self._run(sql.READ_LAST_OPERATION)[0][0]
        count = self._run(sql.COUNT_TRIALS)[0][0]
        if (last, count) != (head.operation, head.trials):
            raise self._damaged(
                f"{last} operations and {count} trials are there instead of {head.operation} and "
                f"{head.trials}"
            )

    def head(self) -> Head:
        """Where log and trials end."""
        rows = self._run(sql.READ_HEAD)
        if len(rows) != 1 or row_sum(*rows[0][:-1]) != rows[0][-1]:
            raise self._damaged("the row that says where the log ends has changed")
        return Head(*rows[0][:-1])

    def _set_head(self, head: Head) -> None:
        values = astuple(head)
        self._run(sql.WRITE_HEAD, (*values, row_sum(*values)))

    # -- settings, bytes, events -------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Everything that was decided when the study was created."""
        rows = self._run(sql.READ_SETTINGS)
        for key, value, stored in rows:
            if row_sum(key, value) != stored:
                raise self._damaged(f"the setting {key!r} has changed")
        return {key: json.loads(value) for key, value, _ in rows}

    def put_blob(self, name: str, data: bytes) -> None:
        """Store bytes of any length; they replace what had this name."""
        self._run(sql.DELETE_BLOB, (name,))
        for part, start in enumerate(range(0, max(len(data), 1), _LARGEST_PART)):
            piece = data[start : start + _LARGEST_PART]
            self._run(sql.ADD_BLOB_PART, (name, part, piece, bytes_sum(name, part, piece)))

    def get_blob(self, name: str) -> bytes | None:
        """The bytes of this name, if there are any."""
        parts = self._run(sql.READ_BLOB, (name,))
        for i, (part, data, stored) in enumerate(parts):
            if part != i or bytes_sum(name, part, data) != stored:
                raise self._damaged(f"the bytes called {name!r} have changed")
        return b"".join(part[1] for part in parts) if parts else None

    def add_event(self, kind: str, details: dict[str, Any]) -> None:
        """Note something worth reading later."""
        values = (time.time(), kind, dumps(details))
        self._run(sql.ADD_EVENT, (*values, row_sum(*values)))

    def events(self) -> list[Event]:
        """All events in their order."""
        rows = self._run(sql.READ_EVENTS)
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
        self._run(sql.ADD_OPERATION, (*values, chain))
        noted = ((info or {}).get("best") or {}).get("t", head.noted)
        self._set_head(replace(head, operation=values[0], chain=chain, noted=noted))
        return values[0]

    def operations(self, after: int = 0) -> list[Operation]:
        """The operations after this one, in their order."""
        with self._reading():
            found = self._operations(sql.READ_OPERATIONS_AFTER, (after,))
            if (found[-1].number if found else after) != self.head().operation:
                raise self._damaged("the log ends too early")
        return found

    def last_ask(self) -> Operation | None:
        """The last operation that asked for new trials."""
        found = self._operations(sql.READ_LAST_ASK)
        return found[0] if found else None

    def chain(self, operation: int) -> int | None:
        """The running checksum after an operation; ``None`` if it is not in the log."""
        if operation == 0:
            return 0
        rows = self._run(sql.READ_CHAIN, (operation,))
        return int(rows[0][0]) if rows else None

    def _operations(self, statement: str, values: Sequence[Any] = ()) -> list[Operation]:
        """A run of operations without gaps."""
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
        self._run_many(sql.ADD_TRIAL, _with_sums(rows))
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
        self._run_many(sql.CHANGE_TRIAL, [(*rest, number) for number, *rest in rows])

    def find_trials(self, numbers: Sequence[int]) -> list[Trial]:
        """The trials with these numbers, as far as they exist, in this order."""
        found: dict[int, Trial] = {}
        count = self.head().trials
        known = [number for number in numbers if 0 <= number < count]
        for start in range(0, len(known), 500):
            some = known[start : start + 500]
            read = self._trials(sql.read_trials(len(some)), some)
            found |= {trial.number: trial for trial in read}
        return [found[number] for number in numbers if number in found]

    def trial_chunks(self) -> Iterator[list[Row]]:
        """The columns of all trials in their order, some thousand trials at a time."""
        count = self.head().trials
        for first in range(0, count, _CHUNK):
            columns = self._columns(sql.READ_TRIALS_FROM, (first, _CHUNK))
            expected = range(first, min(first + _CHUNK, count))
            found = columns[0] if columns else ()
            if found != tuple(expected):
                missing = sorted(set(expected) - set(found))
                raise self._damaged(f"{trials_in_words(missing)} no longer there")
            yield columns

    def trials(self) -> Iterator[Trial]:
        """All trials in their order."""
        for columns in self.trial_chunks():
            yield from (Trial(*row) for row in zip(*columns, strict=True))

    def trials_asked_by(self, operation: int) -> list[Trial]:
        """The trials that an operation asked for, in their order."""
        return self._trials(sql.READ_TRIALS_ASKED_BY, (operation,))

    def trials_done_by(self, operation: int) -> list[Trial]:
        """The trials that an operation ended, in their order."""
        return self._trials(sql.READ_TRIALS_DONE_BY, (operation,))

    def pending_trials(self) -> list[Trial]:
        """The trials without an answer, in their order."""
        return self._counted("pending", sql.READ_PENDING_TRIALS)

    def failed_trials(self) -> list[Trial]:
        """The trials that failed, in the order in which they did."""
        return self._counted("failed", sql.READ_FAILED_TRIALS)

    def _counted(self, status: str, statement: str) -> list[Trial]:
        """The trials of a status: as many as the head says."""
        with self._reading():
            found = self._trials(statement)
            missing = getattr(self.head(), status) - len(found)
        if missing:
            raise self._damaged(f"{missing} {status} trials are missing")
        return found

    def overdue_trials(self, given_before: float) -> list[Trial]:
        """Pending trials that were given to a worker before this time, the oldest first.

        Trials of a run are left out: the run watches over them itself.
        """
        return self._trials(sql.READ_OVERDUE_TRIALS, (given_before,))

    def _trials(self, statement: str, values: Sequence[Any] = ()) -> list[Trial]:
        return [Trial(*row) for row in zip(*self._columns(statement, values), strict=True)]

    def _columns(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        columns = list(zip(*self._run(statement, values), strict=True))
        changed = changed_trials(columns)
        if changed:
            raise self._damaged(
                f"{trials_in_words([columns[0][i] for i in changed])} not as written"
            )
        return columns[:-1]

    # -- snapshots ---------------------------------------------------------------------------

    def put_snapshot(self, operation: int, data: bytes) -> None:
        """Store the optimiser after this operation; all but the latest snapshots are deleted."""
        self.put_blob(f"{_SNAPSHOT}{operation}/{self.chain(operation)}", data)
        kept = {name for _, name in self._snapshots()[:_SNAPSHOTS_KEPT]}
        for name in self._snapshot_names() - kept:
            self._run(sql.DELETE_BLOB, (name,))

    def snapshots(self) -> list[int]:
        """Numbers of the operations with a snapshot, the latest first."""
        return [number for number, _ in self._snapshots()]

    def _snapshots(self) -> list[tuple[int, str]]:
        """Operations of the log with a snapshot, and the name of that snapshot."""
        found = []
        for name in self._snapshot_names():
            number, _, chain = name[len(_SNAPSHOT) :].partition("/")
            if number.isdecimal() and str(self.chain(int(number))) == chain:
                found.append((int(number), name))
        return sorted(found, reverse=True)

    def _snapshot_names(self) -> set[str]:
        """The names of all snapshots, also of those that do not belong to the log."""
        return {name for (name,) in self._run(sql.READ_BLOB_NAMES, (f"{_SNAPSHOT}%",))}

    def get_snapshot(self, operation: int) -> bytes:
        """The optimiser after this operation; empty if it is lost."""
        return self.get_blob(f"{_SNAPSHOT}{operation}/{self.chain(operation)}") or b""


def _with_sums(rows: Sequence[Row]) -> list[Row]:
    """Rows of trials, each with its checksum at the end."""
    sums = trial_sums(list(zip(*rows, strict=True))).tolist() if rows else []
    return [(*row, one) for row, one in zip(rows, sums, strict=True)]
