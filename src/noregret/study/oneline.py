"""The run behind the one-line functions: the study's runner, in memory or on a file."""

import math
import time
import warnings
from dataclasses import replace
from typing import Any

from noregret.algorithms import make
from noregret.kernels import as_kernel
from noregret.kernels.spec import to_spec
from noregret.learning.learner import is_auto
from noregret.optimizer import Optimizer
from noregret.spaces import Candidates, Space
from noregret.spaces.files import keeps, same_domain
from noregret.study.call import Call, domain_of
from noregret.study.errors import RunError, StudyError
from noregret.study.ledger import Ledger, Progress
from noregret.study.memory import MemoryLedger
from noregret.study.result import Result, result_of
from noregret.study.runner import run_study
from noregret.study.study import Study
from noregret.study.watch import DRAWN, Line, Watch
from noregret.study.workers import Executor, capacity

#: failures one after the other that end a run
_IN_A_ROW = 20


def run_call(call: Call) -> Result:
    """Do what somebody asked for in one line."""
    call.check()
    ledger = _ledger(call)
    try:
        return _run(call, ledger)
    finally:
        ledger.close()


def _run(call: Call, ledger: MemoryLedger | Study) -> Result:
    began = time.monotonic()
    counts = ledger.counts()
    notes = ledger.records.noted(DRAWN) if isinstance(ledger, Study) else []
    drawn = sum(note["count"] for note in notes)
    before = counts["told"] - counts["history"] + counts["failed"] + drawn
    line = Line(call.progress, call.budget, before)
    watch = Watch(ledger, call.tol, call.patience, call.stop, line)

    best = _best_so_far(ledger)

    def report(progress: Progress) -> bool:
        if ledger.units.sign * (best - progress.best) > 0 or math.isnan(progress.best):
            progress = replace(progress, best=best)
        line.show(progress)
        return call.callback is not None and call.callback(progress) is True

    def so_far(stopped: str) -> Result:
        return result_of(ledger, stopped, call.optimum, time.monotonic() - began)

    executor = call.workers if isinstance(call.workers, Executor) else None
    try:
        stopped = run_study(
            ledger,
            call.f,
            call.budget,
            executor=executor,
            workers=call.workers if executor is None else capacity(executor),
            batch=call.batch_size,
            vectorized=call.vectorized,
            timeout=call.timeout,
            max_failures=0 if call.failures == "raise" else None,
            max_in_a_row=_IN_A_ROW,
            count_failed=True,
            drawn=drawn,
            callback=report,
            stop=watch,
        )
    except KeyboardInterrupt:
        stopped = "interrupted"
    except BaseException as error:
        if isinstance(error, RunError) and call.failures == "raise":
            raise _failed(ledger, so_far("error")) from error.__cause__
        error.result = so_far("error")  # type: ignore[attr-defined]
        error.add_note("the evaluations so far are kept in the attribute `result` of this error")
        raise
    finally:
        line.close()
    result = so_far(stopped)
    if stopped == "failures" or (stopped == "budget" and not len(result.history)):
        _warn_of_failures(ledger, result)
    return result


def _best_so_far(ledger: Ledger) -> float:
    """The best value of earlier runs; NaN where there is none."""
    values = [trial.value for trial in ledger.rows() if trial.value is not None]
    if not values:
        return math.nan
    return max(values) if ledger.units.sign > 0 else min(values)


def _failed(ledger: Ledger, result: Result) -> RunError:
    """What to raise for the first failed evaluation."""
    last = [trial for trial in ledger.rows() if trial.status == "failed"][-1]
    point = ledger.get([last.number]).values[0]
    error = RunError(f"f failed at {point!r:.200}: {_last_line(last.reason)}")
    error.result = result
    return error


def _warn_of_failures(ledger: Ledger, result: Result) -> None:
    """Raise where no evaluation gave a value, warn where some did."""
    last = [trial for trial in ledger.rows() if trial.status == "failed"][-1]
    count = min(_IN_A_ROW, result.failures)
    why = f"{count} evaluations failed one after the other, the last one: "
    why += _last_line(last.reason)
    if len(result.history):
        warnings.warn(f"the run ended early: {why}", RuntimeWarning, stacklevel=5)
        return
    error = RunError(f"no evaluation gave a value: {why}")
    error.result = result
    raise error


def _last_line(reason: str | None) -> str:
    return (reason or "").strip().splitlines()[-1]


# -- the ledger ----------------------------------------------------------------------------------


def _ledger(call: Call) -> "MemoryLedger | Study":
    """Where the run is kept: in memory, or in the study of the path that was given."""
    if isinstance(call.algorithm, Optimizer):
        return MemoryLedger(call.algorithm, call.direction)
    domain = domain_of(call.domain)
    if call.storage is None:
        name = call.name(domain)
        return MemoryLedger(make(name, domain, **call.settings(name)), call.direction)
    return _study(call, domain)


def _study(call: Call, domain: Candidates | Space) -> Study:
    """The study at the path; a new one where there is none, the same one where there is."""
    assert call.storage is not None
    asked = str(call.algorithm).lower()
    try:
        study = _open(call, domain)
    except FileNotFoundError:
        name = call.name(domain)
        return Study.create(
            call.storage,
            domain,
            name,
            direction=call.direction,
            about={"algorithm": asked},
            **call.settings(name),
        )
    try:
        name = study.settings["algorithm"]
        if asked not in (study.settings["about"].get("algorithm", "auto"), name):
            raise _other(study, "algorithm", name, asked)
        if study.settings["direction"] != call.direction:
            raise _other(study, "direction", study.settings["direction"], call.direction)
        if not same_domain(study.domain, domain):
            raise _other(study, "domain", study.domain, domain)
        # A run may go on with a larger budget, and with the seed it has.
        free = {"horizon"} - call.options.keys() | ({"seed"} if call.seed is None else set())
        _compare(study, make(name, domain, **call.settings(name)), free)
    except BaseException:
        study.close()
        raise
    return study


def _open(call: Call, domain: Candidates | Space) -> Study:
    """The study at the path, given again what no file stores."""
    given: dict[str, Any] = {}
    if not keeps(domain):
        given["domain"] = domain
    kernel = call.options.get("kernel", "auto")
    if not is_auto(kernel) and to_spec(as_kernel(kernel), {}) is None:
        given["kernel"] = kernel
    return Study.open(call.storage, **given)  # type: ignore[arg-type]


def _compare(study: Study, wanted: Optimizer, free: set[str]) -> None:
    """Refuse a study whose settings, but for the ``free`` ones, are not those of this call."""
    here, there = wanted.settings(), study.optimizer.settings()
    here |= {name: there[name] for name in free & here.keys()}
    kernel = wanted.kernel
    if is_auto(kernel) or to_spec(as_kernel(kernel), {}) is not None:
        here["kernel"] = kernel if is_auto(kernel) else repr(as_kernel(kernel))
        there["kernel"] = study.settings["kernel"]
    for name, value in here.items():
        if value != there[name]:
            raise _other(study, name, there[name], value)


def _other(study: Study, what: str, stored: Any, given: Any) -> StudyError:
    return StudyError(
        f"storage: the study at {study.path} has {what} {stored!r}, this call has {given!r}; give "
        "the same, or another path"
    )
