"""Do rewards have heavy tails, where hardly any choice was evaluated twice?"""

import copy
import math
from dataclasses import replace

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.learner import Learner
from noregret.learning.leave_one_out import leave_one_out
from noregret.models.assumptions import Assumptions
from noregret.observations import Observations
from noregret.rewards.diagnosis import at_least, exponential_tail, heavier_than_exponential
from noregret.rewards.moments import winsorised

#: rewards that can show heavy tails, the most that are used, and the p-value below which they do
_FEWEST, _MOST, _HEAVY = 60, 400, 0.001
#: the model is fitted only if the rewards themselves have a p-value below this
_POSSIBLY = 0.1
#: sizes beyond these many medians are outliers, and large ones
_FAR, _LARGE = 9.0, 4.5
#: arms from which a single reward can be a gross outlier, and how many medians it lies below
_FEWEST_LONE, _GROSS = 20, 40.0
#: the largest share of low values beside it
_FEW = 0.1
#: below this p-value large sizes lie next to outliers, and are no noise
_TOGETHER = 0.01


def heavy_residuals(
    learner: Learner,
    observations: Observations,
    assumed: Assumptions,
    corners: Points,
    seed: int,
) -> tuple[int, float] | None:
    """Whether rewards show heavy tails by their distance to a model: how many do, and the p-value.

    The model is fitted to rewards whose extreme values are moved towards the median, and the
    residual of an arm is its mean reward as it is, less what all other arms say. ``None`` if
    there are too few arms, if rewards or residuals have no heavy tails, or if large residuals lie
    next to each other: then f has a peak or a valley there.

    A single reward is enough if it is far too low, such as a stall of a hundred times the usual
    latency. To call it noise costs nothing: a choice that is really so bad is not looked for. A
    single reward that is far too high is none of this: it may be the best choice.
    """
    rows = np.flatnonzero(observations.told)[-_MOST:]
    counts = observations.told[rows]
    raw = observations.sums[rows] / counts
    if _pvalue(raw, len(rows) >= _FEWEST) >= _POSSIBLY:
        return None
    trial = copy.copy(learner)
    # The kernel in use is a good start: fits of the model itself look for others.
    starts = 1 if learner.fitted else learner.how.restarts
    trial.how = replace(learner.how, winsorises=True, restarts=starts)
    found = trial.fit(observations, assumed, corners, seed)
    points = observations.points[rows]
    residuals = _residuals(found, points, counts, raw)
    pvalue = _pvalue(residuals, len(rows) >= _FEWEST)
    if pvalue >= _HEAVY or _lie_together(residuals, found, points, counts, raw):
        return None
    return len(rows), pvalue


def _residuals(found: Assumptions, points: Points, counts: Ints, raw: Floats) -> Floats:
    """Mean rewards of arms less what the other arms say, in deviations (n)."""
    means = found.seen(winsorised(raw))
    mean, variance = leave_one_out(found.kernel, found.lam, points, counts, means)
    return np.asarray((found.seen(raw) - mean) / np.sqrt(variance + found.lam / counts))


def _pvalue(values: Floats, many: bool) -> float:
    """How often exponential tails look as heavy as those of values (n) about their median.

    If there are not many, only a lowest value counts that is a gross outlier.
    """
    if len(values) < _FEWEST_LONE:
        return 1.0
    off = values - np.median(values)
    sizes = np.abs(off)
    middle = float(np.median(sizes)) or math.inf
    depth = -float(off.min()) / middle
    # Many low values are no outliers: f is low there.
    gross = depth > _GROSS and np.mean(off < -_FAR * middle) <= _FEW
    lone = at_least(1, len(values), exponential_tail(depth)) if gross else 1.0
    return min(lone, heavier_than_exponential(sizes)[0]) if many else lone


def _lie_together(
    residuals: Floats, found: Assumptions, points: Points, counts: Ints, raw: Floats
) -> bool:
    """Whether outliers (n residuals) lie beside large residuals more often than by chance.

    Neighbours are nearest by the kernel. Their residuals are what they are without the outliers,
    which may have drawn the model away from them.
    """
    sizes = np.abs(residuals - np.median(residuals))
    middle = float(np.median(sizes))
    far = sizes > _FAR * middle
    large, rest = far.copy(), ~far
    others = _residuals(found, points[rest], counts[rest], raw[rest])
    large[rest] = np.abs(others - np.median(others)) > _LARGE * middle
    gram = found.kernel(points, points)
    np.fill_diagonal(gram, -np.inf)
    beside = int(np.sum(large[gram[far].argmax(axis=1)]))
    return at_least(beside, int(far.sum()), float(large.mean())) < _TOGETHER
