"""TGP-UCB: heavy-tailed rewards, truncated (Ray Chowdhury & Gopalan, NeurIPS 2019)."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from noregret.algorithms.heavy_tails import FeatureGP, Features
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.rewards.moments import moment_bound
from noregret.rewards.truncation import TruncatedRewards
from noregret.widths import heavy
from noregret.widths.evidence import Evidence


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TGPUCB(Optimizer):
    """TGP-UCB (Algorithm 1): GP-UCB with rewards beyond a rising level set to zero.

    The t-th reward counts as zero, now and later, if |y| > b_t = v^(1/(1+α)) t^(1/(2(1+α))).

    Proved (Lemma 8): with ``features="exact"``, the theory's width and a true ``v``, at each single
    time t f lies within mean ± β·std everywhere with probability 1 − δ. The lemma claims this for
    all t at once. But its proof uses a concentration inequality for noise of one fixed size, and
    truncated noise grows with b_t. So for all t at once it is not proved, and bounds are not
    intersected by default. The same holds at the start of adaptive batches (``ratio`` > 1), and
    within a batch with deviations times √C̃ (BBKB Lemma 1): an arm is chosen before its reward is
    seen. Not proved: other features, other widths, an estimated ``v``.

    Parameters
    ----------
    domain, kernel, norm, delta, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`. A kernel that is ``"auto"`` has a
        variance of its own and is for rewards as they are: truncation is about zero, and ``v`` is
        in the rewards' units. It is fitted to uniform draws whose rewards are moved to within 3
        robust deviations of their median. A norm that is ``"auto"`` is doubled where the bounds
        before and after some rewards do not meet.
    lam
        λ, the regularisation: 1 by default; the kernel's variance where that is ``"auto"``.
    noise
        ξ, used for the fits of ``"auto"`` only: ``v`` bounds signal and noise together.
    width
        ``"theory"`` and ``"paper"``: √λB + 3b_t√(log det(I + K/λ) + 2 log 1/δ) as a factor of
        √(variance/λ), Theorem 1. ``"practical"``: √λB + b_t√log t, as in the paper's experiments. A
        number or a function: see :class:`~noregret.Optimizer`.
    alpha
        α in (0, 1]: rewards have a finite moment of order 1 + α; 1 for a finite variance.
    v
        A bound on E|y|^(1+α), signal included. ``"estimate"``: the median of means of |y|^(1+α)
        over up to 15 groups of the rewards so far, estimated anew (and all rewards truncated anew)
        each time their number has doubled.
    features
        ``"exact"``: the exact GP. ``"nystrom"``, ``"qff"``: as for :class:`~noregret.ATAGPUCB`.
    ratio
        C̃ ≥ 1: above 1, BBKB's adaptive batches.
    epsilon, nodes, horizon
        Of the features, as for :class:`~noregret.ATAGPUCB`.
    """

    noise: float | Literal["auto", "heavy"] = "auto"
    alpha: float = 1.0
    v: float | Literal["estimate"] = "estimate"
    features: Features = "exact"
    ratio: float = 1.0
    epsilon: float = 0.1
    nodes: int | None = None
    horizon: int | None = None

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether the batch rule decides how many points ``ask()`` gives."""
        return self.ratio > 1

    @property
    def v_in_use(self) -> float:
        """The bound on E|y|^(1+α): as given, or estimated so far."""
        estimate = self.beliefs.estimate
        assert isinstance(estimate, TruncatedRewards)
        return estimate.moment.value

    def parts(self) -> Parts:
        """A GP on truncated rewards, and the largest upper bound is next."""
        gp = FeatureGP(self)
        estimate = TruncatedRewards(moment_bound(self.alpha, self.v))
        theory = partial(_theory, self.alpha, gp.bias)
        practical = partial(_practical, self.alpha)
        widths = {"theory": theory, "paper": theory, "practical": practical}
        return gp.parts(widths, estimate, standardises=False)


def _theory(alpha: float, bias: float, e: Evidence) -> float:
    v = e.estimate.moment.value
    return heavy.tgp(alpha, v, e.norm, e.lam, e.delta, e.log_det, e.t, bias)


def _practical(alpha: float, e: Evidence) -> float:
    return heavy.tgp_practical(alpha, e.estimate.moment.value, e.norm, e.lam, e.t)
