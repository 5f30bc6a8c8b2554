"""BLAS on one thread for small calls, and our own threads over blocks of rows.

Hundreds of small matrix products lose more to BLAS's thread start-up than they gain, so public
calls run under :func:`one_blas_thread`, and long lists are split into blocks of rows instead. The
limit is lifted when the outermost call returns: nothing changes behind the user's back.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401  SciPy's BLAS has to be loaded before the controller looks for it
from threadpoolctl import ThreadpoolController

T = TypeVar("T")

_lock = threading.Lock()
_depth = 0
_libraries: list[Any] | None = None
_before: list[int] = []
_pool: ThreadPoolExecutor | None = None


def worker_count() -> int:
    """Number of threads for blocks of rows: ``$NOREGRET_THREADS``, or the cores of this process."""
    given = os.environ.get("NOREGRET_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread. Calls may nest, also from several threads at once."""
    global _depth, _libraries, _before
    with _lock:
        if _depth == 0:
            if _libraries is None:
                _libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            _before = [library.get_num_threads() for library in _libraries]
            if any(number != 1 for number in _before):
                _set([1] * len(_before))
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and any(number != 1 for number in _before):
                _set(_before)


def _set(threads: list[int]) -> None:
    """Set the number of threads of each BLAS library, whichever of our threads set it last.

    Newer versions of threadpoolctl let only one Python thread at a time change the number, and
    ignore the others. Of our calls the first may begin in one thread and the last end in another.
    """
    for library, number in zip(_libraries or [], threads, strict=True):
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)
        library.set_num_threads(number)
        if release is not None:
            release(force=True)


def for_each(work: Callable[[T], None], parts: Sequence[T], *, parallel: bool) -> None:
    """Call ``work`` on every part, on several threads when ``parallel``; errors are raised."""
    global _pool
    workers = worker_count() if parallel and len(parts) > 1 else 1
    if workers == 1:
        for part in parts:
            work(part)
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(workers, thread_name_prefix="noregret")
    for _ in _pool.map(work, parts):
        pass


def _forget_threads() -> None:
    """After a fork, the child process has none of its parent's threads."""
    global _pool, _lock, _depth
    _pool, _lock, _depth = None, threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
