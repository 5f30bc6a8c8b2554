"""The run behind the one-line functions: the study's runner, in memory or on a file."""

import math
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from noregret.algorithms import make
from noregret.optimizer import Optimizer
from noregret.study.call import Call, domain_of
from noregret.study.errors import RunError
from noregret.study.ledger import Ledger, Progress
from noregret.study.memory import MemoryLedger
from noregret.study.result import Result, result_of
from noregret.study.runner import run_study
from noregret.study.watch import DRAWN, Line, Watch
from noregret.study.workers import Executor, capacity

if TYPE_CHECKING:
    from noregret.study.study import Study

#: this many failures in a row end a run
_IN_A_ROW = 20


def run_call(call: Call) -> Result:
    """Run a call of ``maximize`` or ``minimize``."""
    began = time.monotonic()
    call.check()
    ledger = _ledger(call)
    try:
        return _run(call, ledger, began)
    finally:
        ledger.close()


def _run(call: Call, ledger: "MemoryLedger | Study", began: float) -> Result:
    """Run until the end; ``began`` is the time of the call, by ``time.monotonic()``."""
    counts = ledger.counts()
    notes = [] if isinstance(ledger, MemoryLedger) else ledger.records.noted(DRAWN)
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
            timeout=_left(call.timeout, began),
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


def _left(timeout: float | None, began: float) -> float | None:
    """Seconds left of the timeout; at least a moment, so that a late run ends as others do."""
    return None if timeout is None else max(timeout - (time.monotonic() - began), 1e-3)


def _best_so_far(ledger: Ledger) -> float:
    """The best value of earlier runs; NaN if there is none."""
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
    """Raise if no evaluation gave a value; warn if some did."""
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
    """The ledger of the run: in memory, or the study at the path that was given."""
    if isinstance(call.algorithm, Optimizer):
        return MemoryLedger(call.algorithm, call.direction)
    domain = domain_of(call.domain)
    if call.storage is None:
        name = call.name(domain)
        return MemoryLedger(make(name, domain, **call.settings(name)), call.direction)
    from noregret.study.stored import stored_study  # only calls with storage need files

    return stored_study(call, domain)
