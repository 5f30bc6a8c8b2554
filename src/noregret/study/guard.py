"""Programs end with the process that started them, even if that process is killed."""

import contextlib
import subprocess
import sys
import threading
import weakref

#: reads which process groups run, and kills those left once its input is closed
_WATCH = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Guard:
    """A small process that outlives this one just long enough to kill its programs.

    The system closes the pipe between the two when this process is killed. Each program is the
    leader of a process group, so that what it started ends too. Does nothing on systems without
    process groups.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the small process, before the programs: a program must not run unwatched."""
        with self._lock:
            if self._process is not None or sys.platform == "win32":
                return
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _WATCH],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            weakref.finalize(self, _end, self._process)

    def watch(self, group: int) -> None:
        """Kill this process group when this process ends."""
        with self._lock:
            if self._process is not None:
                _write(self._process, f"+{group}\n")

    def forget(self, group: int) -> None:
        """This process group has ended."""
        with self._lock:
            if self._process is not None:
                _write(self._process, f"-{group}\n")

    def close(self) -> None:
        """End the small process; programs that are still running are killed."""
        with self._lock:
            if self._process is not None:
                _end(self._process)
                self._process = None


def _write(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line)
        process.stdin.flush()


def _end(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.wait()
