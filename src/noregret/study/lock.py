"""One writer at a time, known by name.

The lock is SQLite's own, on a small file beside the study: it works on every platform, between
threads of one process too, is not inherited by worker processes, and the system drops it when its
holder dies, however it dies. The study's own file stays free for readers.
"""

import contextlib
import json
import os
import socket
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from noregret.study.errors import FullError, LockedError

_ATTEMPTS = 20


class WriterLock:
    """Held from construction to :meth:`release`; raises :class:`LockedError` naming the holder."""

    def __init__(self, study: Path) -> None:
        self.path = study.with_name(study.name + "-lock")
        self._token = uuid.uuid4().hex
        for _ in range(_ATTEMPTS):
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, timeout=0.2, check_same_thread=False
            )
            try:
                if self._acquire():
                    return
            except sqlite3.OperationalError as error:
                self._connection.close()
                if "locked" in str(error):
                    raise LockedError(
                        f"{study} is being written to by {self._holder()}. Readers are welcome "
                        "(read_only=True); a second writer has to wait until that one is done."
                    ) from error
                raise FullError(f"{self.path} cannot be written: {error}") from error
            except sqlite3.DatabaseError as error:
                self._connection.close()
                raise LockedError(
                    f"{self.path} is damaged ({error}); if no process uses the study, remove it"
                ) from error
            self._connection.close()  # the file was removed under us by a holder that left
        raise LockedError(f"{study} is changing hands too fast; try again")

    def _acquire(self) -> bool:
        """Whether the lock is ours, on the file that others see too."""
        # Fully journalled: a holder killed while it writes its name must not leave a broken lock.
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute("CREATE TABLE IF NOT EXISTS holder (token TEXT, about TEXT)")
        execute("DELETE FROM holder")
        execute("INSERT INTO holder VALUES (?, ?)", (self._token, json.dumps(_about_me())))
        execute("COMMIT")
        execute("BEGIN IMMEDIATE")  # held until release; others can still read who holds it
        row = _read_holder(self.path)
        return row is not None and row[0] == self._token

    def _holder(self) -> str:
        row = _read_holder(self.path)
        if row is None:
            return "another process"
        about = json.loads(row[1])
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about["since"]))
        return f"process {about['pid']} on {about['host']} ({about['command']}) since {since}"

    def release(self) -> None:
        """Let others write; calling it again does nothing."""
        if self._connection is None:
            return
        with contextlib.suppress(OSError):  # some systems keep open files
            self.path.unlink(missing_ok=True)
        self._connection.close()
        self._connection = None  # type: ignore[assignment]


def _about_me() -> dict[str, Any]:
    command = " ".join([Path(sys.argv[0]).name or "python", *sys.argv[1:]])[:200]
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": command,
        "since": time.time(),
    }


def _read_holder(path: Path) -> Any:
    try:
        reader = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            return reader.execute("SELECT token, about FROM holder").fetchone()
        finally:
            reader.close()
    except sqlite3.Error:
        return None
