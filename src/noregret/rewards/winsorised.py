"""Least squares on rewards of which the extreme ones are moved towards the median."""

import numpy as np

from noregret._types import Floats
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.moments import winsorised

#: a low reward is drawn in to within this many deviations of what the other rewards predict
_REACH = 3.0
#: with fewer evaluations the model cannot tell an outlier from a hole of f
_FEWEST = 20
#: rounds in which outliers are drawn in, and the part of a deviation that ends them
_ROUNDS, _ACCURACY = 20, 1e-3


class Winsorised:
    """Least squares on rewards that are drawn in to within 3 robust deviations of their median.

    Median and deviation are those of all rewards so far, at every batch start; if rewards are
    warped, on the warped scale. A low reward that is drawn in and is the only one of its arm is
    drawn in further, to within 3 deviations of what all other rewards predict there: otherwise one
    stall would make a good region look bad. A second bad reward of the arm ends this.

    Nothing is proved for such rewards. One outlier of any size moves the mean by a few deviations
    at most.
    """

    spread: float | None = None
    revision = 0

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Sums of the rewards as they are drawn in, by arm (u)."""
        rewards = winsorised(assumed.warp.apply(observations.rewards))
        rows = observations.history_rows
        sums: Floats = np.bincount(rows, rewards, minlength=len(observations)).astype(np.float64)
        return np.asarray(assumed.seen(sums, observations.told))

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """Those of least squares on the low rewards as they are drawn in further (m).

        With leverage ℓ the others predict (mean − ℓ·reward)/(1 − ℓ), and the reward deviates from
        it by √(λ/(1 − ℓ)): a rank-one step. Outliers beside each other take some rounds.
        """
        if observations.t < _FEWEST:
            return None
        moved = assumed.values(observations.sums) < model.sums - _ACCURACY * np.sqrt(model.lam)
        rows = np.flatnonzero(moved & (observations.told == 1))
        if not len(rows):
            return None
        Z, root = model.features[rows], model.posterior().root
        leverage = np.minimum(model.leverage(rows), 1.0 - 1e-9)
        deviation = np.sqrt(model.lam / (1.0 - leverage))
        lowest = rewards = model.sums[rows]
        theta = root @ (root.T @ (model.sums @ model.features))
        for _ in range(_ROUNDS):
            predicted = (Z @ theta - leverage * rewards) / (1.0 - leverage)
            change = np.maximum(lowest, predicted - _REACH * deviation) - rewards
            if np.all(np.abs(change) <= _ACCURACY * deviation):
                break
            rewards = rewards + change
            theta = theta + root @ (root.T @ (change @ Z))
        return np.asarray(theta)

    def restart(self) -> None:
        """There is nothing to forget."""
