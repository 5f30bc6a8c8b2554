"""One run: a queue of evaluations, those under way, and what comes back."""

import math
import queue
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.study.errors import RunError
from noregret.study.evaluating.in_memory import StudyLike
from noregret.study.evaluating.progress import Progress, ends_run
from noregret.study.evaluating.workers import Workers
from noregret.study.reasons import in_one_line, reason_of, storable

#: the longest wait for answers, in seconds: Ctrl-C is noticed only between two waits
_WAIT = 0.2


@dataclass(eq=False)
class _Job:
    """Trials that are evaluated by one call of f.

    Attributes
    ----------
    numbers
        The trials: one, or a whole batch if f is vectorised.
    argument
        What f is given.
    tries
        How often it was given to a worker.
    started
        When it was last given to a worker.
    alone
        Whether it must run alone, because its worker died and the next one may die too.
    """

    numbers: list[int]
    argument: Any
    tries: int = 0
    started: float = 0.0
    alone: bool = False


@dataclass
class Evaluations:
    """One run: a queue of jobs, those under way, and what comes back.

    Attributes
    ----------
    ends
        When the run ends at the latest, by ``time.monotonic()``.
    drawn
        Evaluations of earlier runs that belong to no trial and count in the budget.
    told, failed, done
        As in :class:`Progress`.
    """

    study: StudyLike
    f: Callable[[Any], Any]
    budget: int
    workers: Workers
    batch: int | None
    vectorized: bool
    ends: float
    trial_timeout: float | None
    attempts: int
    max_failures: int | None
    max_in_a_row: int | None
    max_per_candidate: int | None
    count_failed: bool
    callback: Callable[[Progress], Any] | None
    stop: "Callable[[Evaluations], str | None] | None"
    argument: Callable[[int, Any], Any] | None
    drawn: int = 0
    waiting: deque[_Job] = field(default_factory=deque)

    def __post_init__(self) -> None:
        counts = self.study.counts()
        self.told = counts["told"] - counts["history"]
        self.spent = self.told + self.drawn + (counts["failed"] if self.count_failed else 0)
        self.done = self.failed = self.in_a_row = 0
        self.best = math.nan
        self.stopped: str | None = None
        self._set_failing_aside()
        self._queue(self.study.pending("run"))
        self.running: dict[Any, _Job] = {}
        self.stuck: list[Any] = []  # timed out, but still keeping a worker busy
        self.finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.began = time.monotonic()

    def go(self) -> str:
        """Evaluate until the run ends; returns why it ended."""
        while self.spent < self.budget and self.stopped is None:
            self._fill_queue()
            if self.stopped is not None or self.spent >= self.budget:  # stopping may cost too
                break
            if self.workers.executor is None:
                self._evaluate_here(self.waiting.popleft())
            else:
                self._submit()
                self._collect()
            if time.monotonic() >= self.ends and self.spent < self.budget:
                self.stopped = self.stopped or "timeout"
        return self.stopped or "budget"

    # -- asking ------------------------------------------------------------------------------

    def _fill_queue(self) -> None:
        """Ask for trials while there are fewer jobs than free workers.

        An adaptive batch may be shorter than that. Then the next batch follows at once, with the
        first one pending.
        """
        while True:
            free = 1 if self.workers.executor is None else self._free()
            out = sum(len(job.numbers) for job in (*self.waiting, *self.running.values()))
            room = self.budget - self.spent - out
            short = free - len(self.waiting)
            if room <= 0 or short <= 0:
                return
            if self.stop is not None:
                self.stopped = self.stop(self)
                if self.stopped is not None or self.budget - self.spent - out <= 0:
                    return
            room = self.budget - self.spent - out
            wanted = min(self._wanted(short), room)
            asked = list(self.study.ask(wanted, adaptive=True, origin="run"))
            self._queue(asked)
            if not asked:  # no candidate may be evaluated any more
                if not self.waiting and not self.running:
                    self.stopped = "exhausted"
                return

    def _wanted(self, short: int) -> int:
        optimizer = self.study.optimizer
        own = self.budget if optimizer.adaptive else optimizer.batch_size
        if self.vectorized:
            return self.batch or own
        if self.workers.executor is not None or self.batch is not None:
            return max(self.batch or 0, short)
        return own  # f runs here, one at a time: the algorithm decides how long its batch is

    def _queue(self, numbers: list[int]) -> None:
        if not numbers:
            return
        trials = self.study.get(numbers)
        if self.vectorized:
            encoded = self.study.domain.encoded
            self.waiting.append(_Job(numbers, trials.values if encoded else trials.points))
            return
        given = trials.values
        if self.argument is not None:
            given = [
                self.argument(int(i), x) for i, x in zip(trials.ids, trials.points, strict=True)
            ]
        self.waiting.extend(_Job([number], one) for number, one in zip(numbers, given, strict=True))

    def _free(self) -> int:
        self.stuck = [future for future in self.stuck if not future.done()]
        return self.workers.count - len(self.running) - len(self.stuck)

    # -- evaluating --------------------------------------------------------------------------

    def _evaluate_here(self, job: _Job) -> None:
        try:
            values = self.f(job.argument)
        except Exception as error:
            self._fail(job, reason_of(error), error)
        else:
            self._answer(job, values)

    def _submit(self) -> None:
        while self.waiting and self._free() > 0:
            if self.running and (
                self.waiting[0].alone or any(job.alone for job in self.running.values())
            ):
                return
            job = self.waiting.popleft()
            job.tries += 1
            try:
                future = self.workers.submit(self.f, job.argument)
            except Exception as error:
                self.waiting.appendleft(job)
                raise RunError(f"the executor takes no more work: {error!r}") from error
            job.started = time.monotonic()
            self.running[future] = job
            future.add_done_callback(self.finished.put)

    def _collect(self) -> None:
        """Wait for an answer or a timeout, then take in all that has arrived."""
        if not self.running and not self._free():
            raise RunError(
                f"all {self.workers.count} workers hang in evaluations that timed out; the study "
                "can go on with new workers"
            )
        until = self.ends
        if self.trial_timeout is not None and self.running:
            oldest = min(job.started for job in self.running.values())
            until = min(until, oldest + self.trial_timeout)
        try:
            wait = min(_WAIT, max(until - time.monotonic(), 0.0))
            self._take(self.finished.get(timeout=wait))
            while self.stopped is None:
                self._take(self.finished.get_nowait())
        except queue.Empty:
            pass
        if self.trial_timeout is not None:
            now = time.monotonic()
            for future, job in list(self.running.items()):
                if now - job.started >= self.trial_timeout:
                    self._time_out(future, job)

    def _take(self, future: Any) -> None:
        job = self.running.pop(future, None)
        if job is None:  # it timed out before it came back
            return
        try:
            values = future.result()
        except Exception as error:
            if _worker_was_lost(error):
                job.alone = True
                self._retry(job, f"its worker was lost: {error!r}")
            else:
                self._fail(job, reason_of(error), error)
        else:
            self._answer(job, values)

    def _time_out(self, future: Any, job: _Job) -> None:
        del self.running[future]
        future.cancel()
        if not future.cancelled():
            self.stuck.append(future)
        self._retry(job, f"timed out after {self.trial_timeout:g} s")

    def _retry(self, job: _Job, why: str) -> None:
        if job.tries < self.attempts:
            for number in job.numbers:
                self.study.reassign(number)
            self.waiting.appendleft(job)
        else:
            self._fail(job, f"{why}, {self.attempts} times")

    def values(self, ids: Ints, points: Points) -> Floats:
        """f at some choices (n), outside of all trials; NaN if it fails or the time is up."""
        arguments: list[Any] = self.study.domain.labels(ids, points)
        if self.vectorized:
            arguments = [arguments if self.study.domain.encoded else points]
        count = len(points) if self.vectorized else 1
        if self.workers.executor is None:
            calls: list[Callable[[float], Any]] = [
                lambda left, a=a: self.f(a) if left > 0 else math.nan  # type: ignore[misc]
                for a in arguments
            ]
        else:
            futures = [self.workers.submit(self.f, argument) for argument in arguments]
            calls = [
                lambda left, one=one: one.result(None if math.isinf(left) else left)  # type: ignore[misc]
                for one in futures
            ]
        found = []
        for call in calls:
            try:
                found.append(_numbers(call(max(self.ends - time.monotonic(), 0.0)), count))
            except Exception:
                found.append(np.full(count, math.nan))
        return np.concatenate(found)

    # -- telling -----------------------------------------------------------------------------

    def _answer(self, job: _Job, returned: Any) -> None:
        try:
            values = _numbers(returned, len(job.numbers))
        except (TypeError, ValueError) as error:
            self._fail(job, f"f returned no finite number: {error}")
            return
        good = np.abs(values) <= _checks.LARGEST  # not NaN either
        told = [number for number, fine in zip(job.numbers, good, strict=True) if fine]
        if told:
            self.study.tell(told, values[good])
            self.told += len(told)
            self.spent += len(told)
            self.in_a_row = 0
        for number, value in zip(told, values[good], strict=True):
            sign = self.study.units.sign
            better = not sign * value <= sign * self.best  # also true if best is NaN
            self.best = float(value) if better else self.best
            self._report(job, number, float(value), None)
        for number, value, fine in zip(job.numbers, values, good, strict=True):
            if not fine:
                huge = f"a number beyond ±{_checks.LARGEST:g}"
                what = huge if math.isfinite(value) else "no finite number"
                self._fail_one(job, number, f"f returned {what}: {value}")

    def _fail(self, job: _Job, why: str, error: Exception | None = None) -> None:
        for number in job.numbers:
            self._fail_one(job, number, why, error)

    def _fail_one(self, job: _Job, number: int, why: str, error: Exception | None = None) -> None:
        why = storable(why)
        self.study.tell([number], failed=why)
        self._set_failing_aside()
        self.failed += 1
        self.in_a_row += 1
        self.spent += self.count_failed
        last = in_one_line(why)
        self._report(job, number, math.nan, last)
        if self.max_failures is not None and self.failed > self.max_failures:
            trials = "trial" if self.failed == 1 else "trials"
            raise RunError(
                f"{self.failed} {trials} failed in this run, more than max_failures="
                f"{self.max_failures}; the last one: {last}"
            ) from error
        if self.max_in_a_row is not None and self.in_a_row >= self.max_in_a_row:
            self.stopped = "failures"

    def _set_failing_aside(self) -> None:
        """Set candidates aside that have failed too often."""
        if self.max_per_candidate is None or self.study.domain.size is None:
            return
        optimizer = self.study.optimizer
        due = np.setdiff1d(optimizer.failing(self.max_per_candidate), optimizer.aside)
        if len(due):
            self.study.set_aside(due)

    def _report(self, job: _Job, number: int, value: float, reason: str | None) -> None:
        self.done += 1
        if self.callback is None:
            return
        trial = job.numbers.index(number)
        progress = Progress(
            told=self.told,
            failed=self.failed,
            running=len(self.running),
            budget=self.budget,
            seconds=time.monotonic() - self.began,
            done=self.done,
            trial=number,
            point=job.argument[trial] if self.vectorized else job.argument,
            value=value,
            reason=reason,
            best=self.best,
            workers=self.workers.name,
        )
        if ends_run(self.callback(progress)):
            self.stopped = self.stopped or "callback"

    def cancel_rest(self) -> None:
        """Cancel evaluations that have not started; their trials wait for the next run."""
        for future in self.running:
            future.cancel()


def _numbers(returned: Any, count: int) -> Floats:
    """What f returned as ``count`` floats."""
    expected = f"expected {'one number' if count == 1 else f'{count} numbers'}"
    values = _checks.numbers("it", returned, expected)
    if returned is None or values.size != count or values.ndim > 2:
        raise ValueError(f"{expected}, got {_checks.shown(returned, 200)}")
    return values.reshape(count)


def _worker_was_lost(error: Exception) -> bool:
    """Whether a pool broke, or Dask says that a worker died during a task."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in (
        "KilledWorker",
        "FutureCancelledError",
        "CancelledError",
    )
