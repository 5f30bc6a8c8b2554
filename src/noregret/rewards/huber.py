"""Huber regression on the features of a GP, from rewards kept sorted by arm.

The mean μ = zᵀθ minimises Σ_τ ρ_c(y_τ − μ(x_τ)) + λ‖θ‖²/2, where ρ_c is y²/2 up to c and straight
beyond. Its gradient needs Σ_τ ψ_c(y_τ − μ) of every arm, ψ_c clipping at ±c: two binary searches in
the arm's sorted rewards.
"""

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.sparse import SparseGP
from noregret.rewards.truncation import SortedSums

#: steps of a fit that starts from the last one's answer
_STEPS = 50
#: a fit is done when no mean moves by more than this part of the smallest cut
_ACCURACY = 1e-3


class HuberMean:
    """Rewards by arm, and the Huber fit to them.

    Parameters
    ----------
    model
        Gives the features of the arms and V⁻¹, with every evaluation counted.
    """

    def __init__(self, model: SparseGP) -> None:
        self.model = model
        self._rewards = SortedSums()

    def add(self, arms: int, rows: Ints, rewards: Floats) -> None:
        """Take in rewards (n) of these rows (n); there are ``arms`` arms by now."""
        self._rewards.grow(arms)
        self._rewards.add(rows, rewards, rewards)

    def clipped_sums(self, means: Floats, cuts: Floats) -> Floats:
        """Σ_τ ψ_c(y_τ − μ) of every arm (u), for its mean and its cut (u each)."""
        levels = np.column_stack([means + cuts, means - cuts])
        counts, sums = self._rewards.below(np.arange(len(means)), levels)
        inside = counts[:, 0] - counts[:, 1]
        above = self.model.counts - counts[:, 0]
        outside = above - counts[:, 1]
        pull = outside * np.where(np.isfinite(cuts), cuts, 0.0)  # nothing is outside infinity
        return np.asarray(sums[:, 0] - sums[:, 1] - means * inside + pull)

    def fit(self, theta: Floats, cuts: Floats, accuracy: float = _ACCURACY) -> Floats:
        """θ (m) from a start (m), for these cuts by arm (u).

        ρ_c lies below the parabola of curvature 1 that touches it, so each step with V⁻¹ lowers
        the objective; where nothing is clipped, the first step arrives.
        """
        model = self.model
        features = model.arms.all_features()
        for _ in range(_STEPS):
            gradient = self.clipped_sums(features @ theta, cuts) @ features - model.lam * theta
            step = model.root.solve(gradient)
            theta = theta + step
            if np.abs(features @ step).max() <= accuracy * cuts.min():
                break
        return theta
