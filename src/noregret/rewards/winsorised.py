"""Least squares on rewards of which the extreme ones are moved towards the median."""

import numpy as np

from noregret._types import Floats
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.moments import robust_deviation, winsorised

#: a reward is an outlier this many robust deviations below the median; it is moved to within
#: the second number of deviations of what the other rewards predict
_GROSS, _REACH = 10.0, 3.0
#: with fewer evaluations the model cannot tell an outlier from a hole of f
_FEWEST = 20
#: rounds in which outliers are moved, and the part of a deviation that ends them
_ROUNDS, _ACCURACY = 20, 1e-3


class Winsorised:
    """Least squares on rewards that are moved to within 3 robust deviations of their median.

    Median and deviation are those of all rewards so far, at every batch start; if rewards are
    warped, on the warped scale. A reward more than 10 of these deviations below the median that is
    the only one of its arm is moved further, to within 3 deviations of what all other rewards
    predict there: otherwise one stall would make a good region look bad. A second bad reward of the
    arm ends this.

    Nothing is proved for such rewards. One outlier of any size moves the mean by a few deviations
    at most.
    """

    spread: float | None = None
    is_least_squares = False
    revision = 0

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Sums of the rewards as they are moved, by arm (u)."""
        rewards = winsorised(assumed.warp.apply(observations.rewards))
        rows = observations.history_rows
        sums: Floats = np.bincount(rows, rewards, minlength=len(observations)).astype(np.float64)
        return np.asarray(assumed.seen(sums, observations.told))

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """Those of least squares with outliers moved further (m).

        With leverage ℓ the others predict (mean − ℓ·reward)/(1 − ℓ), and the reward deviates from
        it by √(λ/(1 − ℓ)): a rank-one step. Outliers beside each other take some rounds.
        """
        if observations.t < _FEWEST:
            return None
        rewards, own = (assumed.warp.apply(y) for y in (observations.rewards, observations.sums))
        cut = _GROSS * robust_deviation(rewards)
        gross = own < float(np.median(rewards)) - cut
        rows = np.flatnonzero(gross & (observations.told == 1))
        if not cut or not len(rows):
            return None
        Z, solve = model.features[rows], model.posterior().solve
        leverage = np.minimum(model.leverage(rows), 1.0 - 1e-9)
        deviation = np.sqrt(model.lam / (1.0 - leverage))
        lowest = drawn_in = model.sums[rows]
        theta = solve(model.sums @ model.features)[0]
        for _ in range(_ROUNDS):
            predicted = (Z @ theta - leverage * drawn_in) / (1.0 - leverage)
            change = np.maximum(lowest, predicted - _REACH * deviation) - drawn_in
            if np.all(np.abs(change) <= _ACCURACY * deviation):
                break
            drawn_in = drawn_in + change
            theta = theta + solve(change @ Z)[0]
        return np.asarray(theta)

    def restart(self) -> None:
        """There is nothing to forget."""
