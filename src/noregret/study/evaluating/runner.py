"""Evaluate a function until there are enough answers, on any workers."""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from noregret import _checks
from noregret.study.evaluating.evaluations import Evaluations
from noregret.study.evaluating.in_memory import StudyLike
from noregret.study.evaluating.progress import Progress
from noregret.study.evaluating.workers import start_workers


def check_options(owner: str, options: Iterable[str], also: Sequence[str]) -> None:
    """Refuse options that :func:`run_study` does not take; ``also``: what its ``owner`` takes."""
    known = [*inspect.signature(run_study).parameters][2:]
    _checks.known_names(owner, "option", options, [*also, *known])


def run_study(
    study: StudyLike,
    f: Callable[[Any], Any],
    budget: int,
    *,
    executor: Any = None,
    workers: int = 1,
    batch: int | None = None,
    vectorized: bool = False,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    attempts: int = 2,
    max_failures: int | None = 10,
    max_failures_per_candidate: int | None = 3,
    max_in_a_row: int | None = None,
    count_failed: bool = False,
    callback: Callable[[Progress], Any] | None = None,
    stop: Callable[[Evaluations], str | None] | None = None,
    argument: Callable[[int, Any], Any] | None = None,
    drawn: int = 0,
) -> str:
    """Evaluate ``f`` until the study has ``budget`` answers (history not counted).

    Trials that an earlier run asked for and did not answer come first. While evaluations are
    under way, free workers get new trials; pending trials count in the variance.

    Parameters
    ----------
    study
        A study opened for writing.
    f
        Takes a point (a 1-D array; a dict on a named box; the object itself on a list of objects)
        and returns a number. An exception, or a number that is not finite, is a failed trial.
    budget
        The number of answers at which the run ends. Another run with the same budget goes on.
    executor
        Anything with ``submit()`` that returns futures: threads, processes, a Dask ``Client``.
    workers
        Evaluations under way at the same time. Without an executor, 1 means that f runs here; more
        run in processes if f can be sent to one (a function of a module, or of a script that
        has ``if __name__ == "__main__":``), else in threads.
    batch
        Trials asked for at once. By default as many as there are free workers; if ``f`` runs
        here, as many as the algorithm wants.
    vectorized
        f takes a whole batch (n × d, n dicts on a space, or n objects) and returns n numbers.
    timeout
        Seconds for the whole run, with the start of worker processes. Evaluations under way are
        not waited for; but if f runs here, the evaluation under way ends first.
    trial_timeout
        Seconds for one evaluation. After that the trial is given to another worker.
    attempts
        How often a trial is given to a worker. A trial that timed out, or whose worker was lost,
        this many times has failed.
    max_failures
        The run stops with :class:`RunError` when more trials than this have failed in it; ``None``:
        no limit.
    max_failures_per_candidate
        A candidate of a list that has failed this often, in this run or earlier ones, and more
        often than it gave a value, is set aside: the run stops asking for it (see
        :meth:`noregret.Study.retry`). ``None``: no limit.
    max_in_a_row
        The run ends when this many evaluations have failed in a row.
    count_failed
        Whether failed trials count in ``budget``.
    callback
        Called after every evaluation; the run ends if it returns ``True``.
    stop
        Called before new trials are asked for; the run ends if it returns a reason.
    argument
        ``argument(id, point)`` makes the argument of ``f``, if that is not the point.
    drawn
        Evaluations of earlier runs that belong to no trial and count in ``budget``.

    Returns
    -------
    Why the run ended: ``"budget"``, ``"timeout"``, ``"callback"``, ``"failures"`` (in a row),
    ``"exhausted"`` (every candidate has been evaluated as often as it may be, or is set aside), or
    what ``stop`` said, such as ``"gap"``, ``"target"`` and ``"patience"``.
    """
    budget = _checks.count("budget", budget)
    attempts = _checks.count("attempts", attempts)
    batch = None if batch is None else _checks.count("batch", batch)
    if max_failures is not None:
        _checks.count("max_failures", max_failures, least=0)
    if max_failures_per_candidate is not None:
        _checks.count("max_failures_per_candidate", max_failures_per_candidate)
    if max_in_a_row is not None:
        _checks.count("max_in_a_row", max_in_a_row)
    timeout = None if timeout is None else _checks.positive("timeout", timeout)
    if trial_timeout is not None:
        trial_timeout = _checks.positive("trial_timeout", trial_timeout)
    _checks.function_of_one("f", f)
    if callback is not None:
        _checks.function_of_one("callback", callback, "an nr.Progress")
    for name, function in (("stop", stop), ("argument", argument)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function, got {function!r}")
    ends = math.inf if timeout is None else time.monotonic() + timeout
    with start_workers(
        f, executor, workers, here=trial_timeout is None, patience=timeout
    ) as started:
        if started.executor is None:
            batch = batch or study.settings["batch"]
        run = Evaluations(
            study=study,
            f=f,
            budget=budget,
            workers=started,
            batch=batch,
            vectorized=vectorized,
            ends=ends,
            trial_timeout=trial_timeout,
            attempts=attempts,
            max_failures=max_failures,
            max_in_a_row=max_in_a_row,
            max_per_candidate=max_failures_per_candidate,
            count_failed=count_failed,
            callback=callback,
            stop=stop,
            argument=argument,
            drawn=drawn,
        )
        return _noted(run)


def _noted(run: Evaluations) -> str:
    """Run, and note in the study how the run began and ended; returns why it ended."""
    study = run.study
    study.note("run started", budget=run.budget, workers=run.workers.count)
    try:
        stopped = run.go()
    except BaseException as error:
        study.note("run stopped", why=repr(error))
        raise
    else:
        study.note("run finished", told=run.told, failed=run.failed, why=stopped)
    finally:
        run.cancel_rest()
    return stopped
