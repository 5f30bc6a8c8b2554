"""HuberGPUCB's estimate: Huber regression on the features of a GP.

The mean μ = zᵀθ minimises Σ_τ ρ_c(y_τ − μ(x_τ)) + λ‖θ‖²/2, where ρ_c is y²/2 up to c and straight
beyond. Its gradient needs Σ_τ ψ_c(y_τ − μ) of every arm, ψ_c clipping at ±c: two binary searches in
the arm's sorted rewards.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.moments import estimate_from, robust_scale
from noregret.rewards.sorted_sums import RewardsByArm, SortedSums
from noregret.widths import gaussian

#: steps of a fit that starts from the last one's answer
_STEPS = 50
#: a fit is done when no mean moves by more than this part of the smallest cut
_ACCURACY = 1e-3
#: rewards from which a scale is estimated
_FEWEST = 8
#: deviations of Gaussian noise that no cut goes below: 96 % of the efficiency of least squares
_CUT = 1.5
#: how fast cuts rise; any factor removes the bias of skew noise in the end, a small one keeps cuts
#: low as long as an arm's bias is beside the point
_RISE = 0.25
#: rounds of fit and scale when the scale is estimated anew
_ROUNDS = 3


def clipped_sums(rewards: SortedSums, means: Floats, cuts: Floats) -> Floats:
    """Σ_τ ψ_c(y_τ − μ) of every arm (u), for its mean and its cut (u each)."""
    rows = np.arange(len(means))
    counts, sums = rewards.below(rows, np.column_stack([means + cuts, means - cuts]))
    inside = counts[:, 0] - counts[:, 1]
    above = rewards.counts(rows) - counts[:, 0]
    outside = above - counts[:, 1]
    pull = outside * np.where(np.isfinite(cuts), cuts, 0.0)  # nothing is outside infinity
    return np.asarray(sums[:, 0] - sums[:, 1] - means * inside + pull)


def fit(
    model: SparseGP, rewards: SortedSums, theta: Floats, cuts: Floats, accuracy: float = _ACCURACY
) -> Floats:
    """θ (m) from a start (m), for these cuts by arm (u).

    ρ_c lies below the parabola of curvature 1 that touches it, so each step with V⁻¹ lowers the
    objective; where nothing is clipped, the first step arrives.
    """
    features, root = model.features, model.posterior().root
    for _ in range(_STEPS):
        gradient = clipped_sums(rewards, features @ theta, cuts) @ features - model.lam * theta
        step = root @ (root.T @ gradient)
        theta = theta + step
        if np.abs(features @ step).max() <= accuracy * cuts.min():
            break
    return np.asarray(theta)


def _no_rows() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class _Progress:
    """What the last batch start found.

    Attributes
    ----------
    scale
        The deviation of the noise's bulk; ``None``: neither given nor estimated yet.
    spread
        The root mean square of the clipped residuals; ``None`` before it is estimated.
    used
        The number of rewards at the last estimate, a power of two.
    theta, dictionary
        The weights (m), and the dictionary they are for (m).
    revision
        How often scale and spread have been estimated.
    """

    scale: float | None = None
    spread: float | None = None
    used: int = 0
    theta: Floats = field(default_factory=lambda: np.empty(0))
    dictionary: Ints = field(default_factory=_no_rows)
    revision: int = 0


class HuberRegression:
    """The weights of the Huber fit, with cuts that rise with what is known of an arm.

    An arm of leverage 1/n, with noise of scale s, has the cut
    c = s·max(1.5, ¼√(n/log(A t²π²/6δ))) + F·std.

    Parameters
    ----------
    known_noise
        Whether s is the noise that is assumed; otherwise it is estimated, from the median absolute
        residual, each time the number of rewards has doubled.
    delta
        δ.
    choices
        A, the number of candidates; 0 on a box, for the number of points asked for so far.
    """

    def __init__(self, known_noise: bool, delta: float, choices: int) -> None:
        self._known_noise, self._delta, self._choices = known_noise, delta, choices
        self._rewards = RewardsByArm()
        self._progress = _Progress()

    @property
    def spread(self) -> float | None:
        """The root mean square of the clipped residuals; ``None`` before it is estimated."""
        return self._progress.spread

    @property
    def revision(self) -> int:
        """How often scale and spread have been estimated."""
        return self._progress.revision

    def sums(self, observations: Observations, assumed: Assumptions) -> Floats:
        """Zeros (u): the weights of least squares are not used."""
        return np.zeros(len(observations))

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """θ of the Huber fit (m), from that of the last one."""
        before = self._progress
        rewards = self._rewards.follow(observations, lambda _, y: (assumed.seen(y),) * 2)
        scale, spread = before.scale, before.spread
        use = estimate_from(observations.t)
        anew = use != before.used and use >= _FEWEST
        theta = self._start(model)
        for _ in range(_ROUNDS if anew else 1):
            if anew:
                scale, spread = self._estimate(theta, model, observations, assumed, scale)
            theta = fit(model, rewards, theta, self._cuts(model, observations, assumed, scale))
        self._progress = _Progress(
            scale, spread, use, theta, model.dictionary, before.revision + anew
        )
        return theta

    def _start(self, model: SparseGP) -> Floats:
        """The last weights, with zeros for new inducing points (m)."""
        before, theta = self._progress, np.zeros(model.size)
        if np.array_equal(model.dictionary[: len(before.dictionary)], before.dictionary):
            theta[: len(before.theta)] = before.theta
        return theta

    def _cuts(
        self,
        model: SparseGP,
        observations: Observations,
        assumed: Assumptions,
        scale: float | None,
    ) -> Floats:
        """c of every arm (u): noise, and what f itself may still differ by, F·std."""
        if self._known_noise:
            scale = assumed.noise
        leverage = np.maximum(model.leverage(), 1.0 / observations.t)
        choices = self._choices or len(observations)
        union = 0.5 * gaussian.srinivas(choices, observations.t, self._delta) ** 2
        rise = np.maximum(_CUT, _RISE * np.sqrt(1.0 / (leverage * union)))
        noise = (math.inf if scale is None else scale) * rise
        return np.asarray(noise + assumed.norm * np.sqrt(assumed.lam * leverage))

    def _estimate(
        self,
        theta: Floats,
        model: SparseGP,
        observations: Observations,
        assumed: Assumptions,
        scale: float | None,
    ) -> tuple[float | None, float]:
        """The noise's scale and spread from the residuals of all rewards so far."""
        rows = observations.history_rows
        residuals = assumed.seen(observations.rewards) - (model.features @ theta)[rows]
        if not self._known_noise:
            scale = robust_scale(residuals)
        cuts = self._cuts(model, observations, assumed, scale)[rows]
        return scale, float(np.sqrt(np.mean(np.square(np.clip(residuals, -cuts, cuts)))))

    def restart(self) -> None:
        """Rewards have other units and weights other features."""
        self._rewards, self._progress = RewardsByArm(), _Progress(revision=self.revision)
