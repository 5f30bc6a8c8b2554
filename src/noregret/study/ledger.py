"""What asks and is told in a run, and the progress of a run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from noregret.optimizer import Optimizer
from noregret.results import Recommendation, Trials
from noregret.spaces import Domain
from noregret.study.rows import Trial
from noregret.study.units import Units


class Ledger(Protocol):
    """What asks and is told: a :class:`~noregret.Study`, or a run that is kept in memory."""

    units: Units

    @property
    def domain(self) -> Domain:
        """What may be chosen."""

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings; ``"batch"`` is the n of an ask if none is given, or ``None``."""

    def ask(self, n: int | None = None, *, adaptive: bool = False, origin: str = "ask") -> Trials:
        """Trials to evaluate next: n, or with ``adaptive`` as many as the algorithm wants, or none.

        There are none if no candidate may be evaluated any more.
        """

    def tell(self, trials: Any, values: Any = None, *, failed: str | None = None) -> None:
        """Answer trials, by number: a value each, or why all of them failed."""

    def tell_history(self, points: Any, values: Any) -> Any:
        """Answers that nobody asked for: ids (or points of a box) and values."""

    def set_aside(self, ids: Any) -> None:
        """Stop asking for these candidates of a list."""

    def get(self, numbers: Sequence[int]) -> Trials:
        """These trials."""

    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without an answer."""

    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""

    def reassign(self, trial: int) -> None:
        """Note that a trial was given to another worker."""

    def note(self, event: str, **details: Any) -> None:
        """Write an event down."""

    def best(self) -> Recommendation:
        """The choice with the best guaranteed value, in the sign of the user's values."""

    def rows(self) -> list[Trial]:
        """Every trial, in the order asked for."""


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
