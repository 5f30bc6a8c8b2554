"""Least squares on rewards of which the extreme ones are moved towards the median."""

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.least_squares import RewardEstimate
from noregret.rewards.moments import robust_deviation, winsorised

#: a reward is an outlier this many robust deviations below the median; it is moved to within
#: the second number of deviations of what the other rewards predict
_GROSS, _REACH = 10.0, 3.0
#: with fewer evaluations the model cannot tell an outlier from a hole of f
_FEWEST = 20
#: rounds in which outliers are moved, and the part of a deviation that ends them
_ROUNDS, _ACCURACY = 20, 1e-3


class Winsorised(RewardEstimate):
    """Least squares on rewards that are moved to within 3 robust deviations of their median.

    Median and deviation are those of all rewards so far, at every batch start; if rewards are
    warped, on the warped scale. A reward more than 10 of these deviations below the median that is
    the only one of its arm is moved further, to within 3 deviations of what all other rewards
    predict there: otherwise one stall would make a good region look bad. A second bad reward of the
    arm ends this.

    Nothing is proved for such rewards. One outlier of any size moves the mean by a few deviations
    at most.
    """

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

        Outliers beside each other take some rounds. Each is drawn in to what the others predict
        from the ones drawn in before it: all at once could swing further and further.
        """
        if observations.t < _FEWEST:
            return None
        rewards, own = (assumed.warp.apply(y) for y in (observations.rewards, observations.sums))
        cut = _GROSS * robust_deviation(rewards)
        gross = own < float(np.median(rewards)) - cut
        rows = np.flatnonzero(gross & (observations.told == 1))
        if not cut or not len(rows):
            return None
        Z, posterior = model.features[rows], model.posterior()
        left, deviation = left_out(model, rows)
        b = posterior.coordinates(Z)
        influence = b @ b.T  # how far the mean at one follows the reward of another
        theta = posterior.solve(model.sums @ model.features)[0]
        mean, lowest = Z @ theta, model.sums[rows]
        drawn_in = lowest.copy()
        for _ in range(_ROUNDS):
            before = drawn_in.copy()
            for i in range(len(rows)):
                predicted = drawn_in[i] + (mean[i] - drawn_in[i]) / left[i]
                level = max(lowest[i], predicted - _REACH * deviation[i])
                mean += (level - drawn_in[i]) * influence[i]
                drawn_in[i] = level
            if np.all(np.abs(drawn_in - before) <= _ACCURACY * deviation):
                break
        return np.asarray(theta + posterior.solve((drawn_in - lowest) @ Z)[0])


def left_out(model: SparseGP, rows: Ints) -> tuple[Floats, Floats]:
    """What is needed to leave out the reward of an arm told once, for each of some arms (n each).

    The first is 1 − zᵀV⁻¹z: by this share of its distance to what all others predict, a reward
    stays away from the mean. The second is the deviation of the reward from what they predict.
    """
    residual = model.residual[rows]
    # The residual counts in the leverage, but the mean does not follow the reward there.
    left = np.maximum(1.0 - (model.leverage(rows) - residual / model.lam), 1e-9)
    return left, np.sqrt(model.lam / left + residual)
