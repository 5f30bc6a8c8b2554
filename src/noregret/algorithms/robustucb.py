"""Robust UCB for finitely many arms without structure (Bubeck, Cesa-Bianchi & Lugosi 2013)."""

import math
from dataclasses import dataclass
from typing import Literal

from noregret.learning.learner import Learning
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.separate import SeparateArms, SeparateUCB, separate_bounds
from noregret.rewards.arm_means import TruncatedMeans
from noregret.rewards.moments import moment_bound
from noregret.spaces import as_candidates
from noregret.widths import heavy
from noregret.widths.evidence import Evidence


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RobustUCB(Optimizer):
    """Robust UCB with the truncated mean: a bandit on separate arms, no smoothness used.

    After t evaluations, the j-th reward of an arm counts as zero where |y|^(1+α) > v j/log t², and
    an arm evaluated n times has the bound mean + 4 v^(1/(1+α)) (log t² / n)^(α/(1+α)). Proved: each
    bound fails with probability at most t⁻². Arms never evaluated come first, in their order.

    Parameters
    ----------
    domain, norm, delta, lam, noise, seed, search
        As for every algorithm, see :class:`~noregret.Optimizer`; only the domain, a list, matters.
    kernel
        Taken as every algorithm takes it; only the GP algorithms it is compared with use it. There
        is nothing to learn for ``"auto"`` but ``v``.
    bounds
        ``"current"``, as the bounds of all times need not hold at once.
    width
        ``"theory"`` and ``"paper"``: the above. ``"practical"``: without the factor 4. A number β:
        the bound is mean ± β·std with std = n^(−α/(1+α)). A function: see
        :class:`~noregret.Optimizer`; of a GP the evidence says nothing.
    alpha, v
        As for :class:`~noregret.TGPUCB`.
    """

    alpha: float = 1.0
    v: float | Literal["estimate"] = "estimate"

    @property
    def v_in_use(self) -> float:
        """The bound on E|y|^(1+α): as given, or estimated so far."""
        estimate = self._looked().estimate
        assert isinstance(estimate, TruncatedMeans)
        return estimate.moment.value

    def parts(self) -> Parts:
        """Truncated means of separate arms, and the largest upper bound is next."""
        if self.bounds == "intersected":
            raise ValueError("bounds must be 'current' for RobustUCB, got 'intersected'")
        means = TruncatedMeans(moment_bound(self.alpha, self.v))
        return Parts(
            chooser=SeparateUCB(as_candidates(self.domain)),
            widths={"theory": _theory, "paper": _theory, "practical": _practical},
            learning=Learning(fits_for=()),
            starts_uniformly=False,
            spreads=False,
            lam=1.0,
            beliefs=lambda assumed, learner, nothing: SeparateArms(assumed, learner, means),
            view=separate_bounds,
        )


def _theory(e: Evidence) -> float:
    return _width(e, 4.0)


def _practical(e: Evidence) -> float:
    return _width(e, 1.0)


def _width(e: Evidence, factor: float) -> float:
    """β√λ: widths are factors of √leverage."""
    moment = e.estimate.moment
    return math.sqrt(e.lam) * heavy.robust_ucb(moment.alpha, moment.value, e.t, factor)
