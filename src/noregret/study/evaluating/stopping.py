"""When a run stops early: by a gap, a target, patience, or a maximiser that has converged."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from noregret import _checks
from noregret.optimizer import Optimizer
from noregret.results import Recommendation

if TYPE_CHECKING:
    from noregret.study import Study
    from noregret.study.evaluating.evaluations import Evaluations
    from noregret.study.evaluating.in_memory import StudyLike

#: called before new trials are asked for: why the run is to end, or ``None``
Stop: TypeAlias = "Callable[[Evaluations], str | None]"

#: answers between two looks at the maximiser's spread, as a fraction of those so far
_LOOK_EVERY = 0.05
#: how many uniform draws test learnt settings before a run stops by its gap
_DRAWS = 30
#: the event that says how many such draws there were
DRAWN = "draws of tol"
#: a recommendation is better if its mean is higher by this much of the noise's deviation
_BETTER = 0.1


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """When a run has found enough; the rule that comes first ends it.

    Attributes
    ----------
    gap
        No other candidate can be better than the best by more than this. If the study looks for
        the k best: no candidate outside of them can be better than the k-th by more than this.
    target
        The best choice's guaranteed value is at least this (at most, for a study that minimises).
    patience
        This many answers in a row brought no better value.
    """

    gap: float | None = None
    target: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.gap is not None:
            _checks.not_negative("stop_gap", self.gap)
        if self.target is not None:
            _checks.finite("target", self.target)
        if self.patience is not None:
            _checks.count("patience", self.patience)

    def reached(self, study: "Study") -> str | None:
        """Which of the rules says that it is enough: ``"gap"``, ``"target"``, ``"patience"``."""
        if not study.counts()["told"]:
            return None
        if self.patience is not None and without_progress(study) >= self.patience:
            return "patience"
        if self.target is not None and not is_unlearnt(study):
            best, minimize = study.best(), study.settings["direction"] == "minimize"
            if best.upper <= self.target if minimize else best.lower >= self.target:
                return "target"
        if self.gap is not None and gap_of(study) <= self.gap:
            return "gap"
        return None


@runtime_checkable
class Converges(Protocol):
    """An algorithm with a stopping rule of its own, as Thompson sampling has."""

    def converged(self) -> bool:
        """Whether the algorithm knows where the maximum is."""


def check_converges(algorithm: Any, name: str) -> None:
    """Refuse ``stop="converged"`` for an optimiser, or a class of them, that has no such rule."""
    if not isinstance(algorithm, Converges):
        raise ValueError(
            "stop='converged' is the rule of Thompson sampling, which draws where the maximum may "
            f"lie: {name} has no such rule. Use 'thompsonsampling' or 'asyncts', or stop by tol "
            "(stop_gap of a study) or patience"
        )


class Convergence:
    """Stop once the posterior of the maximiser has a small spread (Basu & Ghosh, line 23).

    A look draws many functions, so there is one only if the answers have grown by a twentieth
    since the last look.

    Parameters
    ----------
    study
        The study that is run; an algorithm without such a rule is refused.
    """

    def __init__(self, study: "StudyLike") -> None:
        check_converges(study.optimizer, type(study.optimizer).__name__)
        self._study = study
        self._next = 0

    def __call__(self, run: "Evaluations") -> str | None:
        """``"converged"``, or ``None``."""
        optimizer = self._study.optimizer
        if optimizer.t < self._next:
            return None
        self._next = optimizer.t + max(1, int(_LOOK_EVERY * optimizer.t))
        assert isinstance(optimizer, Converges)
        return "converged" if optimizer.converged() else None


def stop_of(study: "Study", rule: StopRule, stop: Stop | Literal["converged"] | None) -> Stop:
    """The stop function of a study's run: first its rule, then ``stop``."""
    if isinstance(stop, str):
        _checks.one_of("stop", stop, ("converged",))
        stop = Convergence(study)
    elif stop is not None and not callable(stop):
        raise TypeError(f"stop must be 'converged' or a function of the run, got {stop!r}")

    def reason(run: "Evaluations") -> str | None:
        return rule.reached(study) or (None if stop is None else stop(run))

    return reason


class EarlyStop:
    """Whether a run of ``maximize`` or ``minimize`` stops before its budget is spent.

    Parameters
    ----------
    study
        The study that is run.
    tol
        Stop at this gap, or ``None``.
    patience
        Stop after this many evaluations without a better recommendation, or ``None``.
    stop
        ``"converged"``: stop when the algorithm's own rule says so.
    """

    def __init__(
        self, study: "StudyLike", tol: float | None, patience: int | None, stop: str | None
    ) -> None:
        self._study = study
        self._convergence = None if stop is None else Convergence(study)
        self._tol, self._patience = tol, patience
        self._best: Recommendation | None = None
        self._since = 0

    def __call__(self, run: "Evaluations") -> str | None:
        """Why the run is to end, or ``None``."""
        optimizer = self._study.optimizer
        if not run.told:
            return None
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
        choices = optimizer.domain.references([before.id, best.id], [before.point, best.point])
        mean, _ = optimizer.predict(choices, pending=False)
        return bool(mean[1] - mean[0] > _BETTER * optimizer.assumed.noise_near(float(mean[0])))

    def _holds(self, run: "Evaluations", most: int) -> bool:
        """Whether uniform draws that the fit has not seen lie where the model says.

        The draws, at most ``most``, are evaluated, told and noted, so that a later run counts them
        in the budget. None may lie further from the model's mean than three deviations of
        reward and noise together, and the time must not be up.
        """
        optimizer = self._study.optimizer
        domain = optimizer.domain
        count = min(max(_DRAWS, 10 * (domain.dimension or 1)), most)
        ids, points = domain.sample(count, np.random.default_rng([optimizer.t, count]))
        where = domain.references(ids, points)
        mean, deviation = optimizer.predict(where, pending=False)
        noise = optimizer.assumed.noise_near(mean)
        values = run.values(ids, points)
        run.spent += count
        self._study.note(DRAWN, count=count)
        good = np.abs(values) <= _checks.LARGEST  # not NaN either
        if not good.any():
            return False
        self._study.tell_history(where[good], values[good])
        off = np.abs(self._study.units.rewards(values) - mean)[good]
        in_time = time.monotonic() < run.ends
        return in_time and bool(np.all(off <= 3.0 * np.hypot(deviation, noise)[good]))


def is_unlearnt(study: "Study") -> bool:
    """Whether settings cannot be learnt yet, from few or equal answers: bounds mean nothing."""
    learner = study.optimizer.situation(pending=False).beliefs.learner
    return learner is not None and (not learner.fitted or are_equal(study.optimizer))


def are_equal(optimizer: Optimizer) -> bool:
    """Whether all rewards so far are the same number: they say nothing about the function."""
    return optimizer.t > 0 and float(np.ptp(optimizer.history.rewards)) == 0.0


def gap_of(study: "Study") -> float:
    """How much better than the recommendation another choice can be; ∞ before it is known."""
    optimizer = study.optimizer
    if is_unlearnt(study):
        return math.inf
    return optimizer.recommend().gap if optimizer.aim == 1 else optimizer.top_gap()


def gap_in_words(study: "Study") -> str:
    """How much better than the recommendation another choice can be, and if that is proved."""
    optimizer, gap = study.optimizer, gap_of(study)
    if is_unlearnt(study):
        if are_equal(optimizer):
            return (
                "all answers so far are equal: nothing is known of how much better another can be"
            )
        return "there are too few answers yet to say how much better another can be"
    if optimizer.aim > 1 and len(np.unique(optimizer.history.ids)) < optimizer.aim:
        return f"fewer than {optimizer.aim} candidates have been measured"
    if math.isinf(gap):
        return "the values contradict the noise, norm or kernel given: nothing is known of the gap"
    other = "no other" if optimizer.aim == 1 else f"no candidate outside the best {optimizer.aim}"
    than = "" if optimizer.aim == 1 else " than the last of them"
    if optimizer.proved:
        return f"{other} is better{than} by more than {gap:.4g} (proved)"
    return f"by the model {other} should be better{than} by more than {gap:.4g} (not proved)"


def without_progress(study: "Study") -> int:
    """How many answers came after the best value measured."""
    rewards = study.optimizer.history.rewards
    return len(rewards) - 1 - int(np.argmax(rewards)) if len(rewards) else 0


def status_in_words(study: "Study", rule: StopRule) -> str:
    """Where a study stands, and whether that is enough."""
    optimizer, size = study.optimizer, study.size
    if optimizer.exhausted:
        open_ = study.counts()["pending"]
        waiting = f"; {open_} answers are still to come" if open_ else ""
        aside = f", and {len(optimizer.aside)} are set aside" if len(optimizer.aside) else ""
        return f"every candidate has been asked for as often as it may be{aside}{waiting}"
    if not study.counts()["told"]:
        return "no answers yet"
    reason = rule.reached(study)
    parts = [f"enough by its {reason}"] if reason else []
    parts.append(gap_in_words(study))
    alive = optimizer.alive
    if alive is not None:
        parts.append(f"{alive:,} of {size:,} can still be the best")
    since = without_progress(study)
    parts.append(f"{since:,} answer{'' if since == 1 else 's'} since the best value")
    return "; ".join(parts)
