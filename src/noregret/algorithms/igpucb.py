"""IGP-UCB (Chowdhury & Gopalan 2017), as in π-GP-UCB, Section 2: the exact GP."""

import math
from dataclasses import dataclass

from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.ucb import ucb
from noregret.widths import gaussian
from noregret.widths.evidence import Evidence, WidthRule, theory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class IGPUCB(Optimizer):
    """IGP-UCB: the exact GP, one point at a time.

    Proved: with ``width="theory"`` or ``"paper"`` f lies within the bounds, for all choices and at
    all times, with probability 1 − δ, if ‖f‖ ≤ F and the noise is ξ-sub-Gaussian (the Proofs page).
    Not proved: other widths, learnt settings, the search of a box.

    With ``width="theory"`` it is :class:`~noregret.GPUCB`; the two differ in the formula of
    ``"paper"`` and in its λ. For rough functions :class:`~noregret.PiGPUCB` has the smaller regret
    and costs far less.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`; ``noise`` is the paper's L,
        ``norm`` its B.
    lam
        The paper's α; 1 by default, as in its experiments. The theorem has 1 + 2/T. With the
        theory's width, and where the kernel is ``"auto"``, the default is that of GP-UCB.
    width
        ``"theory"``: the tightest that the library can prove. ``"paper"``: β = B + L√(2(γ_t + 1 +
        log 1/δ)) (eq. 2) with the exact information gain γ_t of what has been told; for λ < 1 with
        L/√λ in the place of L. The paper's experiments use it as it is, so ``"practical"`` is the
        same. A number or a function: see :class:`~noregret.Optimizer`.
    """

    def parts(self) -> Parts:
        """Every arm told is an inducing point, and the largest upper bound is next."""
        return Parts(
            chooser=ucb(self.domain, self.search),
            widths=IGP_WIDTHS,
            proved=("theory", "paper"),
            lam=None if self.width == "theory" else 1.0,
            many=True,
        )


def _paper(e: Evidence) -> float:
    """Eq. 2, which multiplies the deviation; γ = ½ log det(I + K/λ)."""
    return math.sqrt(e.lam) * gaussian.igp_ucb(e.noise, e.norm, e.lam, e.delta, 0.5 * e.log_det)


#: the widths of IGP-UCB by name, as factors of √leverage
IGP_WIDTHS: dict[str, WidthRule] = {"theory": theory, "paper": _paper, "practical": _paper}
