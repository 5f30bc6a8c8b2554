"""GP-UCB for plates: each candidate once, whole plates at a time, all settings learnt."""

from dataclasses import dataclass, field
from typing import Any, Literal

from noregret.learning.learner import Learning
from noregret.optimizer import Optimizer
from noregret.parts import Parts, Width
from noregret.picking.lists.plates import ListPlates
from noregret.spaces import as_candidates
from noregret.widths.evidence import theory

#: the width of the bounds used for picks, as a share of the width of the reported bounds
_NARROWING = 0.25


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlateUCB(Optimizer):
    """GP-UCB for a library that is measured in plates.

    ``ask(n)`` gives the n candidates with the largest bounds among those that are neither measured
    nor pending. A plate is picked in up to 16 groups. After each group the deviations fall as if
    the group had been measured. Bounds are 2 deviations wide; picks use half a deviation, which
    finds more of the best candidates when there are few plates.

    With ``aim=k`` a plate holds the candidates that most probably belong to the k best: those with
    the largest (mean − τ)/deviation, τ being the value that k candidates are expected to exceed.

    Kernel, noise and prior mean are learnt from all evaluations, not from uniform draws alone: from
    the first 10, and again whenever the data has grown by a quarter. The mean is fitted because the
    plates' own average is too high for the rest of the library. The GP is exact up to 4,096
    candidates measured; of those that follow, the ones that the model cannot predict become
    inducing points.

    Proved: with ``width="theory"`` and a given kernel, noise and norm the bounds, as for
    :class:`~noregret.BBKB`. Not proved: other widths, learnt settings, how good the picks are.

    Parameters
    ----------
    domain
        :class:`~noregret.Candidates`, or an array or frame from which they are made.
    kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        A number of deviations, 2 by default; ``"theory"``; or a function.
    """

    kernel: Any = field(default="auto", kw_only=False)
    noise: float | Literal["auto", "heavy"] = "auto"
    norm: float | Literal["auto"] = "auto"
    width: Width = 2.0

    def parts(self) -> Parts:
        """A GP that is exact while it is small, fitted to everything told; whole plates."""
        if self.bounds == "intersected":
            raise ValueError("bounds must be 'current' or None: a plate keeps none of the past")
        return Parts(
            chooser=ListPlates(as_candidates(self.domain), _NARROWING),
            widths={"theory": theory},
            proved=("theory",),
            dictionary="exact at first",
            learning=Learning(fits_mean=True, max_points=1000),
        )
