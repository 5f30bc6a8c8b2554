"""When a run has found enough, and the line that says how far it is."""

import math
import shutil
import sys
import time

import numpy as np

from noregret import _checks
from noregret.optimizer import Optimizer
from noregret.results import Recommendation
from noregret.study.evaluations import Evaluations
from noregret.study.ledger import Ledger, Progress
from noregret.study.stopping import Convergence

#: how many uniform draws test learnt settings before a run stops by its gap
_DRAWS = 30
#: the event that says how many such draws there were
DRAWN = "draws of tol"
#: a recommendation is better if its mean is higher by this much of the noise's deviation
_BETTER = 0.1
#: seconds between two counts of the candidates that can still be the best
_COUNT_EVERY = 1.0


class Watch:
    """Decides before new points are asked for whether the run stops.

    Parameters
    ----------
    tol
        Stop at this gap, or ``None``.
    patience
        Stop after this many evaluations without a better recommendation, or ``None``.
    stop
        ``"converged"``: stop when the algorithm's own rule says so.
    line
        The line of progress, which shows how many candidates can still be the best.
    """

    def __init__(
        self,
        ledger: Ledger,
        tol: float | None,
        patience: int | None,
        stop: str | None,
        line: "Line",
    ) -> None:
        self._ledger = ledger
        self._convergence = None if stop is None else Convergence(ledger)
        self._tol, self._patience, self._line = tol, patience, line
        self._best: Recommendation | None = None
        self._since = 0

    def __call__(self, run: Evaluations) -> str | None:
        """Why the run is to end, or ``None``."""
        optimizer = self._ledger.optimizer
        if not run.told:
            return None
        self._line.count(optimizer)
        if self._convergence is not None and (reason := self._convergence(run)) is not None:
            return reason
        if self._tol is None and self._patience is None:
            return None
        best = optimizer.recommend()
        if self._tol is not None and best.gap <= self._tol:
            if not optimizer.learnt:
                return "tol"
            left = run.budget - run.spent
            if left and self._holds(run, left):
                return "tol (learnt settings)"
        if self._patience is not None:
            if self._is_better(optimizer, best):
                self._best, self._since = best, run.done
            elif run.done - self._since >= self._patience:
                return "patience"
        return None

    def _is_better(self, optimizer: Optimizer, best: Recommendation) -> bool:
        """Whether this choice is better than the last one, both by the posterior now."""
        before = self._best
        if before is None:
            return True
        choices = [before.id, best.id] if optimizer.domain.listed else [before.point, best.point]
        mean, _ = optimizer.predict(choices, pending=False)
        return bool(mean[1] - mean[0] > _BETTER * optimizer.assumed.noise_near(float(mean[0])))

    def _holds(self, run: Evaluations, most: int) -> bool:
        """Whether uniform draws that the fit has not seen lie where the model says.

        The draws, at most ``most``, are evaluated, told and noted, so that a later run counts them
        in the budget. None may lie further from the model's mean than three deviations of
        reward and noise together, and the time must not be up.
        """
        optimizer = self._ledger.optimizer
        domain = optimizer.domain
        count = min(max(_DRAWS, 10 * (domain.dimension or 1)), most)
        ids, points = domain.sample(count, np.random.default_rng([optimizer.t, count]))
        where = ids if domain.listed else points
        mean, deviation = optimizer.predict(where, pending=False)
        noise = optimizer.assumed.noise_near(mean)
        values = run.values(ids, points)
        run.spent += count
        self._ledger.note(DRAWN, count=count)
        good = np.abs(values) <= _checks.LARGEST  # not NaN either
        if not good.any():
            return False
        self._ledger.tell_history(where[good], values[good])
        off = np.abs(self._ledger.units.rewards(values) - mean)[good]
        in_time = time.monotonic() < run.ends
        return in_time and bool(np.all(off <= 3.0 * np.hypot(deviation, noise)[good]))


class Line:
    """One line on standard error, at most ten times a second.

    Parameters
    ----------
    before
        Evaluations of earlier runs that count in the budget.
    """

    def __init__(self, wanted: bool, budget: int, before: int) -> None:
        self._wanted, self._budget, self._before = wanted, budget, before
        self._last = self._counted = -math.inf
        self._alive = ""
        self._width = 0
        self._shown: Progress | None = None
        self._failure_shown = False

    def count(self, optimizer: Optimizer) -> None:
        """Count the candidates that can still be the best, if that is proved."""
        now = time.monotonic()
        if self._wanted and now - self._counted > _COUNT_EVERY and optimizer.proved:
            alive = optimizer.alive
            self._alive = f", {alive:,} can still be the best" if alive is not None else ""
            self._counted = now

    def show(self, progress: Progress) -> None:
        """Show how far the run is, and the reason of the first failure."""
        self._shown = progress
        if not self._wanted:
            return
        if progress.reason is not None and not self._failure_shown:
            self._failure_shown = True
            words = f"the first failure: {progress.reason}"
            sys.stderr.write("\r" + words.ljust(self._width) + "\n")
        now, done = time.monotonic(), self._before + progress.done
        if now - self._last > 0.1 or done >= self._budget:
            self._write(progress)
            self._last = now

    def _write(self, progress: Progress) -> None:
        best = "" if math.isnan(progress.best) else f", best value {progress.best:.6g}"
        failed = f", {progress.failed} failed" if progress.failed else ""
        workers = f", {progress.workers}" if progress.workers else ""
        done = self._before + progress.done
        words = f"{done}/{self._budget} evaluations{best}{failed}{workers}{self._alive}"
        words = words[: max(shutil.get_terminal_size().columns - 1, 20)]
        sys.stderr.write("\r" + words.ljust(self._width))
        sys.stderr.flush()
        self._width = len(words)

    def close(self) -> None:
        """Bring the line up to date and end it."""
        if self._wanted and self._shown is not None:
            self._write(self._shown)
            sys.stderr.write("\n")
        self._wanted = False
