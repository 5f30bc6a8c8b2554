"""An open study file: one writer, transactions, SQLite's errors in plain words."""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from noregret.spaces import tables
from noregret.study.errors import DamagedError, FullError, LockedError, StudyError
from noregret.study.storage import sql
from noregret.study.storage.lock import WriterLock
from noregret.study.storage.storage import Row, Storage

#: when a writer opens a file of at most this many bytes, its tables are checked whole
_CHECKED = 8 * 2**20
#: how SQLite's files begin
_SQLITE = b"SQLite format 3\0"

_Args = ParamSpec("_Args")
_Given = TypeVar("_Given")

_HARD_LINKS = (
    "{path} has {count} names (hard links), but a study that is written to must have one: changes "
    "are written first to a file beside it, which is named after it. A process that uses another "
    "name would not find that file and could damage the study. Remove the other names (rm), or "
    "write to a copy (cp); symbolic links are allowed"
)


def one_at_a_time(method: Callable[_Args, _Given]) -> Callable[_Args, _Given]:
    """A method that no two threads run at the same time: it holds its object's ``mutex``."""

    @wraps(method)
    def alone(*arguments: _Args.args, **options: _Args.kwargs) -> _Given:
        owner: Any = arguments[0]
        with owner.mutex:
            return method(*arguments, **options)

    return alone


def study_path(given: str | os.PathLike[str], argument: str = "path") -> Path:
    """The path of a study; folders, and addresses of databases, are refused."""
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{argument} must be the path of a file, got {given!r}")
    path = Path(given)
    if "://" in os.fspath(given):
        raise ValueError(
            f"{argument} must be the path of a file, got {given!r}; a study is a file of its own, "
            f"not a part of a database: write {path.name!r}"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{argument} must name a file, got the folder {str(path)!r}")
    return path


class StudyFile:
    """A study's file, open. Use :meth:`create` or :meth:`open`.

    Attributes
    ----------
    path
        The path, as given.
    storage
        What it holds.
    mutex
        Held by the thread that uses the file: one at a time.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self.storage = Storage(self)
        self.mutex = threading.RLock()
        self._real = path.resolve()
        self._identity = _identity(self._real)
        self._connection = connection
        self._lock = lock

    @classmethod
    def create(cls, path: Path, settings: dict[str, Any], blobs: dict[str, bytes]) -> "StudyFile":
        """A new file with these settings (JSON) and bytes; an existing one is refused.

        It is made under another name and renamed when it is complete, by the holder of the lock.
        """
        real = path.resolve()
        if not real.parent.is_dir():
            raise StudyError(f"{real.parent} is not a folder")
        lock = WriterLock(real)
        new = real.with_name(real.name + "-new")
        try:
            if os.path.lexists(real):
                raise StudyError(f"{path} exists already: open it, or choose another name")
            _remove(new)  # left by a process that was killed
            try:
                cls(new, connect(new, write=True, create=True), lock)._fill(settings, blobs)
                new.rename(real)
            except BaseException:
                _remove(new)
                raise
            _sync_folder(real.parent)
            return cls(path, connect(real, write=True), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, path: Path, *, write: bool, wait: float = 0.0) -> "StudyFile":
        """An existing file; the one writer holds its lock until :meth:`close`.

        Parameters
        ----------
        path
            The file.
        write
            Whether to be the one writer.
        wait
            Seconds to wait for another writer to leave.
        """
        if not path.is_file():
            raise FileNotFoundError(f"there is no study at {path}")
        _refuse_table(path)
        lock = WriterLock(path.resolve(), wait) if write else None
        try:
            if not path.is_file():
                raise FileNotFoundError(f"there is no study at {path} any more")
            if write and path.stat().st_nlink > 1:
                raise LockedError(_HARD_LINKS.format(path=path, count=path.stat().st_nlink))
            file = cls(path, connect(path.resolve(), write=write), lock)
            try:
                with file.transaction():
                    file._check()
            except BaseException:
                file._connection.close()
                raise
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return file

    def _fill(self, settings: dict[str, Any], blobs: dict[str, bytes]) -> None:
        """Make a whole study of a new file, and close it; the lock is kept."""
        try:
            with self.transaction():
                self.storage.create(settings, blobs)
            self.execute(sql.WRITE_AHEAD)
        finally:
            self._connection.close()

    def _check(self) -> None:
        storage = self.storage
        application, found = storage.marks()
        if application != sql.APPLICATION:
            raise StudyError(f"{self.path} is an SQLite file, but not a noregret study")
        if found != sql.FORMAT:
            raise StudyError(
                f"{self.path} has format {found}; this version of noregret reads format "
                f"{sql.FORMAT}"
            )
        foreign = storage.foreign()
        if foreign:
            raise DamagedError.of(
                self.path,
                f"it does not hold just the tables of a study: {', '.join(foreign)[:200]}",
            )
        storage.check_ends()
        if self.writable and self._real.stat().st_size <= _CHECKED:
            self.check()

    def check(self) -> None:
        """Read everything except snapshots and compare it with its checksums."""
        for problem in self.storage.problems():
            raise DamagedError.of(self.path, " ".join(problem.split()))
        self.storage.settings()
        self.storage.events()
        self.storage.operations()
        for _ in self.storage.trial_chunks():
            pass
        self.storage.pending_trials()

    @property
    def writable(self) -> bool:
        """Whether this is the one writer."""
        return self._lock is not None

    def close(self) -> None:
        """Close the file; what was written is on disk already."""
        with self.mutex:
            if self._lock is not None:
                # So that one file is left; readers may keep the write-ahead log a little longer.
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute(sql.WRITE_BACK)
            self._connection.close()
            if self._lock is not None:
                self._lock.release()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement; all rows of the result."""
        with self.mutex, self._plain_errors():
            return self._connection.execute(statement, values).fetchall()

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        with self.mutex, self._plain_errors():
            self._connection.executemany(statement, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Changes in the block are stored all or not at all, and are on disk at its end."""
        with self.mutex:
            self._check_place()
            self.execute(sql.BEGIN_WRITING if self.writable else sql.BEGIN_READING)
            try:
                yield
                self._check_place()
                self.execute(sql.COMMIT)
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute(sql.ROLLBACK)
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Until the block is left, statements read the file as it is at one moment.

        Without it a writer may change the file between two statements.
        """
        with self.mutex:
            if self._connection.in_transaction:
                yield
                return
            self.execute(sql.BEGIN_READING)
            try:
                yield
            finally:
                self.execute(sql.COMMIT)

    def _check_place(self) -> None:
        """Refuse to write if the path no longer leads to the file that is open."""
        if self.writable and _identity(self._real) != self._identity:
            raise StudyError(
                f"{self.path} has been moved, deleted or replaced since it was opened: nothing "
                "was written. Open it where it is now"
            )

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError as error:
            raise StudyError(f"{self.path} has been closed: open it again") from error
        except sqlite3.Error as error:
            raise plain_error(self.path, error) from error


def plain_error(path: Path, error: sqlite3.Error) -> StudyError:
    """The study error for an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return FullError(
            f"{path} cannot be written ({error}): free some space and go on; nothing of this "
            "call was stored, and nothing stored before is lost"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LockedError(f"{path} is kept busy by a program other than noregret ({error})")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StudyError(
            f"{path} cannot be opened or written to ({error}): look at the rights of the file and "
            "its folder"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DamagedError.of(path, str(error))
    return StudyError(f"{path}: {error}")


#: reads damaged text too, so that its checksum tells where the damage is
_text = partial(str, encoding="utf-8", errors="replace")


def connect(path: Path, *, write: bool, create: bool = False) -> sqlite3.Connection:
    """A connection to a database; a file that is not a database is refused."""
    try:
        try:
            # A reader gets write access if the system allows it: the last one to close the file
            # removes what SQLite keeps beside it.
            return _connection(path, "mode=rwc" if create else "mode=rw", write)
        except sqlite3.OperationalError:
            # A reader in a folder without write access needs only the file, unless a writer has
            # left a log beside it.
            beside = path.with_name(path.name + "-wal")
            if write or os.access(path.parent, os.W_OK) or beside.exists():
                raise
            return _connection(path, "mode=ro&immutable=1", write)
    except sqlite3.Error as error:
        raise plain_error(path, error) from error


def _connection(path: Path, options: str, write: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?{options}",
        uri=True,
        isolation_level=None,
        timeout=30.0,
        check_same_thread=False,
    )
    connection.text_factory = _text
    try:
        connection.execute(sql.DISTRUST)
        connection.execute(sql.TRY_TO_READ).fetchone()
        connection.execute(sql.WRITE_THROUGH if write else sql.READ_ONLY)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_table(path: Path) -> None:
    """Refuse a table, such as the library or the results, where a study belongs."""
    if path.suffix.lower() not in (*tables.TEXT, *tables.PARQUET, *tables.EXCEL):
        return
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise StudyError(
                f"{path} is a table, not a study. A study is the file that `noregret create` makes"
            )


def _identity(path: Path) -> tuple[int, int] | None:
    """The identity (device and inode) of the file that has this name now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Put the file's new name on disk; systems that do not allow this do it themselves."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def study_file(given: Any) -> StudyFile:
    """``given`` itself, if it is a file that was made or opened; a path is refused."""
    if not isinstance(given, StudyFile):
        raise TypeError("use nr.Study.create(path, domain) or nr.Study.open(path)")
    return given
