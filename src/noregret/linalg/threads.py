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

import numpy as np
import scipy.linalg  # noqa: F401  SciPy's BLAS has to be loaded before the controller looks for it
from threadpoolctl import ThreadpoolController

from noregret._types import Floats

T = TypeVar("T")

_lock = threading.Lock()
_depth = 0
_libraries: list[Any] | None = None
_before: list[int] = []
_pool: ThreadPoolExecutor | None = None
_ours = threading.local()  # has the attribute ``thread`` in the threads of the pool

#: rows that a thread works on at a time
_ROWS = 2048
#: below this many multiplications threads cost more than they give
_PARALLEL_WORK = 20_000_000


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
    if workers == 1 or hasattr(_ours, "thread"):  # our threads do not wait for each other
        for part in parts:
            work(part)
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(
            workers, "noregret", initializer=setattr, initargs=(_ours, "thread", True)
        )
    for _ in _pool.map(work, parts):
        pass


def for_rows(work: Callable[[slice], None], count: int, each: float, most: int = 1 << 62) -> None:
    """Call ``work`` on slices of ``count`` rows, at most ``most`` rows at a time.

    ``each`` is the work of a row, in multiplications. The slices do not depend on the number of
    threads, so neither does what is computed.
    """
    rows = min(most, _ROWS)
    pieces = [slice(at, min(at + rows, count)) for at in range(0, count, rows)]
    for_each(work, pieces, parallel=count * each > _PARALLEL_WORK)


def by_rows(
    function: Callable[[Any], Floats], X: Any, columns: int, each: float, most: int = 1 << 62
) -> Floats:
    """``function(X)`` (n × ``columns``) for X with n rows, computed as by :func:`for_rows`."""
    if len(X) <= min(most, _ROWS):
        return function(X)
    found = np.empty((len(X), columns))

    def work(part: slice) -> None:
        found[part] = function(X[part])

    for_rows(work, len(X), each, most)
    return found


def _forget_threads() -> None:
    """After a fork, the child process has none of its parent's threads."""
    global _pool, _lock, _depth
    _pool, _lock, _depth = None, threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
