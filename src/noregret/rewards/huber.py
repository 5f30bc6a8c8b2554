"""HuberGPUCB's estimate: Huber regression on the features of a GP.

The mean μ = zᵀθ minimises Σ_τ ρ_c(y_τ − μ(x_τ)) + λ‖θ‖²/2, where ρ_c is y²/2 up to c and straight
beyond. Its gradient needs Σ_τ ψ_c(y_τ − μ) of every arm, ψ_c clipping at ±c: two binary searches in
the arm's sorted rewards.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.least_squares import RewardEstimate
from noregret.rewards.moments import estimate_from
from noregret.rewards.sorted_sums import RewardsByArm, SortedSums

#: steps of a fit that starts from the last one's answer
_STEPS = 50
#: a fit is done when no mean moves by more than this part of the smallest cut
_ACCURACY = 1e-3
#: rewards from which a scale is estimated
_FEWEST = 8
#: the largest clipped share: a Gaussian is cut at 1.5 deviations, which keeps 96 % of the
#: efficiency of least squares
_SHARE = 0.346
#: n times the clipped share of an arm of leverage 1/n: if clipping shifts means, and if it does not
#: (symmetric noise has no bias to remove)
_SKEW, _SYMMETRIC = 20.0, 300.0
#: two kinds of cuts differ if their means differ by this many deviations
_SEEN = 2.0
#: deviations of known noise that no cut goes below
_CUT = 1.5
#: shares that cuts are kept for
_SHARES = 48
#: rounds of fit and scale when the scale is estimated anew
_ROUNDS = 3
#: a reward that an arm has given so often, exactly, is no outlier
_REPEATED = 3


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
    features, solve = model.features, model.posterior().solve
    for _ in range(_STEPS):
        gradient = clipped_sums(rewards, features @ theta, cuts) @ features - model.lam * theta
        step = solve(gradient)[0]
        theta = theta + step
        if np.abs(features @ step).max() <= accuracy * cuts.min():
            break
    return np.asarray(theta)


def cuts_at(residuals: Floats, weights: Floats, shares: Floats) -> Floats:
    """The cut c with Σ w min(r², c²) = share · c² Σ w for each share (k), 0 where there is none.

    With a share of ℓ/n, cuts grow like σ√(n/ℓ) for residuals of variance σ²: the least that keeps
    the bias of skew noise below its noise (Wang, Zheng, Chen & Zhou 2021, "A new principle for
    tuning-free Huber regression"). Nothing is assumed of the residuals' law: they may be equal, few
    values, or without a variance.

    Parameters
    ----------
    residuals, weights
        r and w (n each).
    shares
        Between 0 and 1 (k).
    """
    sizes = np.abs(residuals)
    order = np.argsort(sizes)
    sizes, weights = sizes[order], weights[order] / weights.sum()
    inside = np.cumsum(weights * np.square(sizes))  # Σ w r² up to each size
    outside = np.maximum(1.0 - np.cumsum(weights), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The share falls as c grows; at a cut of zero it is the weight of what is not zero.
        at_sizes = np.where(sizes > 0.0, inside / np.square(sizes) + outside, 1.0)
    last = np.searchsorted(-at_sizes, -shares, side="right") - 1  # largest size with more
    above = np.maximum(shares - np.where(last >= 0, outside[last], 1.0), 1e-300)
    return np.where(last >= 0, np.sqrt(np.where(last >= 0, inside[last], 0.0) / above), 0.0)


def repeated(rows: Ints, rewards: Floats) -> Ints:
    """Which rewards their arm has given at least three times, exactly (k positions).

    Rewards of a continuous law never come again, so clicks and counts are told from outliers.

    Parameters
    ----------
    rows, rewards
        The arm and the value of every reward (t each).
    """
    order = np.lexsort((rewards, rows))
    new = (np.diff(rows[order], prepend=-1) != 0) | (np.diff(rewards[order], prepend=0.0) != 0.0)
    runs = np.cumsum(new) - 1
    return np.asarray(order[np.bincount(runs)[runs] >= _REPEATED])


@dataclass(frozen=True)
class _Fit:
    """The fit of the last batch start: its cuts, its spread and its weights.

    Attributes
    ----------
    shares, cuts
        Clipped shares, falling, and the cut for each (k each); none before they are estimated.
    least
        No cut for the noise goes below this: the largest residual of a reward that comes again.
    evidence
        The clipped share times n, by arm.
    spread
        The root mean square of the clipped residuals; ``None`` before it is estimated.
    used
        The number of rewards at the last estimate, a power of two.
    theta, dictionary
        The weights (m), and the dictionary they are for (m).
    revision
        How often cuts and spread have been estimated.
    """

    shares: Floats = field(default_factory=lambda: np.empty(0))
    cuts: Floats = field(default_factory=lambda: np.empty(0))
    least: float = 0.0
    evidence: float = _SKEW
    spread: float | None = None
    used: int = 0
    theta: Floats = field(default_factory=lambda: np.empty(0))
    dictionary: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    revision: int = 0


class HuberRegression(RewardEstimate):
    """The weights of the Huber fit, with cuts that grow as an arm becomes better known.

    An arm of leverage 1/n has the cut c(n) + F·std. c(n) is the cut of :func:`cuts_at` for a share
    of 20/n, at most 0.346. While cuts of a share of 300/n give the same mean, up to its noise,
    these are used: symmetric outliers bring no bias, and lower cuts bring less noise. Rewards that
    come again exactly, as clicks and counts do, are not clipped. For noise of a known deviation s,
    c(n) is s·max(1.5, √(n/20)).

    Parameters
    ----------
    known_noise
        Whether s is the noise that is assumed; otherwise cuts are found from the residuals each
        time the number of rewards has doubled.
    """

    def __init__(self, known_noise: bool) -> None:
        self._known_noise = known_noise
        self._rewards = RewardsByArm()
        self._fit = _Fit()

    @property
    def spread(self) -> float | None:
        """The root mean square of the clipped residuals; ``None`` before it is estimated."""
        return self._fit.spread

    @property
    def revision(self) -> int:
        """How often cuts and spread have been estimated."""
        return self._fit.revision

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Zeros (u): the weights of least squares are not used."""
        return np.zeros(len(observations))

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """θ of the Huber fit (m), from that of the last one."""
        found = self._fit
        rewards = self._rewards.follow(observations, lambda _, y: (assumed.seen(y),) * 2)
        use = estimate_from(observations.t)
        anew = use != found.used and use >= _FEWEST
        theta = self._start(model)
        for _ in range(_ROUNDS if anew else 1):
            if anew:
                found = self._estimate(theta, model, observations, assumed, found)
            theta = fit(model, rewards, theta, self._cuts(model, observations, assumed, found))
        self._fit = replace(
            found,
            used=use,
            theta=theta,
            dictionary=model.dictionary,
            revision=self.revision + anew,
        )
        return theta

    def _start(self, model: SparseGP) -> Floats:
        """The last weights, with zeros for new inducing points (m)."""
        before, theta = self._fit, np.zeros(model.size)
        if np.array_equal(model.dictionary[: len(before.dictionary)], before.dictionary):
            theta[: len(before.theta)] = before.theta
        return theta

    def _cuts(
        self, model: SparseGP, observations: Observations, assumed: Assumptions, found: _Fit
    ) -> Floats:
        """c of every arm (u): a part for the noise, and F·std, by which f may still differ."""
        leverage = np.maximum(model.leverage(), 1.0 / observations.t)
        shares = found.evidence * leverage
        if self._known_noise:
            noise = assumed.noise * np.maximum(_CUT, np.sqrt(1.0 / shares))
        elif len(found.cuts):
            noise = np.interp(-np.log(shares), -np.log(found.shares), found.cuts)
            noise = np.maximum(noise, found.least)
        else:
            noise = np.full(len(shares), np.inf)
        return np.asarray(noise + assumed.norm * np.sqrt(assumed.lam * leverage))

    def _estimate(
        self,
        theta: Floats,
        model: SparseGP,
        observations: Observations,
        assumed: Assumptions,
        found: _Fit,
    ) -> _Fit:
        """Cuts and spread from the residuals of all rewards so far.

        Rewards are weighted by their leverage, so that arms evaluated often do not count more.
        """
        rows = observations.history_rows
        residuals = assumed.seen(observations.rewards) - (model.features @ theta)[rows]
        if not self._known_noise:
            weights = model.leverage()[rows]
            least = min(_SKEW / (4.0 * observations.t), 0.5 * _SHARE)
            shares = np.geomspace(_SHARE, least, _SHARES)
            again = np.abs(residuals[repeated(rows, observations.rewards)])
            found = replace(
                found,
                shares=shares,
                cuts=cuts_at(residuals, weights, shares),
                least=float(again.max(initial=0.0)),
            )
            high, low = (
                self._cuts(model, observations, assumed, replace(found, evidence=share))[rows]
                for share in (_SKEW, _SYMMETRIC)
            )
            shift = weights * (np.clip(residuals, -high, high) - np.clip(residuals, -low, low))
            skew = abs(shift.sum()) > _SEEN * math.sqrt(float(shift @ shift))
            found = replace(found, evidence=_SKEW if skew else _SYMMETRIC)
        cuts = self._cuts(model, observations, assumed, found)[rows]
        spread = float(np.sqrt(np.mean(np.square(np.clip(residuals, -cuts, cuts)))))
        return replace(found, spread=spread)

    def restart(self) -> None:
        """Rewards have other units and weights other features."""
        self._rewards, self._fit = RewardsByArm(), _Fit(revision=self.revision)
