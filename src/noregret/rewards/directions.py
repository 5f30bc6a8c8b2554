"""ATA-GP-UCB's estimate: rewards are truncated in every direction of a feature space.

The mean is φᵀV^(-1/2)r̂ with r̂_i = Σ_τ u_iτ y_τ 1{|u_iτ y_τ| ≤ b_t}, u_1 … u_m the rows of
V^(-1/2)Φᵀ. The model keeps features z of its own, z = Rφ with RRᵀ = I for the paper's φ, because
they can grow column by column. With V_z = RVRᵀ the paper's rows are V^(-1/2)Φᵀ = RᵀV_z^(-1/2)Zᵀ:
other coordinates would truncate in other directions.
"""

from dataclasses import dataclass, field

import numpy as np

from noregret._types import Floats, Ints
from noregret.linalg.factors import lower_solve
from noregret.models.assumptions import Assumptions
from noregret.models.fourier import QuadratureFourier
from noregret.models.posterior import Posterior
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.least_squares import RewardEstimate
from noregret.rewards.moments import MomentBound
from noregret.rewards.sorted_sums import RewardsByArm, SortedSums
from noregret.widths.heavy import Horizon, ata_level, ata_log, ata_practical_log

#: arms × directions looked up at a time
_CHUNK = 1 << 18


def truncated_directions(
    rewards: SortedSums, weights: Floats, rows: Ints, level: float
) -> tuple[Floats, bool]:
    """r̂ of ATA-GP-UCB Algorithm 2: Σ_τ u_iτ y_τ 1{|u_iτ y_τ| ≤ b} for every direction i (m).

    Parameters
    ----------
    rewards
        The rewards by arm with their magnitudes as keys.
    weights
        u of the arms (n × m): the same for all evaluations of an arm.
    rows
        The arms (n).
    level
        b.

    Returns
    -------
    sums, all_truncated
        r̂, and whether no reward at all lies within its level in any direction.
    """
    total = np.zeros(weights.shape[1])
    step = max(1, _CHUNK // max(weights.shape[1], 1))
    nothing = True
    for first in range(0, len(rows), step):
        part = weights[first : first + step]
        with np.errstate(divide="ignore", over="ignore"):
            levels = level / np.abs(part)
        counts, found = rewards.below(rows[first : first + step], levels)
        nothing = nothing and not counts.any()
        total += np.einsum("ij,ij->j", part, found)
    return total, nothing


def rotation(posterior: Posterior) -> Floats:
    """R (features × m): what takes the paper's coordinates to those of the model.

    The paper's φ is that of :class:`QuadratureFourier`, or K_D^(-1/2)k_D of the dictionary D for
    any other kernel.
    """
    lower = posterior.factor  # K_D = LLᵀ, z = L⁻¹k_D
    if isinstance(posterior.kernel, QuadratureFourier):
        return lower_solve(lower, posterior.kernel.features(posterior.inducing))
    # φ = K_D^(-1/2)k_D = (QPᵀ)ᵀz for L = PΣQᵀ.
    left, _, right = np.linalg.svd(lower)
    return np.asarray(right.T @ left.T)


def symmetric_root(root: Floats) -> Floats:
    """V_z^(-1/2), the symmetric root of V_z⁻¹ = FFᵀ (m × m), from F."""
    values, vectors = np.linalg.eigh(root @ root.T)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


@dataclass(frozen=True)
class _Directions:
    """The directions of the last batch start, and the moment that sets the level in them.

    Attributes
    ----------
    moment
        v in use.
    count
        m, the number of directions.
    dictionary, rotation
        The dictionary (rows) that R was computed for, and R.
    """

    moment: MomentBound
    count: int
    dictionary: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rotation: Floats = field(default_factory=lambda: np.empty((0, 0)))


class TruncatedDirections(RewardEstimate):
    """ATA-GP-UCB's weights of the mean.

    Only the part of r̂ in the span of the evaluated features is used; the part outside is an
    artefact of truncation. The error bounds hold for this projection too: it commutes with V, and
    the true vector with which r̂ is compared lies in the span.

    Parameters
    ----------
    moment
        v, a bound on E|y|^(1+α).
    horizon, delta
        T and δ.
    union
        2 or 4 for the logarithm of Lemma 1 or of Theorem 4 in the level; ``None``: the practical.
    count
        m before the first reward, where it is known.
    """

    def __init__(
        self, moment: MomentBound, horizon: Horizon, delta: float, union: int | None, count: int
    ) -> None:
        self._horizon, self._delta, self._union = horizon, delta, union
        self._rewards = RewardsByArm()
        self._directions = _Directions(moment, count)

    @property
    def moment(self) -> MomentBound:
        """v in use."""
        return self._directions.moment

    @property
    def count(self) -> int:
        """m, the number of directions: 2m̄ᵈ, or the size of the dictionary."""
        return self._directions.count

    @property
    def revision(self) -> int:
        """How often v has changed."""
        return self._directions.moment.changes

    def log_factor(self, t: int) -> float:
        """L of levels and widths after t evaluations, for the directions in use."""
        return self._log_factor(self.count, t)

    def _log_factor(self, count: int, t: int) -> float:
        horizon = self._horizon.after(t)
        if self._union is None:
            return ata_practical_log(count, horizon)
        return ata_log(count, horizon, self._horizon.delta(self._delta, t), self._union)

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Zeros (u): the weights of least squares are not used."""
        return np.zeros(len(observations))

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """V^(-1/2)r̂ in the features of the model (features)."""
        before, posterior, t = self._directions, model.posterior(), observations.t
        moment = before.moment.after(observations.rewards)
        rewards = self._rewards.follow(observations, lambda rows, y: (np.abs(y), y))
        turned = before.rotation
        if not np.array_equal(before.dictionary, model.dictionary):
            turned = rotation(posterior)
        count = turned.shape[1]
        back = symmetric_root(posterior.root) @ turned
        rows = np.flatnonzero(observations.told)
        level = ata_level(moment.alpha, moment.value, t, self._log_factor(count, t))
        found, nothing = truncated_directions(rewards, model.features[rows] @ back, rows, level)
        if nothing:
            moment = moment.warning(observations.rewards, level)
        self._directions = _Directions(moment, count, model.dictionary, turned)
        return np.asarray(back @ found)

    def restart(self) -> None:
        """Another kernel has other coordinates."""
        self._directions = _Directions(self.moment, self.count)
