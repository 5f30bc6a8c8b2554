"""GP-UCB (Srinivas et al. 2010; Chowdhury & Gopalan 2017) on the exact GP."""

import math
from dataclasses import dataclass

from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.ucb import ucb
from noregret.widths import gaussian
from noregret.widths.evidence import Evidence, WidthRule, theory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GPUCB(Optimizer):
    """GP-UCB: the exact GP, one point at a time.

    Proved: with ``width="theory"`` or ``"paper"`` f lies within the bounds, for all choices and at
    all times, with probability 1 − δ, if ‖f‖ ≤ F and the noise is ξ-sub-Gaussian (the Proofs page).
    Not proved: other widths, learnt settings, the search of a box.

    A step costs O(u²) for u arms evaluated so far, beside the candidates that it looks at;
    :class:`~noregret.BBKB` does not grow with u.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`.
    lam
        λ. By default ξ², and with the theory's width also 3, 10, 30 and 100 times ξ²: bounds of all
        of them hold at once and are intersected. A given λ is used alone.
    width
        ``"theory"``: √((S² + λF² − λyᵀ(K + λI)⁻¹y)/λ) with ‖y − f‖² ≤ S², the tightest that the
        library can prove. ``"paper"``: √λF + ξ√(2(log det(I + K/λ) + log 1/δ)), divided by √λ (BKB
        eq. 7). ``"practical"``: the same without the factor 2. ``"srinivas"``: √(2 log(A t²π²/6δ)),
        for f drawn from the GP, λ = ξ² and a list. A number or a function: see
        :class:`~noregret.Optimizer`.
    """

    def parts(self) -> Parts:
        """Every arm told is an inducing point, and the largest upper bound is next."""
        if self.width == "srinivas":
            refuse_box(self)
        return Parts(
            chooser=ucb(self.domain, self.search),
            widths=EXACT_WIDTHS,
            proved=("theory", "paper"),
            many=True,
        )


def refuse_box(optimizer: Optimizer) -> None:
    """Refuse Srinivas' width where there are no candidates to count."""
    if optimizer.domain.size is None:
        raise ValueError(
            "width 'srinivas' counts the candidates of a list. For a box (Srinivas et al., Theorem "
            "2) it needs a bound on the derivatives of functions drawn from the GP, which a kernel "
            "does not tell: use 'theory' or a number"
        )


def _paper(e: Evidence) -> float:
    return gaussian.gp_ucb(e.noise, e.norm, e.lam, e.delta, e.log_det)


def _practical(e: Evidence) -> float:
    return gaussian.practical(e.noise, e.norm, e.lam, e.delta, 1.0, e.log_det)


def _srinivas(e: Evidence) -> float:
    return math.sqrt(e.lam) * gaussian.srinivas(e.choices, e.t + 1, e.delta)


#: the widths of the exact GP by name, as factors of √leverage
EXACT_WIDTHS: dict[str, WidthRule] = {
    "theory": theory,
    "paper": _paper,
    "practical": _practical,
    "srinivas": _srinivas,
}
