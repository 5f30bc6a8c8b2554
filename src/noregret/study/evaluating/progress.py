"""How far a run is: what callbacks get, and the line that is shown."""

import math
import shutil
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.optimizer import Optimizer

#: seconds between two counts of the candidates that can still be the best
_COUNT_EVERY = 1.0


@dataclass(frozen=True)
class Progress:
    """Where a run stands, after an evaluation.

    Attributes
    ----------
    told, failed, running
        Answers in all (without history), failures of this run, evaluations under way.
    budget
        The number of evaluations at which the run ends.
    seconds
        Seconds since the run began.
    done
        Answers and failures of this run.
    trial
        The number of the trial that ended last.
    point
        What f was given for it: a vector, a dict on a named space, an object.
    value
        What f returned for it; NaN if it failed.
    reason
        Why it failed, in one line; ``None`` if it did not.
    best
        The best value of this run so far; NaN before the first.
    workers
        What evaluates, such as ``"4 processes"``; empty if f runs in this thread.
    """

    told: int
    failed: int
    running: int
    budget: int
    seconds: float
    done: int
    trial: int = -1
    point: Any = None
    value: float = math.nan
    reason: str | None = None
    best: float = math.nan
    workers: str = ""

    @property
    def rate(self) -> float:
        """Evaluations per second in this run."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        """Estimated time to the end, infinite before the first answer."""
        return (self.budget - self.told) / self.rate if self.done else math.inf


def ends_run(answer: Any) -> bool:
    """Whether a callback's answer ends the run: true, of Python or of NumPy."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


class ProgressLine:
    """One line on standard error, at most ten times a second.

    Parameters
    ----------
    before
        Evaluations of earlier runs that count in the budget.
    """

    def __init__(self, wanted: bool, budget: int, before: int) -> None:
        # Programs without a console, such as those of pythonw, have no standard error.
        self._wanted = wanted and sys.stderr is not None
        self._budget, self._before = budget, before
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
