"""One writer at a time, whose name other processes can read.

The lock is SQLite's own, on a small file beside the study. It works on every platform and between
threads of one process. Worker processes do not inherit it. The system drops it when its holder
ends, even if it is killed. The study's own file stays free for readers.
"""

import contextlib
import json
import os
import socket
import sqlite3
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noregret.study.errors import FullError, LockedError, StudyError
from noregret.study.storage import sql

#: how often the lock file may vanish (because its holder leaves) before it is an error
_ATTEMPTS = 40
#: seconds between two attempts
_PAUSE = 0.02


@dataclass(frozen=True)
class _Holder:
    """The process that holds a lock: a token of its own, and a description for people."""

    token: str
    about: dict[str, Any]


class WriterLock:
    """Held from construction to :meth:`release`; raises :class:`LockedError` naming the holder.

    Parameters
    ----------
    study
        The study's file, with symbolic links resolved: all its names share one lock.
    wait
        Seconds to wait for another writer to leave.
    """

    def __init__(self, study: Path, wait: float = 0.0) -> None:
        self.path = study.with_name(study.name + "-lock")
        self._token = uuid.uuid4().hex
        self._connection: sqlite3.Connection | None = None
        end, left = time.monotonic() + wait, _ATTEMPTS
        while True:
            refusal = self._attempt(study)
            if refusal is None:
                return
            if isinstance(refusal, LockedError):
                over = time.monotonic() >= end
            else:
                left -= 1
                over = left <= 0 and time.monotonic() >= end
            if over:
                raise refusal
            time.sleep(_PAUSE)

    def _attempt(self, study: Path) -> StudyError | None:
        """Try to take the lock; returns why it cannot be taken now, or ``None``."""
        try:
            connection = sqlite3.connect(
                self.path, isolation_level=None, timeout=0.2, check_same_thread=False
            )
        except sqlite3.Error as error:
            return self._refusal(error, study)
        try:
            if self._lock(connection):
                self._connection = connection
                return None
            refusal: StudyError = LockedError(
                f"other processes keep opening and closing {study}; try again"
            )
        except sqlite3.Error as error:
            refusal = self._refusal(error, study)
        connection.close()
        return refusal

    def _refusal(self, error: sqlite3.Error, study: Path) -> StudyError:
        code = error.sqlite_errorcode & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if self._is_ours():
                return LockedError(
                    f"{study} is open for writing in this process already: go on with that study, "
                    "or close it first (study.close(), or a `with` block). To look only, open it "
                    "with read_only=True"
                )
            return LockedError(
                f"{study} is being written to by {self._holder()}. Only one process may write: "
                "wait for it (--wait SECONDS, in Python wait=SECONDS), or only look (status, best, "
                "report, in Python read_only=True)"
            )
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return LockedError(
                f"{self.path} is damaged ({error}); if no process uses the study, remove it"
            )
        if code == sqlite3.SQLITE_FULL:
            return FullError(f"{self.path} cannot be written: {error}")
        if not os.access(self.path.parent, os.W_OK):
            way = "make the study in a folder of your own"
            if study.exists():
                way = (
                    "open the study for reading (read_only=True), or copy it to a folder of your "
                    "own"
                )
            return StudyError(f"{self.path.parent} cannot be written to: {way}")
        # The holder may just have removed the file: the next attempt makes a new one.
        return FullError(f"{self.path} cannot be written: {error}")

    def _lock(self, connection: sqlite3.Connection) -> bool:
        """Write our name and lock the file; whether other processes see the same file."""
        # With a full journal: a holder killed while it writes must not leave a broken lock.
        connection.execute(sql.BEGIN_WRITING)
        connection.execute(sql.CREATE_HOLDER)
        connection.execute(sql.DELETE_HOLDER)
        connection.execute(sql.ADD_HOLDER, (self._token, json.dumps(_about_me())))
        connection.execute(sql.COMMIT)
        connection.execute(sql.BEGIN_WRITING)  # until release; others can still read our name
        holder = _read_holder(self.path)
        return holder is not None and holder.token == self._token

    def _is_ours(self) -> bool:
        """Whether this very process holds the lock."""
        holder = _read_holder(self.path)
        me = _about_me()
        return holder is not None and all(holder.about[key] == me[key] for key in ("pid", "host"))

    def _holder(self) -> str:
        holder = _read_holder(self.path)
        if holder is None:
            return "another process"
        about = holder.about
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about["since"]))
        return f"process {about['pid']} on {about['host']} ({about['command']}) since {since}"

    def release(self) -> None:
        """Let others write; calling it again does nothing."""
        if self._connection is None:
            return
        with contextlib.suppress(OSError):  # some systems do not remove files that are open
            self.path.unlink(missing_ok=True)
        self._connection.close()
        self._connection = None


def _about_me() -> dict[str, Any]:
    command = " ".join([Path(sys.argv[0]).name or "python", *sys.argv[1:]])[:200]
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": command,
        "since": time.time(),
    }


def _read_holder(path: Path) -> _Holder | None:
    try:
        reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        try:
            found = reader.execute(sql.READ_HOLDER).fetchone()
            return None if found is None else _Holder(found[0], json.loads(found[1]))
        finally:
            reader.close()
    except (sqlite3.Error, ValueError, TypeError, KeyError):
        return None
