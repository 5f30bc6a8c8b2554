"""Moments and scales of rewards that outliers do not move."""

import numpy as np

from noregret._types import Floats

#: groups of the median of means: one third of them may hold outliers of any size
_GROUPS = 15
#: the median absolute deviation of a Gaussian times this is its standard deviation
_GAUSSIAN = 1.4826

#: robust deviations from the median beyond which a reward is drawn in
_WINSOR = 3.0


def robust_moment(rewards: Floats, alpha: float) -> float:
    """An estimate of E|y|^(1+α): the median of the means of up to 15 groups of rewards (n).

    Groups are consecutive and hold at least four rewards each. Of a heavy-tailed |y|^(1+α) this is
    on the low side, as any estimate is that outliers do not move.
    """
    with np.errstate(over="ignore"):
        powers = np.abs(rewards) ** (1.0 + alpha)
    groups = int(np.clip(len(powers) // 4, 1, _GROUPS))
    means = [float(part.mean()) for part in np.array_split(powers, groups)]
    return float(np.median(means))


def robust_scale(residuals: Floats) -> float:
    """The standard deviation that the bulk of the residuals (n) would have as a Gaussian."""
    return _GAUSSIAN * float(np.median(np.abs(residuals - np.median(residuals))))


def winsorised(rewards: Floats) -> Floats:
    """The rewards (n) drawn in to within 3 robust deviations of their median.

    The deviation is that of the bulk as a Gaussian, from the median of the absolute deviations that
    are not zero: of rewards that are mostly equal, such as rare clicks, the others are no outliers.
    """
    centre = float(np.median(rewards))
    away = np.abs(rewards - centre)
    if not away.any():
        return rewards.copy()
    cut = _WINSOR * _GAUSSIAN * float(np.median(away[away > 0]))
    return np.clip(rewards, centre - cut, centre + cut)


def estimate_from(t: int) -> int:
    """How many of t rewards an estimate uses: a power of two, so that it changes log t times."""
    return 1 << (t.bit_length() - 1) if t else 0
