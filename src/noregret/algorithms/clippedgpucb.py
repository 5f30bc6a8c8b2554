"""GP-UCB on softly clipped rewards: proved for noise of which only a moment is known."""

import math
from dataclasses import dataclass

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.batching import BatchRule, GlobalRatio
from noregret.learning.learner import is_auto
from noregret.models.fantasy import Fantasy
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.ucb import ucb
from noregret.rewards.clipped_arms import ClippedArms
from noregret.rewards.clipping import ClippedRewards
from noregret.rewards.moments import check_alpha
from noregret.widths.evidence import Evidence, Widths
from noregret.widths.heavy import Horizon

#: the part of δ that bounds of choices from their own rewards take
_OWN_SHARE = 0.1
#: what rounding may do to a squared width, in units of λ
_ROUND_OFF = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClippedGPUCB(Optimizer):
    """GP-UCB on softly clipped rewards, in adaptive batches.

    A reward far from the mean of its choice counts as the logarithm of the distance. How far is far
    grows as the choice becomes better known, so bias and outliers both stay below the noise of the
    mean (Catoni 2012; here for all choices and times at once).

    Proved (the Proofs page, Theorem 8): with ``width="theory"`` f lies within the bounds
    everywhere and always with probability 1 − δ, for ‖f‖ ≤ F and noise with mean 0 and
    E|ε|^(1+α) ≤ ``noise``^(1+α) given the past. For α = 1 that is a variance of at most
    ``noise``², and nothing else. So bounds are intersected on lists, and ``gap``, ``alive`` and the
    regret bound of GP-UCB are proved too. Not proved: other widths, the search of a box.

    On a list each choice also has bounds from its own rewards alone, which take a tenth of δ; the
    narrower bounds count. They help if the norm is large beside the noise.

    With α = 1 the width tends to that of :class:`~noregret.GPUCB` for Gaussian noise of the same
    deviation as choices become well known. While many choices have one reward each it is up to 1.2
    times as large. Where a variance is large because of rare outliers,
    :class:`~noregret.HuberGPUCB` finds the best choice far sooner, without a proof.

    A batch start costs O(t) for t rewards, beside what GP-UCB costs.

    Parameters
    ----------
    domain, kernel, delta, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`. Nothing can be ``"auto"``.
    noise
        (E|ε|^(1+α))^(1/(1+α)), above 0: the standard deviation for α = 1.
    norm
        F.
    lam
        λ. By default σ², 3, 10, 30 and 100 times σ²: bounds of all of them hold at once and are
        intersected. A given λ is used alone.
    width
        ``"theory"``: √(λF² + ς²(log det(I + K/λ) + 2 log(1/δ) + 2 Σ price)), as a factor of
        √(variance/λ), times a number near 1, with ς from the noise. A number or a function: see
        :class:`~noregret.Optimizer`.
    alpha
        α in (0, 1].
    horizon
        T, the number of evaluations planned; used for α < 1 only. It doubles when it is passed, and
        δ halves. Without a horizon it is 1,024 at first.
    ratio
        C: a batch ends when 1 + Σ leverage of its picks passes this.
    """

    noise: float = 0.1
    norm: float = 1.0
    alpha: float = 1.0
    horizon: int | None = None
    ratio: float = 1.1

    adaptive = True

    def parts(self) -> Parts:
        """A GP on clipped rewards, and the largest upper bound is next."""
        for name in ("kernel", "noise", "norm"):
            if is_auto(getattr(self, name)):
                raise ValueError(
                    f"{name} must be given for ClippedGPUCB, whose bounds are theorems, got "
                    "'auto'; HuberGPUCB learns it"
                )
        if self.horizon is not None:
            _checks.count("horizon", self.horizon)
        alpha = check_alpha(self.alpha)
        _checks.positive("noise", self.noise)
        _checks.at_least_one("ratio", self.ratio)
        horizon, own = Horizon(self.horizon), _OWN_SHARE * self.delta
        arms = ClippedArms(1.0 + alpha, horizon, own, self.domain.size or 0)
        estimate = ClippedRewards(alpha, horizon, self.delta - own)
        return Parts(
            chooser=ucb(self.domain, self.search),
            widths={"theory": _theory},
            proved=("theory",),
            ratio=self.ratio,
            rule=self._rule,
            inflation={"theory": math.sqrt(self.ratio)},
            estimate=estimate,
            own=arms,
            many=True,
        )

    def _rule(self, fantasy: Fantasy) -> BatchRule:
        return GlobalRatio(self.ratio, fantasy.pending)


def _theory(e: Evidence) -> Widths:
    squares: Floats = e.estimate.squared_widths
    if not len(squares):
        return np.sqrt(e.lams) * e.norm, False
    return np.sqrt(np.maximum(squares, 0.0)), bool(np.any(squares < -_ROUND_OFF * e.lams))
