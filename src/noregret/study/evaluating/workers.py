"""What evaluates: worker processes or threads for a number, or the user's own executor."""

import inspect
import os
import pickle
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from noregret import _checks
from noregret.study.reasons import ExplainedError, reason_of

#: the test that keeps a script from running again in every process it starts
_GUARD = re.compile(r"""__name__\s*==\s*['"]__main__['"]""")


@runtime_checkable
class Executor(Protocol):
    """What runs evaluations: ``concurrent.futures``, a Dask ``Client``, mpi4py's pools, …

    The futures that ``submit`` returns need ``add_done_callback``, ``result`` and ``cancel``.
    """

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Start ``function(*args)`` somewhere."""


@dataclass(frozen=True)
class Workers:
    """What evaluates.

    Attributes
    ----------
    executor
        Takes the work; ``None`` if f runs in this thread, one evaluation after the other.
    count
        Evaluations under way at the same time.
    name
        What is shown to users: ``"4 processes"``.
    """

    executor: Executor | None
    count: int
    name: str

    def submit(self, function: Callable[..., Any], argument: Any) -> Any:
        """Start an evaluation; returns its future."""
        assert self.executor is not None
        if isinstance(self.executor, (Processes, ProcessPoolExecutor)):
            function = _Sent(function)
        if "pure" in _parameters(self.executor.submit):
            # Dask computes equal calls once by default: repeats would return the same noise.
            return self.executor.submit(function, argument, pure=False)  # type: ignore[call-arg]
        return self.executor.submit(function, argument)


@dataclass(frozen=True)
class _Sent:
    """A function for another process: what it raises can be sent back, if need be as text.

    An error that cannot be made again from its pickle would break the pool, and the cause of the
    failure would be lost.
    """

    function: Callable[..., Any]

    def __call__(self, argument: Any) -> Any:
        try:
            return self.function(argument)
        except Exception as error:
            if _can_be_sent(error):
                raise
            why = reason_of(error)
        raise ExplainedError(why)


def _can_be_sent(error: Exception) -> bool:
    """Whether an error can be pickled, and made again from its pickle."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True


@contextmanager
def start_workers(
    function: Callable[..., Any],
    executor: Any,
    count: int,
    *,
    here: bool = True,
    patience: float | None = None,
) -> Iterator[Workers]:
    """Workers for a function, until the block is left.

    Parameters
    ----------
    executor
        The user's executor, or ``None``.
    count
        Evaluations at the same time. More than one without an executor: that many processes if
        ``function`` can be sent to one (see :func:`why_threads`), else threads.
    here
        Whether a single worker may be this thread.
    patience
        Seconds that the start of processes may take; ``None``: any number.
    """
    count = _checks.count("workers", count)
    if executor is not None:
        if not isinstance(executor, Executor):
            raise TypeError(f"executor must have submit(), got {executor!r}")
        yield Workers(executor, count, f"{count} workers of {type(executor).__name__}")
        return
    if count == 1 and here:
        yield Workers(None, 1, "")
        return
    with ExitStack() as stack:
        reason = why_threads(function) if count > 1 else "f runs beside the run"
        if not reason:
            pool = stack.enter_context(processes(count))
            if pool.can_load(function, patience):
                yield Workers(pool, count, f"{count} processes")
                return
            reason = "f cannot be loaded in a new process"
        others = stack.enter_context(threads(count))
        yield Workers(others, count, f"{count} thread{'s' if count > 1 else ''} ({reason})")


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads; leaving the block does not wait for calls that still run."""
    pool = ThreadPoolExecutor(_checks.count("workers", count), thread_name_prefix="noregret-run")
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Processes:
    """A pool of fresh processes, which is filled up again when one of them dies."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        # Children are spawned: a forked one would inherit locks of threads that it does not have.
        return ProcessPoolExecutor(
            self._count, mp_context=get_context("spawn"), initializer=_start_worker
        )

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Start ``function(*args)`` in one of the processes."""
        try:
            return self._pool.submit(function, *args)
        except BrokenProcessPool:
            self.shutdown()
            self._pool = self._new()
            return self._pool.submit(function, *args)

    def can_load(self, function: Callable[..., Any], patience: float | None = None) -> bool:
        """Whether a function can be loaded in a new process.

        Waits until a process is ready, at most ``patience`` seconds. After that time the answer is
        yes, as no reason against it is known.
        """
        try:
            self._pool.submit(callable, function).result(patience)
        except BrokenProcessPool:
            return False
        except TimeoutError:
            return True
        return True

    def shutdown(self) -> None:
        """Take no more work, and do not wait for work under way."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def processes(count: int) -> Iterator[Processes]:
    """A pool of processes, each on one thread; ended when the block is left."""
    others = set(active_children())
    pool = Processes(count)
    try:
        yield pool
    finally:
        own = set(active_children()) - others
        pool.shutdown()
        for child in own:  # calls that still run are not waited for
            child.terminate()
        for child in own:
            child.join()


def _start_worker() -> None:
    """Limit a worker to one thread, leave Ctrl-C to its parent, and end it with its parent."""
    os.environ["NOREGRET_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the end of the process that started this one, which may have been killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def why_threads(function: Callable[..., Any]) -> str:
    """Why a function cannot be sent to other processes; empty if it can.

    A process imports the script that started it. So a function of a script can be sent if the
    script does its work under ``if __name__ == "__main__":``, and not from a notebook.
    """
    try:
        data = pickle.dumps(function)
    except Exception:
        return "f cannot be pickled"
    main = sys.modules["__main__"]
    script = getattr(main, "__file__", None)
    if script is None:
        return "f is defined in a notebook or a shell" if b"__main__" in data else ""
    if not _GUARD.search(_text(script)):
        return 'the script has no `if __name__ == "__main__":`'
    return ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def capacity(executor: Any) -> int:
    """How many evaluations an executor runs at the same time; the number of cores if unknown."""
    if hasattr(executor, "nthreads"):  # a Dask client
        return max(int(sum(executor.nthreads().values())), 1)
    for name in ("max_workers", "num_workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return os.cpu_count() or 1
