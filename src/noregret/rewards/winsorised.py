"""Least squares on rewards of which the extreme ones are moved towards the median."""

import numpy as np

from noregret._types import Floats
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.moments import winsorised


class Winsorised:
    """Least squares on rewards that are drawn in to within 3 robust deviations of their median.

    Median and deviation are those of all rewards so far, at every batch start; if rewards are
    warped, on the warped scale. Nothing is proved for such rewards. One outlier of any size moves
    the mean by a few deviations at most.
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
        """Those of least squares."""
        return None

    def restart(self) -> None:
        """There is nothing to forget."""
