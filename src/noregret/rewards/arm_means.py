"""Robust UCB's estimate: the truncated mean of every arm, from its own rewards."""

import math

import numpy as np

from noregret._types import Floats, Ints
from noregret.observations import Observations
from noregret.rewards.moments import MomentBound
from noregret.rewards.sorted_sums import RewardsByArm


class TruncatedMeans:
    """After t rewards, the j-th of an arm counts as zero where |y|^(1+α) > v j/log t².

    Parameters
    ----------
    moment
        v, a bound on E|y|^(1+α).

    Attributes
    ----------
    moment
        v in use.
    """

    def __init__(self, moment: MomentBound) -> None:
        self.moment = moment
        self._rewards = RewardsByArm()

    def means(self, observations: Observations) -> Floats:
        """Take in the rewards told since; the truncated mean of every arm, 0 without any (u)."""
        held = self._rewards.follow(
            observations, lambda rows, y: self._keyed(observations, rows, y)
        )
        self.moment = self.moment.after(observations.rewards)
        level = self.moment.value / (2.0 * math.log(max(observations.t, 2)))
        rows = np.arange(len(observations))
        sums = held.sums(rows, np.full((len(rows), 1), level))[:, 0]
        return np.asarray(sums / np.maximum(observations.told, 1))

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
