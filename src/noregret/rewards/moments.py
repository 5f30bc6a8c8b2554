"""Moments and scales of rewards that outliers do not move."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats

#: groups of the median of means: one third of them may hold outliers of any size
_GROUPS = 15
#: the median absolute deviation of a Gaussian times this is its standard deviation
_GAUSSIAN = 1.4826
#: rewards further from the median than this many robust deviations are moved to that distance
_WINSOR = 3.0
#: after this many evaluations a warning is given if no reward was within its level
_ENOUGH = 16


def robust_moment(rewards: Floats, alpha: float) -> float:
    """An estimate of E|y|^(1+α): the median of the means of up to 15 groups of rewards (n).

    Groups are consecutive and hold at least four rewards each. If |y|^(1+α) has heavy tails the
    estimate is low, as every estimate is that ignores outliers.
    """
    with np.errstate(over="ignore"):
        powers = np.abs(rewards) ** (1.0 + alpha)
    groups = int(np.clip(len(powers) // 4, 1, _GROUPS))
    means = [float(part.mean()) for part in np.array_split(powers, groups)]
    return float(np.median(means))


def robust_deviation(rewards: Floats) -> float:
    """1.48 times the median of those absolute deviations from the median that are not zero.

    So if most rewards (n) are equal, as with rare clicks, the others are not taken for outliers. 0
    if all are equal.
    """
    away = np.abs(rewards - np.median(rewards))
    return _GAUSSIAN * float(np.median(away[away > 0])) if away.any() else 0.0


def winsorised(rewards: Floats, reach: float = _WINSOR) -> Floats:
    """The rewards (n), moved to within ``reach`` robust deviations of their median."""
    centre, cut = float(np.median(rewards)), reach * robust_deviation(rewards)
    return np.clip(rewards, centre - cut, centre + cut) if cut else rewards.copy()


def estimate_from(t: int) -> int:
    """How many of t rewards an estimate uses: a power of two, so that it changes log t times."""
    return 1 << (t.bit_length() - 1) if t else 0


def check_alpha(alpha: Any) -> float:
    """α in (0, 1]."""
    number = _checks.finite("alpha", alpha)
    if not 0 < number <= 1:
        raise ValueError(
            f"alpha must lie in (0, 1], got {alpha!r}: rewards have a finite moment of order "
            "1 + alpha; 1 for a finite variance"
        )
    return number


@dataclass(frozen=True)
class MomentBound:
    """v with E|y|^(1+α) ≤ v: given, or estimated each time the number of rewards has doubled.

    Attributes
    ----------
    alpha
        α.
    value
        v in use; 1 before anything has been estimated.
    estimated
        Whether it is estimated.
    used
        The number of rewards that the last estimate used.
    changes
        How often the value has changed.
    warned
        Whether a warning was given that no reward lies within its level.
    """

    alpha: float
    value: float
    estimated: bool
    used: int = 0
    changes: int = 0
    warned: bool = False

    def after(self, rewards: Floats) -> "MomentBound":
        """The bound after all rewards so far (t)."""
        use = estimate_from(len(rewards))
        if not self.estimated or use == self.used:
            return self
        tried, value = use, 0.0
        # If most rewards are zero, the estimate may be zero, which is not a bound: keep the earlier
        # one.
        while tried and not value:
            value = robust_moment(rewards[:tried], self.alpha)
            tried //= 2
        # Rewards that are all zero: any level lets them through.
        value = value or 1.0
        return replace(self, value=value, used=use, changes=self.changes + (value != self.value))

    def warning(self, rewards: Floats, level: float) -> "MomentBound":
        """Warn once if none of many rewards (t) lies within its level."""
        if self.warned or len(rewards) < _ENOUGH or not rewards.any():
            return self
        warnings.warn(
            f"all {len(rewards)} rewards lie beyond the truncation level {level:.3g} and count as "
            f"zero: v = {self.value:.3g} is too small for rewards with a median magnitude of "
            f"{np.median(np.abs(rewards)):.3g}; raise v, or use v='estimate'",
            stacklevel=2,
        )
        return replace(self, warned=True)


def moment_bound(alpha: Any, v: Any) -> MomentBound:
    """The bound for α and v as a user gave them: v a number, or the word ``"estimate"``."""
    alpha = check_alpha(alpha)
    if isinstance(v, str):
        _checks.one_of("v", v, ("estimate",))
        return MomentBound(alpha, 1.0, estimated=True)
    return MomentBound(alpha, _checks.positive("v", v), estimated=False)
