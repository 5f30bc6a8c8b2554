"""One writer at a time, known by name.

The lock is SQLite's own, on a small file beside the study: it works on every platform, between
threads of one process too, is not inherited by worker processes, and the system drops it when its
holder dies, however it dies. The study's own file stays free for readers.
"""

import contextlib
import os
import socket
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from noregret.study import sql
from noregret.study.errors import FullError, LockedError
from noregret.study.rows import Holder

_ATTEMPTS = 20


class WriterLock:
    """Held from construction to :meth:`release`; raises :class:`LockedError` naming the holder."""

    def __init__(self, study: Path) -> None:
        self.path = study.with_name(study.name + "-lock")
        self._token = uuid.uuid4().hex
        self._connection: sqlite3.Connection | None = None
        for _ in range(_ATTEMPTS):
            connection = sqlite3.connect(
                self.path, isolation_level=None, timeout=0.2, check_same_thread=False
            )
            if self._acquire(connection, study):
                self._connection = connection
                return
            connection.close()
        raise LockedError(f"other processes keep opening and closing {study}; try again")

    def _acquire(self, connection: sqlite3.Connection, study: Path) -> bool:
        """Whether the lock is ours; not where its file was removed by a holder that left."""
        try:
            return self._lock(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if "locked" in str(error):
                raise LockedError(
                    f"{study} is being written to by {self._holder()}. Readers are welcome "
                    "(read_only=True); a second writer has to wait until that one is done."
                ) from error
            raise FullError(f"{self.path} cannot be written: {error}") from error
        except sqlite3.DatabaseError as error:
            connection.close()
            raise LockedError(
                f"{self.path} is damaged ({error}); if no process uses the study, remove it"
            ) from error

    def _lock(self, connection: sqlite3.Connection) -> bool:
        """Write our name and lock the file; whether it is the file that others see too."""
        # Fully journalled: a holder killed while it writes its name must not leave a broken lock.
        connection.execute(sql.BEGIN_WRITING)
        sql.HolderTable(sql.on(connection)).write(Holder(self._token, _about_me()))
        connection.execute(sql.COMMIT)
        connection.execute(sql.BEGIN_WRITING)  # until release; others can still read our name
        holder = _read_holder(self.path)
        return holder is not None and holder.token == self._token

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


def _read_holder(path: Path) -> Holder | None:
    try:
        reader = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            return sql.HolderTable(sql.on(reader)).read()
        finally:
            reader.close()
    except sqlite3.Error:
        return None
