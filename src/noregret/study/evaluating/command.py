"""An external program as the function of a study. No shell, and nothing is evaluated as code."""

import contextlib
import locale
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from noregret import _checks
from noregret.study.reasons import ExplainedError

_FIELD = re.compile(r"\{([^{}]*)\}")
#: words that only a shell understands
_SHELL = ("|", "||", "&&", "&", ";", "<", ">", ">>", "2>&1")
#: seconds that the system can wait for a program: 2³¹ milliseconds
_LONGEST = 2_147_483.0
#: how many characters of stderr are kept
_KEPT = 2000
#: how many bytes at the end of what a program prints are kept
_TAIL = 65_536
#: seconds to read what a killed program printed; a process that it left behind may hold the pipe
_LAST_WORDS = 1.0
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


class CommandError(ExplainedError):
    """The program gave no value: the end of its stderr, and in the last line how it ended."""


class Command:
    """Runs a program for each trial; the last line it prints is the value.

    Programs end with this process, even if it is killed.

    Parameters
    ----------
    template
        Such as ``"python measure.py {a} {b}"``. It is split into words as a shell would, then
        ``{field}`` is replaced inside each word; a value never becomes several words.
    fields
        The names that may stand in braces.
    timeout
        Seconds after which the program and all it started are killed; ``None``: never.
    """

    def __init__(self, template: str, fields: Iterable[str], timeout: float | None = None) -> None:
        try:
            self.words = shlex.split(template)
        except ValueError as error:
            raise ValueError(f"command cannot be split into words: {error}") from error
        if not self.words:
            raise ValueError("command must name a program")
        known = set(fields)
        for word in self.words:
            for field in _FIELD.findall(word):
                if field not in known:
                    raise ValueError(
                        f"command asks for {{{field}}}; there is only {', '.join(sorted(known))}"
                    )
        _check_program(self.words)
        if timeout is not None and _checks.positive("timeout", timeout) > _LONGEST:
            raise ValueError(
                f"timeout must be at most {_LONGEST:,.0f} seconds (24 days), got {timeout:,.0f}; "
                "without one programs run as long as they like"
            )
        self.timeout = timeout
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._guard = Guard()
        self._stopped = False

    def arguments(self, values: Mapping[str, Any]) -> list[str]:
        """The words of one call."""
        return [_FIELD.sub(lambda m: _text(values[m.group(1)]), word) for word in self.words]

    def __call__(self, values: Mapping[str, Any]) -> float:
        """Run the program with these values."""
        words = self.arguments(values)
        with self._lock:
            if self._stopped:
                raise CommandError("the run was stopped")
            self._guard.start()
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                raise CommandError(f"{words[0]} cannot be started: {error}") from error
            self._running.add(process)
            self._guard.watch(process.pid)
        output, errors = _Tail(process.stdout), _Tail(process.stderr)
        try:
            self._wait(process, output, errors)
        except BaseException as error:  # also Ctrl-C, if this is the main thread
            _kill(process)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            why = f"killed after {self.timeout:g} s"
            raise CommandError(_with_errors(why, errors.text())) from None
        finally:
            with self._lock:
                self._running.discard(process)
                self._guard.forget(process.pid)
        if process.returncode != 0:
            raise CommandError(_with_errors(_ending(process.returncode), errors.text()))
        lines = output.text().strip().splitlines()
        try:
            value = float(lines[-1])
        except (IndexError, ValueError):
            got = f"got {lines[-1][:200]!r}" if lines else "but it printed nothing"
            raise CommandError(
                _with_errors(f"the last line must be the value, {got}", errors.text())
            ) from None
        if not math.isfinite(value):
            raise CommandError(
                _with_errors(f"the value must be finite, got {value}", errors.text())
            )
        return value

    def _wait(self, process: "subprocess.Popen[bytes]", *outputs: "_Tail") -> None:
        """Wait until what the program prints is read, and it has ended."""
        end = math.inf if self.timeout is None else time.monotonic() + self.timeout

        def left() -> float | None:
            return None if self.timeout is None else max(end - time.monotonic(), 0.0)

        for one in outputs:
            one.wait(left())
        process.wait(left())

    def stop(self) -> None:
        """Kill what is running; later calls fail."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _kill(process)
        self._guard.close()


class _Tail:
    """Reads what a program prints, and keeps the end: a program may print more than fits in memory.

    Parameters
    ----------
    pipe
        The program's stdout or stderr.
    """

    def __init__(self, pipe: "IO[bytes] | None") -> None:
        assert pipe is not None
        self._pipe = pipe
        self._end = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), _TAIL):
                self._end = (self._end + piece)[-_TAIL:]

    def wait(self, timeout: float | None) -> None:
        """Wait until all is read."""
        self._reader.join(timeout)
        if self._reader.is_alive():
            raise subprocess.TimeoutExpired("", timeout or 0.0)

    def text(self) -> str:
        """The end of what was printed."""
        self._reader.join(_LAST_WORDS)
        return self._end.decode(locale.getencoding(), errors="replace")


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


def _check_program(words: list[str]) -> None:
    """Refuse a command that would fail in every trial."""
    for word in words:
        if word in _SHELL:
            raise ValueError(
                f"command has the word {word!r}, but no shell reads it: put these steps into a "
                "script, or write sh -c '...'"
            )
    program = words[0]
    if _FIELD.search(program) or shutil.which(program):
        return
    way = ""
    if Path(program).is_file():
        here = os.sep not in program and os.access(program, os.X_OK)
        way = f"; did you mean ./{program}?" if here else "; the file is not executable (chmod +x)"
    raise ValueError(f"command: there is no program {program}{way}")


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _ending(code: int) -> str:
    """How a program ended: by itself, or by a signal, which is a negative code."""
    return f"exit code {code}" if code > 0 else f"ended by signal {-code}"


def _with_errors(what: str, errors: str) -> str:
    """The end of the program's stderr, then one line that says what went wrong."""
    lines = errors.strip()[-_KEPT:].splitlines()
    if not lines:
        return what
    before = ["The end of stderr:", *lines, ""] if len(lines) > 1 else []
    return "\n".join([*before, f"{what}; stderr: {lines[-1].strip()}"])


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the program and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
