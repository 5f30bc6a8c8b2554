"""Robust UCB for finitely many arms without structure (Bubeck, Cesa-Bianchi & Lugosi 2013)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from noregret import _checks
from noregret._types import Points
from noregret.learning.learner import Learner, Learning
from noregret.models.assumptions import Assumptions
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.separate import SeparateArms, SeparateUCB, separate_bounds
from noregret.rewards.arm_means import ArmMeans, CatoniMeans, MediansOfMeans, TruncatedMeans
from noregret.rewards.moments import MomentBound, moment_bound
from noregret.spaces import as_candidates
from noregret.widths import heavy
from noregret.widths.evidence import Evidence

_ESTIMATORS: dict[str, Callable[[MomentBound], ArmMeans]] = {
    "truncated": TruncatedMeans,
    "median-of-means": MediansOfMeans,
    "catoni": CatoniMeans,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RobustUCB(Optimizer):
    """Robust UCB: a bandit on separate arms with heavy tails; it does not use smoothness.

    With the truncated mean, after t evaluations, the j-th reward of an arm counts as zero where
    |y|^(1+α) > v j/log t², and an arm evaluated n times has the bound
    mean + 4 v^(1/(1+α)) (log t² / n)^(α/(1+α)). Proved, with theory's width and a true ``v``: each
    bound, above or below, fails with probability at most t⁻². Arms never evaluated come first, in
    their order.

    Parameters
    ----------
    domain, norm, delta, lam, noise, seed, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`; only the domain, a list, matters.
    kernel
        Accepted so that all algorithms have the same signature, and not used. With ``"auto"`` only
        ``v`` is learnt.
    bounds
        ``"current"``, as the bounds of all times need not hold at once.
    width
        ``"theory"`` and ``"paper"``: the estimator's. ``"practical"``: v^(1/(1+α)) (log t² /
        n)^(α/(1+α)), of the same order and without the constants. A number β: the bound is mean ±
        β·std with std = n^(−α/(1+α)). A function: see :class:`~noregret.Optimizer`; its argument
        holds nothing about a GP.
    alpha, v
        As for :class:`~noregret.TGPUCB`.
    estimator
        ``"truncated"``: the above (Lemma 1). ``"median-of-means"``: the median of the means of
        about 8 log t² groups, with the bound mean + (12·2^(1−α)v)^(1/(1+α)) (16 log(e^(1/8)t²) /
        n)^(α/(1+α)) (Lemma 2); it does not depend on where zero is, and has the largest constants.
        ``"catoni"``: Catoni's M-estimator, for α = 1 only, with the bound mean + 2√(v log t² / n)
        (Lemma 3), half of the first one's. If an arm has too few rewards for Lemma 2 or 3, its mean
        is moved towards zero until the bound holds by |E y| ≤ v^(1/(1+α)).
    """

    estimator: Literal["truncated", "median-of-means", "catoni"] = "truncated"
    alpha: float = 1.0
    v: float | Literal["estimate"] = "estimate"

    @property
    def v_in_use(self) -> float:
        """The bound on E|y|^(1+α): as given, or estimated so far."""
        estimate: ArmMeans = self.beliefs.estimate  # type: ignore[assignment]
        return estimate.moment.value

    def parts(self) -> Parts:
        """Robust means of separate arms, and the largest upper bound is next."""
        if self.bounds == "intersected":
            raise ValueError("bounds must be 'current' for RobustUCB, got 'intersected'")
        _checks.one_of("estimator", self.estimator, tuple(_ESTIMATORS))
        moment = moment_bound(self.alpha, self.v)
        if self.estimator == "catoni" and moment.alpha != 1:
            raise ValueError(
                f"alpha must be 1 for estimator 'catoni', which needs a variance, got "
                f"{self.alpha!r}; 'truncated' and 'median-of-means' take any"
            )
        means = _ESTIMATORS[self.estimator](moment)
        return Parts(
            chooser=SeparateUCB(as_candidates(self.domain)),
            widths={"theory": _theory, "paper": _theory, "practical": _practical},
            learning=Learning(fits_for=()),
            starts_uniformly=False,
            spreads=False,
            lam=1.0,
            beliefs=partial(_separate_arms, means),
            view=separate_bounds,
        )


def _separate_arms(
    means: ArmMeans, assumed: Assumptions, learner: Learner | None, nothing: Points
) -> SeparateArms:
    return SeparateArms(assumed, learner, means)


def _theory(e: Evidence) -> float:
    """β√λ: widths are factors of √leverage."""
    return math.sqrt(e.lam) * float(e.estimate.width(e.t))


def _practical(e: Evidence) -> float:
    moment = e.estimate.moment
    return math.sqrt(e.lam) * heavy.robust_ucb(moment.alpha, moment.value, e.t, 1.0)
