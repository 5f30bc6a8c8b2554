"""An open study file: one writer, transactions, SQLite's errors in plain words."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noregret.study import sql
from noregret.study.errors import DamagedError, FullError, StudyError
from noregret.study.lock import WriterLock


class StudyFile:
    """A study's file, open. Use :meth:`create` or :meth:`open`.

    Attributes
    ----------
    path
        Where it is.
    storage
        What it holds.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self.storage = sql.Storage(self.execute)
        self._connection = connection
        self._lock = lock
        self._mutex = threading.RLock()

    @classmethod
    def create(cls, path: Path, settings: dict[str, Any], blobs: dict[str, bytes]) -> "StudyFile":
        """A new file with these settings (JSON) and bytes; an existing one is refused."""
        if path.exists():
            raise StudyError(f"{path} exists already: open it, or choose another name")
        if not path.absolute().parent.is_dir():
            raise StudyError(f"{path.absolute().parent} is not a folder")
        lock = WriterLock(path)
        try:
            file = cls(path, connect(path, write=True), lock)
            try:
                file.execute(sql.WRITE_AHEAD)
                with file.transaction():
                    file.storage.create(settings, blobs)
            except BaseException:
                file._connection.close()
                for suffix in ("", "-wal", "-shm"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
                raise
        except BaseException:
            lock.release()
            raise
        return file

    @classmethod
    def open(cls, path: Path, *, write: bool) -> "StudyFile":
        """An existing file; the one writer holds its lock until :meth:`close`."""
        if not path.is_file():
            raise FileNotFoundError(f"there is no study at {path}")
        lock = WriterLock(path) if write else None
        try:
            file = cls(path, connect(path, write=write), lock)
            try:
                file._check()
            except BaseException:
                file._connection.close()
                raise
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return file

    def _check(self) -> None:
        if self.storage.application() != sql.APPLICATION:
            raise DamagedError(f"{self.path} is an SQLite file, but not a noregret study")
        found = self.storage.format()
        if found != sql.FORMAT:
            raise StudyError(
                f"{self.path} has format {found}; this version of noregret reads format "
                f"{sql.FORMAT}"
            )
        problems = self.storage.problems(1) if self.writable else []
        if problems:
            raise _damaged(self.path, " ".join(problems[0].split()))

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

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement; all rows of the result."""
        with self._mutex, self._plain_errors():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and on disk when the block has been left."""
        with self._mutex:
            self.execute(sql.BEGIN_WRITING if self.writable else sql.BEGIN_READING)
            try:
                yield
                self.execute(sql.COMMIT)
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute(sql.ROLLBACK)
                raise

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
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


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection to a database; what is no database is refused."""
    mode = "rwc" if write else "ro"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=30.0,
        check_same_thread=False,
    )
    try:
        connection.execute(sql.WRITE_THROUGH if write else sql.TRY_TO_READ).fetchone()
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
