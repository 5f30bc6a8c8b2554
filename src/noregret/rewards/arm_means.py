"""Robust UCB's estimates of every arm's mean, from its own rewards.

All from Bubeck, Cesa-Bianchi & Lugosi (2013), "Bandits with heavy tail", with δ = t⁻² after t
rewards.
"""

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from noregret._types import Bools, Floats, Ints
from noregret.observations import Observations
from noregret.rewards.moments import MomentBound
from noregret.rewards.sorted_sums import RewardsByArm
from noregret.widths import heavy

#: the error of Catoni's root, in units of √v
_ROOT_ERROR = 1e-13


class ArmMeans(Protocol):
    """An estimate of every arm's mean.

    Attributes
    ----------
    moment
        v in use, a bound on E|y|^(1+α).
    """

    moment: MomentBound

    def means(self, observations: Observations) -> Floats:
        """Take in the rewards told since; the mean of every arm, 0 without any (u)."""

    def width(self, t: int) -> float:
        """β after t rewards: a mean errs by at most β n^(−α/(1+α)) with probability 1 − t⁻²."""


@dataclass(eq=False)
class TruncatedMeans:
    """After t rewards, the j-th of an arm counts as zero where |y|^(1+α) > v j/log t².

    Attributes
    ----------
    moment
        v in use, a bound on E|y|^(1+α).
    """

    moment: MomentBound
    _rewards: RewardsByArm = field(default_factory=RewardsByArm, init=False)

    def means(self, observations: Observations) -> Floats:
        """Take in the rewards told since; the truncated mean of every arm, 0 without any (u)."""
        held = self._rewards.follow(
            observations, lambda rows, y: self._keyed(observations, rows, y)
        )
        self.moment = self.moment.after(observations.rewards)
        level = self.moment.value / heavy.log_squared(observations.t)
        rows = np.arange(len(observations))
        _, sums = held.below(rows, np.full((len(rows), 1), level))
        return np.asarray(sums[:, 0] / np.maximum(observations.told, 1))

    def width(self, t: int) -> float:
        """β of Lemma 1."""
        return heavy.robust_ucb(self.moment.alpha, self.moment.value, t)

    def _keyed(
        self, observations: Observations, rows: Ints, rewards: Floats
    ) -> tuple[Floats, Floats]:
        """The j-th reward is within (v j/log t²)^(1/(1+α)) where |y|^(1+α)/j ≤ v/log t²."""
        order = np.argsort(rows, kind="stable")
        starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        lengths = np.diff([*starts, len(rows)])
        # The last of an arm's new rewards is the one that makes its count what it is now.
        ranks = np.empty(len(rows), dtype=np.int64)
        ranks[order] = np.arange(len(rows)) - np.repeat(starts + lengths, lengths) + 1
        with np.errstate(over="ignore"):
            keys = np.abs(rewards) ** (1.0 + self.moment.alpha) / (observations.told[rows] + ranks)
        return keys, rewards


@dataclass(eq=False)
class MediansOfMeans:
    """The median of the means of k groups of an arm's rewards, in the order they came (Lemma 2).

    k = ⌊min(8 log(e^(1/8) t²), n/2)⌋, at least 1; each group has ⌊n/k⌋ rewards. Below the
    16 log(e^(1/8) t²) rewards that the lemma's proof needs, see :func:`within_reach`.

    Attributes
    ----------
    moment
        v in use, a bound on E|y|^(1+α).
    """

    moment: MomentBound

    def means(self, observations: Observations) -> Floats:
        """Take in the rewards told since; the median of means of every arm, 0 without any (u)."""
        self.moment = self.moment.after(observations.rewards)
        told, t = observations.told, observations.t
        most = 8.0 * (0.125 + heavy.log_squared(t))
        order = np.argsort(observations.history_rows, kind="stable")
        parts = np.split(observations.rewards[order], np.cumsum(told)[:-1])
        found = np.array([_median_of_means(own, most) for own in parts[: len(told)]])
        return within_reach(found, told, told < 2.0 * most, self.moment, self.width(t))

    def width(self, t: int) -> float:
        """β of Lemma 2."""
        return heavy.median_of_means(self.moment.alpha, self.moment.value, t)


@dataclass(eq=False)
class CatoniMeans:
    """Catoni's mean of every arm: the root θ of Σ ψ(a(y − θ)) = 0, for a finite variance (Lemma 3).

    ψ(x) = ±log(1 + |x| + x²/2) and a² = 2L/(n(v + 2vL/(n − 2L))) with L = log t². Where an arm has
    n ≤ 4L rewards the lemma says nothing: L is n/4 there, and see :func:`within_reach`.

    Attributes
    ----------
    moment
        v in use, a bound on E y²: with α = 1.
    """

    moment: MomentBound

    def means(self, observations: Observations) -> Floats:
        """Take in the rewards told since; Catoni's mean of every arm, 0 without any (u)."""
        self.moment = self.moment.after(observations.rewards)
        v, told, t = self.moment.value, observations.told, observations.t
        n, log = np.maximum(told, 1).astype(np.float64), heavy.log_squared(t)
        own = np.minimum(log, n / 4.0)
        scales = np.sqrt(2.0 * own * (n - 2.0 * own) / v) / n
        rows, rewards = observations.history_rows, observations.rewards
        found = _catoni_roots(rows, rewards, scales, _ROOT_ERROR * math.sqrt(v))
        return within_reach(found, told, told <= 4.0 * log, self.moment, self.width(t))

    def width(self, t: int) -> float:
        """β of Lemma 3."""
        return heavy.catoni(self.moment.value, t)


def within_reach(
    means: Floats, told: Ints, few: Bools, moment: MomentBound, width: float
) -> Floats:
    """Means (u); where ``few`` (u) is true they are moved towards zero until their intervals hold.

    |E y| ≤ v^(1/(1+α)) =: M by Jensen, so the interval mean ± r holds where |mean| ≤ r − M. For the
    few rewards of an arm that a lemma does not cover, r is at least M.
    """
    power = 1.0 / (1.0 + moment.alpha)
    radii = width * np.maximum(told, 1) ** (-moment.alpha * power)
    reach = np.maximum(radii - moment.value**power, 0.0)
    return np.where(few, np.clip(means, -reach, reach), means)


def _median_of_means(rewards: Floats, most: float) -> float:
    """The median of the means of at most so many groups of rewards (n); 0 of none."""
    if not len(rewards):
        return 0.0
    groups = max(int(min(most, len(rewards) / 2.0)), 1)
    size = len(rewards) // groups
    return float(np.median(rewards[: groups * size].reshape(groups, size).mean(axis=1)))


def _catoni_roots(rows: Ints, rewards: Floats, scales: Floats, error: float) -> Floats:
    """The roots of all arms by bisection: rows and rewards (t each), scales and roots (u each).

    A root lies between the arm's smallest and largest reward, because ψ has the sign of its
    argument.
    """
    low, high = np.full(len(scales), np.inf), np.full(len(scales), -np.inf)
    np.minimum.at(low, rows, rewards)
    np.maximum.at(high, rows, rewards)
    low[low > high], high[high == -np.inf] = 0.0, 0.0  # arms without rewards
    while True:
        middle = low + 0.5 * (high - low)
        if not np.any((high - low > error) & (low < middle) & (middle < high)):
            return np.asarray(middle)
        away = scales[rows] * (rewards - middle[rows])
        size = np.minimum(np.abs(away), 1e150)
        terms = np.copysign(np.log1p(size + 0.5 * size * size), away)
        above = np.bincount(rows, terms, minlength=len(scales)) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
