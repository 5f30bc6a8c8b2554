"""Bounds on the mean of a choice from its own rewards alone, softly clipped."""

import math
from dataclasses import dataclass, replace

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.assumptions import Assumptions
from noregret.observations import Observations
from noregret.widths import clipped
from noregret.widths.heavy import Horizon

#: the values of θ that are tried, and the highest level
PARTS, HIGHEST = (0.9, 0.7, 0.5), 16.0
#: the ratio of one level to the one before
_RATIO = 1.15
#: how often rewards are clipped about the mean of the last time
_ROUNDS = 3


@dataclass(frozen=True)
class ClippedArms:
    """Bounds of choices that use nothing but their own rewards (the Proofs page, Theorem 8).

    They are better than those of all rewards together where the norm of f is large beside the
    noise, so that one choice says little about another.

    Attributes
    ----------
    order
        p = 1 + α: the noise has a finite moment of this order.
    horizon
        T, used if p < 2.
    delta
        The probability that any of these bounds ever fails.
    choices
        How many choices have such bounds: the first ones that are asked for or told. The length of
        the list; candidates that are added later have none once all places are taken.
    """

    order: float
    horizon: Horizon
    delta: float
    choices: int

    def bounds(
        self, observations: Observations, assumed: Assumptions, prior: Floats, rows: Ints
    ) -> tuple[Floats, Floats]:
        """Lower and upper bounds of some arms (n each), infinite where nothing is known.

        ``prior`` is k(x, x) of these arms (n).
        """
        lower, upper = np.full(len(rows), -math.inf), np.full(len(rows), math.inf)
        order = np.argsort(rows)
        known = order[(rows[order] < self.choices) & (observations.told[rows[order]] > 0)]
        if not len(known):
            return lower, upper
        here = np.isin(observations.history_rows, rows[known])
        sample = clipped.Sample.of(observations.rewards[here], observations.history_rows[here])
        mean, radius = self._intervals(sample, assumed, prior[known], observations.t)
        lower[known], upper[known] = mean - radius, mean + radius
        return lower, upper

    def _intervals(
        self, sample: clipped.Sample, assumed: Assumptions, prior: Floats, t: int
    ) -> tuple[Floats, Floats]:
        """Means and radii of arms (n each), with λ = (ς/F)² for each of them alone."""
        second = self.order == 2.0
        scale = clipped.usual_scale(
            assumed.noise, self.order, 1 if second else self.horizon.after(t)
        )
        delta = self.delta if second else self.horizon.delta(self.delta, t)
        reach = assumed.norm * np.sqrt(prior)
        # λ in units of k(x, x): the prior weighs as much as this many rewards.
        weight = np.square(scale / reach)
        leverage = 1.0 / (sample.counts + weight)
        base = 1.0 + np.log1p(sample.counts / weight) + 2.0 * math.log(self.choices / delta)
        setting = clipped.Setting(scale, assumed.noise, self.order, 1.0, PARTS[0])
        deviations = np.sqrt(leverage) / scale
        mean = _medians(sample)
        for _ in range(_ROUNDS):
            level = clipped.level_above(math.sqrt(float(np.median(base))))
            sums = clipped.soft_sums(sample, mean, deviations, replace(setting, level=level))
            mean = leverage * sums
        case = clipped.Case(sample, sums, mean, deviations, reach, base)
        squares = np.full(len(mean), math.inf)
        level = clipped.level_above(math.sqrt(float(base.min())))
        while level < HIGHEST and np.isinf(squares).any():
            for part in PARTS:
                found = clipped.squared_apart(case, replace(setting, level=level, part=part))
                valid = np.isinf(squares) & (np.sqrt(found) <= level)
                squares[valid] = found[valid]
                if np.isfinite(squares).all():
                    break
            level = clipped.level_above(_RATIO * level)
        return mean, scale * np.sqrt(squares * leverage)


def _medians(sample: clipped.Sample) -> Floats:
    """The median reward of every arm (n)."""
    ends = np.append(sample.starts[1:], len(sample.rewards))
    pairs = zip(sample.starts.tolist(), ends.tolist(), strict=True)
    return np.array([float(np.median(sample.rewards[a:b])) for a, b in pairs])
