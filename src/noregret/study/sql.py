"""The file of a study: a log of questions and answers in SQLite, snapshots beside it.

*Operations* are everything that changed the optimiser, in order: ``ask`` (with its n), ``tell``,
``fail``, ``history`` (answers nobody had asked for) and ``rebuild`` (an answer was changed, and the
optimiser was told everything anew). *Trials* say which operation asked and which one ended them.
A snapshot is the optimiser after an operation; an optimiser is the last snapshot plus the
operations after it.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noregret.study.errors import DamagedError, FullError, StudyError
from noregret.study.lock import WriterLock

#: marks the file as a study; raised when the layout changes
APPLICATION, FORMAT = 0x6E6F7265, 1
#: SQLite limits a value to 10⁹ bytes
_PART = 64 * 2**20
_SNAPSHOTS_KEPT = 2

_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blobs (
    name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (name, part));
CREATE TABLE operations (
    operation INTEGER PRIMARY KEY, kind TEXT NOT NULL, n INTEGER, time REAL NOT NULL, info TEXT);
CREATE TABLE trials (
    trial INTEGER PRIMARY KEY, id INTEGER NOT NULL, point BLOB,
    status TEXT NOT NULL CHECK (status IN ('pending', 'told', 'failed')),
    value REAL, reason TEXT, origin TEXT NOT NULL,
    asked INTEGER NOT NULL, done INTEGER,
    asked_at REAL NOT NULL, given_at REAL NOT NULL, given INTEGER NOT NULL, done_at REAL);
CREATE INDEX trials_asked ON trials (asked);
CREATE INDEX trials_done ON trials (done);
CREATE INDEX trials_pending ON trials (given_at) WHERE status = 'pending';
CREATE TABLE snapshots (operation INTEGER PRIMARY KEY, time REAL NOT NULL);
CREATE TABLE events (
    event INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, details TEXT NOT NULL);
"""

TRIAL_COLUMNS = (
    "trial, id, point, status, value, reason, origin, asked, done, "
    "asked_at, given_at, given, done_at"
)


class Storage:
    """An open study file. Use :meth:`create` or :meth:`open`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._mutex = threading.RLock()

    @classmethod
    def create(cls, path: Path, settings: dict[str, Any], blobs: dict[str, bytes]) -> "Storage":
        """A new file with these settings (JSON) and blobs; an existing one is refused."""
        if path.exists():
            raise StudyError(f"{path} exists already: open it, or choose another name")
        if not path.absolute().parent.is_dir():
            raise StudyError(f"{path.absolute().parent} is not a folder")
        lock = WriterLock(path)
        try:
            storage = cls(path, _connect(path, write=True), lock)
            try:
                storage._connection.execute("PRAGMA journal_mode = WAL")
                with storage.transaction():
                    for statement in _SCHEMA.split(";"):
                        storage.execute(statement)
                    for key, value in settings.items():
                        storage.execute(
                            "INSERT INTO settings VALUES (?, ?)", (key, json.dumps(value))
                        )
                    for name, data in blobs.items():
                        storage.put_blob(name, data)
                    # Last: before this the file is not a study.
                    storage.execute(f"PRAGMA application_id = {APPLICATION}")
                    storage.execute(f"PRAGMA user_version = {FORMAT}")
                    storage.event("created", {})
            except BaseException:
                storage._connection.close()
                for suffix in ("", "-wal", "-shm"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
                raise
        except BaseException:
            lock.release()
            raise
        return storage

    @classmethod
    def open(cls, path: Path, *, write: bool) -> "Storage":
        """An existing file; the one writer holds its lock until :meth:`close`."""
        if not path.is_file():
            raise FileNotFoundError(f"there is no study at {path}")
        lock = WriterLock(path) if write else None
        try:
            connection = _connect(path, write=write)
            storage = cls(path, connection, lock)
            try:
                storage._check()
            except BaseException:
                connection.close()
                raise
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return storage

    def _check(self) -> None:
        application = self.one("PRAGMA application_id")[0]
        version = self.one("PRAGMA user_version")[0]
        if application != APPLICATION:
            raise DamagedError(f"{self.path} is an SQLite file, but not a noregret study")
        if version != FORMAT:
            raise StudyError(
                f"{self.path} has format {version}; this version of noregret reads format {FORMAT}"
            )
        if self.writable:
            found = self.one("PRAGMA quick_check(1)")[0]
            if found != "ok":
                raise _damaged(self.path, " ".join(found.split()))

    @property
    def writable(self) -> bool:
        """Whether this is the one writer."""
        return self._lock is not None

    def close(self) -> None:
        """Let go of the file; what was written is on disk already."""
        with self._mutex:
            self._connection.close()
            if self._lock is not None:
                self._lock.release()

    # -- SQL ---------------------------------------------------------------------------------

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """One statement; SQLite's errors in the study's words."""
        with self._errors():
            return self._connection.execute(sql, values)

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._mutex, self._errors():
            return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The first row of a query that has one."""
        with self._mutex, self._errors():
            row: tuple[Any, ...] = self._connection.execute(sql, values).fetchone()
            return row

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and on disk when the block has been left."""
        with self._mutex:
            self.execute("BEGIN IMMEDIATE" if self.writable else "BEGIN")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            words = str(error)
            if "full" in words or "disk I/O" in words:
                raise FullError(
                    f"{self.path} cannot be written ({words}): free some space and go on; "
                    "nothing of this call was stored, and nothing stored before is lost"
                ) from error
            if "malformed" in words:
                raise _damaged(self.path, words) from error
            raise StudyError(f"{self.path}: {words}") from error
        except sqlite3.ProgrammingError as error:
            raise StudyError(f"{self.path} has been closed: open it again") from error
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, str(error)) from error

    # -- settings, blobs, events -------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Everything that was decided when the study was created."""
        return {key: json.loads(v) for key, v in self.all("SELECT key, value FROM settings")}

    def put_blob(self, name: str, data: bytes) -> None:
        """Store bytes of any length, in place of what had this name."""
        self.execute("DELETE FROM blobs WHERE name = ?", (name,))
        for part, start in enumerate(range(0, max(len(data), 1), _PART)):
            values = (name, part, data[start : start + _PART])
            self.execute("INSERT INTO blobs VALUES (?, ?, ?)", values)

    def get_blob(self, name: str) -> bytes | None:
        """The bytes of this name, if there are any."""
        parts = self.all("SELECT data FROM blobs WHERE name = ? ORDER BY part", (name,))
        return b"".join(part[0] for part in parts) if parts else None

    def event(self, kind: str, details: dict[str, Any]) -> None:
        """Note something worth reading later."""
        values = (time.time(), kind, json.dumps(details))
        self.execute("INSERT INTO events (time, kind, details) VALUES (?, ?, ?)", values)

    # -- operations and trials ---------------------------------------------------------------

    def last_operation(self) -> int:
        """The number of the last operation, 0 before the first."""
        return int(self.one("SELECT coalesce(max(operation), 0) FROM operations")[0])

    def operation(self, kind: str, n: int | None = None, info: Any = None) -> int:
        """Append to the log; the number of the new operation."""
        cursor = self.execute(
            "INSERT INTO operations (operation, kind, n, time, info) VALUES (?, ?, ?, ?, ?)",
            (
                self.last_operation() + 1,
                kind,
                n,
                time.time(),
                None if info is None else json.dumps(info),
            ),
        )
        return int(cursor.lastrowid or 0)

    def add_trials(
        self,
        operation: int,
        places: Iterable[tuple[int, bytes | None]],
        origin: str,
        values: Sequence[float] | None = None,
    ) -> list[int]:
        """New trials at (id, point) places; pending, or told where values are given."""
        first = int(self.one("SELECT coalesce(max(trial) + 1, 0) FROM trials")[0])
        now = time.time()
        numbers = []
        for i, (id_, point) in enumerate(places):
            told = values is not None
            row = (
                first + i,
                id_,
                point,
                "told" if told else "pending",
                values[i] if values is not None else None,
                None,
                origin,
                operation,
                operation if told else None,
                now,
                now,
                1,
                now if told else None,
            )
            self.execute(
                f"INSERT INTO trials ({TRIAL_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", row
            )
            numbers.append(first + i)
        return numbers

    def finish(
        self, operation: int, trial: int, status: str, value: float | None, reason: str | None
    ) -> None:
        """A trial has been answered, or has failed."""
        self.execute(
            "UPDATE trials SET status = ?, value = ?, reason = ?, done = ?, done_at = ? "
            "WHERE trial = ?",
            (status, value, reason, operation, time.time(), trial),
        )

    def trials(self, where: str = "1", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of trials (``TRIAL_COLUMNS``) in their order."""
        return self.all(f"SELECT {TRIAL_COLUMNS} FROM trials WHERE {where} ORDER BY trial", values)

    # -- snapshots ---------------------------------------------------------------------------

    def put_snapshot(self, operation: int, data: bytes) -> None:
        """Keep the optimiser as it is after this operation; older snapshots make room."""
        self.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", (operation, time.time()))
        self.put_blob(f"snapshot/{operation}", data)
        for number in self.snapshots()[_SNAPSHOTS_KEPT:]:
            self.execute("DELETE FROM snapshots WHERE operation = ?", (number,))
            self.execute("DELETE FROM blobs WHERE name = ?", (f"snapshot/{number}",))

    def snapshots(self) -> list[int]:
        """Operations with a snapshot, the latest first."""
        rows = self.all("SELECT operation FROM snapshots ORDER BY operation DESC")
        return [int(row[0]) for row in rows]


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    mode = "rwc" if write else "ro"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=30.0, check_same_thread=False
    )
    try:
        if write:
            connection.execute("PRAGMA synchronous = FULL")
        else:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        raise StudyError(f"{path} cannot be opened: {error}") from error
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _damaged(path, str(error)) from error
    return connection


def _damaged(path: Path, why: str) -> DamagedError:
    return DamagedError(
        f"{path} is damaged, or not a study ({why}). What can still be read of its trials is saved "
        f"by: noregret export {path} --salvage --to csv"
    )
