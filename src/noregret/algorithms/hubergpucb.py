"""GP-UCB with a Huber regression in place of least squares: outliers of any kind, no α, no v."""

import math
from dataclasses import dataclass
from typing import Literal

from noregret import _checks
from noregret.algorithms.heavy_tails import FeatureGP, Features
from noregret.learning.learner import is_auto, is_heavy
from noregret.optimizer import Optimizer
from noregret.parts import Parts, Width
from noregret.rewards.huber import HuberRegression
from noregret.widths.evidence import Evidence


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HuberGPUCB(Optimizer):
    """GP-UCB with a robust mean: large residuals are clipped, no reward is dropped.

    The mean minimises Σ_τ ρ_c(y_τ − μ(x_τ)) + λ‖μ‖²/2 with Huber's ρ_c: square up to c, straight
    beyond. An arm of leverage 1/n is known as well as from n rewards. Its cut is c(n) + F·std. c(n)
    is the cut c at which the mean of min(residual², c²) is 20/n times c² (at most 0.346 times); so
    it grows like σ√(n/20) if the noise has a variance σ². While the residuals show no skewness,
    300/n takes the place of 20/n: symmetric outliers bring no bias, and lower cuts bring less
    noise. Gaussian noise and f itself are hardly changed. The bias of skew noise vanishes as
    evidence grows. Rewards that are often equal (clicks, counts) are not taken for outliers. No α
    and no v must be known: we advise this algorithm if the tails are unknown
    (docs/results/heavy-tails.md has the measurements).

    Proved: one reward, however large, moves no mean by more than 2cκ²/λ, κ² the largest k(x, x)
    (the objective is λ-strongly convex and its gradient moves by at most 2c). Not proved: its
    intervals. Cuts of this kind give sub-Gaussian errors on independent rewards of finite variance
    (Sun, Zhou & Fan 2020, "Adaptive Huber regression"); a bandit's are not independent. Where
    intervals must be proved, use :class:`~noregret.ClippedGPUCB`.

    Parameters
    ----------
    domain, kernel, delta, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`. A kernel that is ``"auto"`` is
        fitted to uniform draws whose rewards are moved to within 3 robust deviations of their
        median, and standardised by that median and deviation.
    norm
        F; ``"auto"``: the fit's, doubled where the bounds before and after some rewards do not
        meet.
    lam
        λ: 1 by default; the kernel's variance where that is ``"auto"``. With a much smaller λ an
        outlier at a new place looks like a peak.
    noise
        s, the noise's deviation, for c(n) = s·max(1.5, √(n/20)). ``"auto"``: cuts are found from
        the residuals each time the number of rewards has doubled. ``"heavy"``: the same.
    width
        ``"practical"``: √λF + ξ√(2 log 1/δ) as a factor of √(variance/λ), ξ the root mean square of
        the clipped residuals: bias and noise at one candidate and one time, without a union bound
        over all. A number or a function: see :class:`~noregret.Optimizer`.
    features, ratio, epsilon, nodes, horizon
        As for :class:`~noregret.ATAGPUCB`; ``"exact"`` by default.
    """

    noise: float | Literal["auto", "heavy"] = "auto"
    width: Width = "practical"
    features: Features = "exact"
    ratio: float = 1.0
    epsilon: float = 0.1
    nodes: int | None = None
    horizon: int | None = None

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether the batch rule decides how many points ``ask()`` gives."""
        return self.ratio > 1

    def parts(self) -> Parts:
        """Weights of the mean from a Huber fit, and the largest upper bound is next."""
        known_noise = not (is_auto(self.noise) or is_heavy(self.noise))
        if known_noise:
            _checks.positive("noise", self.noise)
        gp = FeatureGP(self)
        return gp.parts({"practical": _practical}, HuberRegression(known_noise), standardises=True)


def _practical(e: Evidence) -> float:
    return math.sqrt(e.lam) * e.norm + e.noise * math.sqrt(2.0 * math.log(1.0 / e.delta))
