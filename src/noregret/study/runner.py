"""Evaluate a function until a study has enough answers, on any executor."""

import math
import queue
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from noregret import _checks
from noregret.study.errors import RunError, StudyError

if TYPE_CHECKING:
    from noregret.study import Study

#: seconds a wait for answers may last: Ctrl-C is noticed only between two waits
_WAIT = 0.2


@runtime_checkable
class Executor(Protocol):
    """What runs evaluations: ``concurrent.futures``, a Dask ``Client``, mpi4py's pools, …

    The futures that ``submit`` returns need ``add_done_callback``, ``result`` and ``cancel``.
    """

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Start ``function(*args)`` somewhere."""


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    Attributes
    ----------
    told, failed, running
        Answers the study has, failures of this run, evaluations under way.
    budget
        Answers at which the run ends.
    seconds
        Since the run began.
    done
        Answers and failures of this run.
    """

    told: int
    failed: int
    running: int
    budget: int
    seconds: float
    done: int

    @property
    def rate(self) -> float:
        """Evaluations per second in this run."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        """Estimated time to the end, infinite before the first answer."""
        return (self.budget - self.told) / self.rate if self.done else math.inf


def run_study(
    study: "Study",
    f: Callable[[Any], float],
    budget: int,
    *,
    executor: Any = None,
    workers: int = 1,
    batch: int | None = None,
    timeout: float | None = None,
    attempts: int = 2,
    max_failures: int = 10,
    progress: Callable[[Progress], None] | None = None,
    argument: Callable[[int, Any], Any] | None = None,
) -> None:
    """Evaluate ``f`` until the study has ``budget`` answers (history not counted).

    Trials that an earlier run asked for and did not answer come first. While evaluations are
    under way, free workers get new trials; what is pending counts in the variance.

    Parameters
    ----------
    study
        A study opened for writing.
    f
        Takes a point (a 1-D array; a dict on a named box; the object itself on a list of objects)
        and returns a number. Sent to worker processes, it must be importable there.
    budget
        Answers the study shall have in the end. Running again with the same budget goes on.
    executor
        Anything with ``submit()`` that returns futures: threads, processes, a Dask ``Client``.
        By default ``f`` runs here: one at a time, or on ``workers`` threads.
    workers
        Evaluations under way at the same time.
    batch
        Trials asked for at once. By default as many as there are free workers; where ``f`` runs
        here one at a time, what the algorithm wants.
    timeout
        Seconds for one evaluation. After that the trial is given to another worker.
    attempts
        How often a trial is given to a worker. One that timed out (or whose worker was lost) as
        often as this has failed.
    max_failures
        The run stops with :class:`RunError` when more trials than this have failed in it.
    progress
        Called after every answer.
    argument
        ``argument(id, point)`` makes what ``f`` is given, where it is not the point.
    """
    budget = _checks.count("budget", budget)
    workers = _checks.count("workers", workers)
    attempts = _checks.count("attempts", attempts)
    if batch is not None:
        batch = _checks.count("batch", batch)
    if timeout is not None:
        timeout = _checks.positive("timeout", timeout)
    if not callable(f):
        raise TypeError(f"f must be a function of one point, got {f!r}")
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor must have submit(), got {executor!r}")
    own = None
    if executor is None and (workers > 1 or timeout is not None):
        executor = own = ThreadPoolExecutor(workers, thread_name_prefix="noregret-run")
    if executor is None:
        batch = batch or study.settings["batch"]
    run = _Run(
        study=study,
        f=f,
        budget=budget,
        executor=executor,
        workers=workers,
        batch=batch,
        timeout=timeout,
        attempts=attempts,
        max_failures=max_failures,
        progress=progress,
        argument=argument,
    )
    study.note("run started", budget=budget, workers=workers)
    try:
        run.go()
    except BaseException as error:
        study.note("run stopped", why=repr(error))
        raise
    else:
        study.note("run finished", told=run.told, failed=run.failed)
    finally:
        run.cancel_rest()
        if own is not None:
            own.shutdown(wait=False, cancel_futures=True)


@dataclass
class _Run:
    """One run: a queue of trials, those under way, and what comes back."""

    study: "Study"
    f: Callable[[Any], float]
    budget: int
    executor: Executor | None
    workers: int
    batch: int | None
    timeout: float | None
    attempts: int
    max_failures: int
    progress: Callable[[Progress], None] | None
    argument: Callable[[int, Any], Any] | None

    def __post_init__(self) -> None:
        counts = self.study.counts()
        self.told = counts["told"] - counts["history"]
        self.done = self.failed = 0
        self.waiting: deque[int] = deque(self.study.pending("run"))
        self.tries: dict[int, int] = {}
        self.running: dict[Any, tuple[int, float]] = {}  # future → its trial, when it started
        self.stuck: list[Any] = []  # timed out, but still keeping a worker busy
        self.finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.began = time.monotonic()

    def go(self) -> None:
        while self.told < self.budget:
            self._fill_queue()
            if self.executor is None:
                self._evaluate_here(self.waiting.popleft())
            else:
                self._submit()
                self._collect()

    def _fill_queue(self) -> None:
        """Ask for trials while there are fewer than free workers.

        An adaptive batch may be shorter than that; then the next one follows at once, which counts
        the first as pending.
        """
        while True:
            free = 1 if self.executor is None else self._free()
            room = self.budget - self.told - len(self.running) - len(self.waiting)
            short = free - len(self.waiting)
            if room <= 0 or short <= 0:
                return
            self.waiting.extend(self.study.ask(min(self._wanted(short), room), origin="run"))

    def _wanted(self, short: int) -> int:
        if self.executor is not None or self.batch is not None:
            return max(self.batch or 0, short)
        # Here, one at a time: the algorithm decides how long its batch is.
        optimizer = self.study.optimizer
        return self.budget if optimizer.adaptive else optimizer.batch_size

    def _free(self) -> int:
        self.stuck = [future for future in self.stuck if not future.done()]
        return self.workers - len(self.running) - len(self.stuck)

    def _argument(self, number: int) -> Any:
        trials = self.study.get([number])
        if self.argument is not None:
            return self.argument(int(trials.ids[0]), trials.points[0])
        return trials.values[0]

    def _evaluate_here(self, number: int) -> None:
        try:
            value = self.f(self._argument(number))
        except Exception as error:
            self._fail(number, _reason(error))
        else:
            self._answer(number, value)

    def _submit(self) -> None:
        assert self.executor is not None
        while self.waiting and self._free() > 0:
            number = self.waiting.popleft()
            self.tries[number] = self.tries.get(number, 0) + 1
            try:
                future = self.executor.submit(self.f, self._argument(number))
            except Exception as error:
                self.waiting.appendleft(number)
                raise RunError(f"the executor takes no more work: {error!r}") from error
            self.running[future] = number, time.monotonic()
            future.add_done_callback(self.finished.put)

    def _collect(self) -> None:
        """Wait for an answer or a timeout, then take in all that has arrived."""
        if not self.running and not self._free():
            raise RunError(
                f"all {self.workers} workers hang in evaluations that timed out; the study can "
                "go on with new workers"
            )
        wait = _WAIT
        if self.timeout is not None and self.running:
            oldest = min(started for _, started in self.running.values())
            wait = min(wait, max(oldest + self.timeout - time.monotonic(), 0.0))
        try:
            self._take(self.finished.get(timeout=wait))
            while True:
                self._take(self.finished.get_nowait())
        except queue.Empty:
            pass
        if self.timeout is not None:
            now = time.monotonic()
            for future, (number, started) in list(self.running.items()):
                if now - started >= self.timeout:
                    self._time_out(future, number)

    def _take(self, future: Any) -> None:
        entry = self.running.pop(future, None)
        if entry is None:  # it timed out before it came back
            return
        number = entry[0]
        try:
            value = future.result()
        except Exception as error:
            if _worker_was_lost(error):
                self._retry(number, f"its worker was lost: {error!r}")
            else:
                self._fail(number, _reason(error))
        else:
            self._answer(number, value)

    def _time_out(self, future: Any, number: int) -> None:
        del self.running[future]
        future.cancel()
        if not future.cancelled():
            self.stuck.append(future)
        self._retry(number, f"timed out after {self.timeout:g} s")

    def _retry(self, number: int, why: str) -> None:
        if self.tries[number] < self.attempts:
            self.study.reassign(number)
            self.waiting.append(number)
        else:
            self._fail(number, f"{why}, {self.attempts} times")

    def _answer(self, number: int, value: Any) -> None:
        try:
            self.study.tell(number, value)
        except (TypeError, ValueError) as error:
            if isinstance(error, StudyError):
                raise
            self._fail(number, f"the function returned no finite number: {value!r}")
            return
        self.told += 1
        self._report()

    def _fail(self, number: int, why: str) -> None:
        self.study.tell(number, failed=why)
        self.failed += 1
        self._report()
        if self.failed > self.max_failures:
            raise RunError(
                f"{self.failed} trials failed in this run, more than max_failures="
                f"{self.max_failures}; the last one: {why.strip().splitlines()[-1]}"
            )

    def _report(self) -> None:
        self.done += 1
        if self.progress is not None:
            seconds = time.monotonic() - self.began
            self.progress(
                Progress(self.told, self.failed, len(self.running), self.budget, seconds, self.done)
            )

    def cancel_rest(self) -> None:
        """Evaluations that have not started never will; their trials wait for the next run."""
        for future in self.running:
            future.cancel()


def _reason(error: Exception) -> str:
    return "".join(traceback.format_exception(error))[-8000:]


def _worker_was_lost(error: Exception) -> bool:
    """A pool that broke, or Dask's words for a worker that died under a task."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in (
        "KilledWorker",
        "FutureCancelledError",
        "CancelledError",
    )
