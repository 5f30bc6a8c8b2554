"""The one-line way: ``noregret.maximize(f, domain, budget)``."""

import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from noregret.algorithms import make
from noregret.optimizer import Optimizer
from noregret.running.changed_lists import domain_for
from noregret.spaces.files import same_domain
from noregret.study.arguments import Call, domain_of
from noregret.study.errors import RunError
from noregret.study.evaluating.evaluations import Evaluations
from noregret.study.evaluating.in_memory import MemoryStudy, StudyLike
from noregret.study.evaluating.progress import Progress, ProgressLine, ends_run
from noregret.study.evaluating.runner import run_study
from noregret.study.evaluating.stopping import DRAWN, EarlyStop
from noregret.study.evaluating.workers import Executor, capacity
from noregret.study.result import Result, result_of

if TYPE_CHECKING:
    from noregret.study.study import Study

#: this many failures in a row end a run
_IN_A_ROW = 20


def maximize(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    *,
    algorithm: str | Optimizer = "auto",
    seed: int | None = None,
    workers: int | Any = 1,
    batch_size: int | None = None,
    vectorized: bool = False,
    timeout: float | None = None,
    tol: float | None = None,
    patience: int | None = None,
    stop: Literal["converged"] | None = None,
    callback: Callable[[Progress], Any] | None = None,
    failures: Literal["continue", "raise"] = "continue",
    storage: str | os.PathLike[str] | None = None,
    progress: bool = True,
    optimum: float | None = None,
    **options: Any,
) -> Result:
    """Maximise a noisy function over a list, a box or a space of typed parameters.

    Ctrl-C ends the run early and returns what is known so far.

    Parameters
    ----------
    f
        Takes one point (a vector of d floats; a dict on a :class:`~noregret.Space` and on a named
        :class:`~noregret.Box`; the object itself on a list of objects) and returns a number. An
        exception, a NaN, an infinity or a number beyond ±1e100 is a failed evaluation: see
        ``failures``.
    domain
        :class:`~noregret.Candidates` (or an array or frame), a :class:`~noregret.Box`, a
        :class:`~noregret.Space`, or a dict from which a box or space is made: ``{"a": (0, 1), "b":
        (-1, 1)}``, ``{"a": nr.Int(1, 8)}``.
    budget
        The number of evaluations; failed ones count too. With ``storage``, those of earlier calls
        also count.
    algorithm
        The name of an algorithm, an optimiser of this domain to go on with, or ``"auto"``: BBKB on
        a list, TrustRegionUCB on a box or space. With ``tol``, GPUCB takes the place of
        TrustRegionUCB. With ``stop="converged"`` it is ThompsonSampling.
    seed
        Makes the run repeatable (with workers, up to the order in which they finish).
    workers
        How many evaluations run at the same time. A number above 1 means that many processes if f
        can be sent to one: f is a function of a module, or of a script that has ``if __name__ ==
        "__main__":``. Lambdas, functions of notebooks and of other scripts run in threads, which
        help if f waits or computes outside of Python. The line of progress says which. An executor
        of your own works too: ``concurrent.futures``, a Dask ``Client``, …
    batch_size
        Points asked for at once: at most this many for algorithms that choose their batches,
        exactly this many for the others. By default as many as workers are free; with one worker
        the algorithm decides, except with ``algorithm="auto"`` and a budget of up to 1,000.
    vectorized
        f takes a whole batch (n × d, n dicts on a :class:`~noregret.Space`, or a vector of n
        objects) and returns n numbers.
    timeout
        Seconds from the call on, with the start of worker processes. Evaluations under way are not
        waited for, except with ``workers=1``, where the last one ends first. Processes are ended. A
        thread cannot be ended, so a script ends only after the last evaluation in a thread.
    tol
        Stop once no choice can be better than the recommended one by more than this (its ``gap``).
        If kernel, noise or norm are learnt, the gap proves nothing. Then it is first tested by
        uniform draws that the fit has not seen, and ``stopped`` says ``"tol (learnt settings)"``.
    patience
        Stop after this many evaluations without a better recommendation. Better means: by what is
        known now, the posterior mean is higher by more than a tenth of the noise.
    stop
        ``"converged"``, for Thompson sampling only: stop once the maximisers of drawn functions
        have a spread below 0.02, in units of the space
        (:meth:`~noregret.ThompsonSampling.converged`). It proves nothing.
    callback
        Called after every evaluation with a :class:`~noregret.Progress` (``.trial``,
        ``.point``, ``.value``, ``.best``, ``.done``, ``.failed``, …). The run stops when it returns
        ``True``.
    failures
        ``"continue"``: failed evaluations are counted, the optimiser looks elsewhere (see
        :meth:`noregret.Optimizer.fail`), and 20 in a row end the run. ``"raise"``: the first one
        raises :class:`~noregret.study.RunError`. Whatever is raised has the result so far as
        ``error.result``.
    storage
        The path of a study (:class:`~noregret.Study`), which is made if there is none. Every
        evaluation is on disk at once, and the same call goes on after a crash. A study with another
        domain or other settings is refused.
    progress
        Whether to show a line of progress on standard error.
    optimum
        The largest value of f, if it is known. Then ``result.regret`` is computed.
    **options
        Settings of the algorithm. Kernel, noise and norm are ``"auto"`` if they are not given.
        ``width`` is 2 (deviations) if any of these three is learnt, else the algorithm's own.
    """
    return _run_call(Call(direction="maximize", **locals()))


def minimize(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    *,
    algorithm: str | Optimizer = "auto",
    seed: int | None = None,
    workers: int | Any = 1,
    batch_size: int | None = None,
    vectorized: bool = False,
    timeout: float | None = None,
    tol: float | None = None,
    patience: int | None = None,
    stop: Literal["converged"] | None = None,
    callback: Callable[[Progress], Any] | None = None,
    failures: Literal["continue", "raise"] = "continue",
    storage: str | os.PathLike[str] | None = None,
    progress: bool = True,
    optimum: float | None = None,
    **options: Any,
) -> Result:
    """Minimise a noisy function: as :func:`maximize`, with ``optimum`` the smallest value.

    The result is in f's own sign; ``result.algorithm`` maximises −f.
    """
    return _run_call(Call(direction="minimize", **locals()))


def _run_call(call: Call) -> Result:
    """Run a call of ``maximize`` or ``minimize``."""
    began = time.monotonic()
    call.check()
    study = _study(call)
    try:
        return _run(call, study, began)
    finally:
        study.close()


def _run(call: Call, study: "MemoryStudy | Study", began: float) -> Result:
    """Run until the end; ``began`` is the time of the call, by ``time.monotonic()``."""
    counts = study.counts()
    notes = [] if isinstance(study, MemoryStudy) else study.records.noted(DRAWN)
    drawn = sum(note["count"] for note in notes)
    before = counts["told"] - counts["history"] + counts["failed"] + drawn
    line = ProgressLine(call.progress, call.budget, before)
    early = EarlyStop(study, call.tol, call.patience, call.stop)
    best = _best_so_far(study)

    def report(progress: Progress) -> bool:
        if study.units.sign * (best - progress.best) > 0 or math.isnan(progress.best):
            progress = replace(progress, best=best)
        line.show(progress)
        return call.callback is not None and ends_run(call.callback(progress))

    def stop(run: Evaluations) -> str | None:
        if run.told:
            line.count(study.optimizer)
        return early(run)

    def so_far(stopped: str) -> Result:
        found = result_of(study, stopped, call.optimum)
        return replace(found, seconds=time.monotonic() - began)

    executor = call.workers if isinstance(call.workers, Executor) else None
    try:
        stopped = run_study(
            study,
            call.f,
            call.budget,
            executor=executor,
            workers=call.workers if executor is None else capacity(executor),
            batch=call.batch,
            vectorized=call.vectorized,
            timeout=_left(call.timeout, began),
            max_failures=0 if call.failures == "raise" else None,
            max_in_a_row=_IN_A_ROW,
            count_failed=True,
            drawn=drawn,
            callback=report,
            stop=stop,
        )
    except KeyboardInterrupt:
        stopped = "interrupted"
    except BaseException as error:
        if isinstance(error, RunError) and call.failures == "raise":
            raise _failed(study, so_far("error")) from error.__cause__
        error.result = so_far("error")  # type: ignore[attr-defined]
        error.add_note("the evaluations so far are kept in the attribute `result` of this error")
        raise
    finally:
        line.close()
    result = so_far(stopped)
    if stopped == "failures" or (stopped == "budget" and not len(result.history)):
        _warn_of_failures(study, result)
    return result


def _left(timeout: float | None, began: float) -> float | None:
    """Seconds left of the timeout; at least a moment, so that a late run ends as others do."""
    return None if timeout is None else max(timeout - (time.monotonic() - began), 1e-3)


def _best_so_far(study: StudyLike) -> float:
    """The best value of earlier runs; NaN if there is none."""
    values = [trial.value for trial in study.rows() if trial.value is not None]
    if not values:
        return math.nan
    return max(values) if study.units.sign > 0 else min(values)


def _failed(study: StudyLike, result: Result) -> RunError:
    """What to raise for the first failed evaluation."""
    last = [trial for trial in study.rows() if trial.status == "failed"][-1]
    point = study.get([last.number]).values[0]
    error = RunError(f"f failed at {point!r:.200}: {last.short_reason}")
    error.result = result
    return error


def _warn_of_failures(study: StudyLike, result: Result) -> None:
    """Raise if no evaluation gave a value; warn if some did."""
    last = [trial for trial in study.rows() if trial.status == "failed"][-1]
    count = min(_IN_A_ROW, result.failures)
    why = f"{count} evaluations failed one after the other, the last one: "
    why += last.short_reason
    if len(result.history):
        warnings.warn(f"the run ended early: {why}", RuntimeWarning, stacklevel=5)
        return
    error = RunError(f"no evaluation gave a value: {why}")
    error.result = result
    raise error


def _check_domain(given: Any, optimizer: Optimizer) -> None:
    """Refuse a domain that is not the one of the optimiser to go on with."""
    own = optimizer.domain
    if given is None or given is own:
        return
    domain = domain_for(optimizer.kernel, domain_of(given))
    if not same_domain(domain, own):
        raise ValueError(
            f"domain must be None, or that of the optimiser given as algorithm, {own!r}; got "
            f"{domain!r}"
        )


def _study(call: Call) -> "MemoryStudy | Study":
    """The study of the run: in memory, or at the path that was given."""
    if isinstance(call.algorithm, Optimizer):
        _check_domain(call.domain, call.algorithm)
        return MemoryStudy(call.algorithm, call.direction)
    domain = domain_of(call.domain)
    if call.storage is None:
        name = call.name(domain)
        return MemoryStudy(make(name, domain, **call.settings(name)), call.direction)
    from noregret.study.resume import stored_study  # only calls with storage need files

    return stored_study(call, domain)
