"""GP-UCB on clipped rewards: proved if a moment of the noise is known, and nothing else."""

import math
from dataclasses import dataclass

from noregret import _checks
from noregret.learning.learner import is_auto
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.ucb import ucb
from noregret.rewards.clipping import ClippedRewards
from noregret.rewards.moments import check_alpha
from noregret.widths import clipped
from noregret.widths.evidence import Evidence
from noregret.widths.heavy import Horizon

#: λ in units of ς²/F², where none is given
_LAM = 12.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClippedGPUCB(Optimizer):
    """GP-UCB on rewards clipped at cuts that were chosen before the rewards were seen.

    A reward counts as m + clip(y − m, ±c): m is the middle of its arm's interval, and c grows as
    its leverage falls, so bias and outliers are both kept below the noise of the mean.

    Proved (the Proofs page, Theorem 8): with ``width="theory"`` f lies within the bounds, for all
    choices and at all times, with probability 1 − δ, if ‖f‖ ≤ F and the noise has mean 0 and
    E|ε|^(1+α) ≤ ``noise``^(1+α) given the past. For α = 1 this means a variance of at most
    ``noise``²; nothing else is assumed. So bounds are intersected on lists, and ``gap``, ``alive``
    and the regret bound of GP-UCB are proved too. Not proved: other widths, the search of a box.

    The width is √2 to 2 times that of :class:`~noregret.GPUCB` for sub-Gaussian noise of the same
    deviation. Where a variance is large because of rare outliers, :class:`~noregret.HuberGPUCB`
    finds the best choice far sooner, without a proof.

    Parameters
    ----------
    domain, kernel, delta, seed, bounds, search
        As for every algorithm, see :class:`~noregret.Optimizer`. Nothing can be ``"auto"``.
    noise
        (E|ε|^(1+α))^(1/(1+α)), above 0: the standard deviation for α = 1.
    norm
        F.
    lam
        λ. By default 12ς²/F².
    width
        ``"theory"``: √(λF² + ς²(log det(I + K/λ) + 2 log(1/0.8δ) + 2 Σ price)) as a factor of
        √(variance/λ), with ς from noise and norm. A number or a function: see
        :class:`~noregret.Optimizer`.
    alpha
        α in (0, 1].
    horizon
        T, the number of evaluations planned; used for α < 1 only. It doubles when it is passed, and
        δ halves. Without a horizon it is 1,024 at first.
    """

    noise: float = 0.1
    norm: float = 1.0
    alpha: float = 1.0
    horizon: int | None = None

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
        noise, norm = _checks.positive("noise", self.noise), _checks.positive("norm", self.norm)
        horizon = Horizon(self.horizon)
        estimate = ClippedRewards(alpha, horizon, self.delta)
        scale = clipped.usual_scale(noise, norm, 1.0 + alpha, horizon.after(0))
        return Parts(
            chooser=ucb(self.domain, self.search),
            widths={"theory": _theory},
            proved=("theory",),
            estimate=estimate,
            lam=_LAM * scale**2 / norm**2,
        )


def _theory(e: Evidence) -> float:
    found = e.estimate.proved_width
    return math.sqrt(e.lam) * e.norm if found is None else float(found)
