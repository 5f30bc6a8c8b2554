"""Uniform choice, the baseline every regret is compared with."""

from dataclasses import dataclass

from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.baselines import UniformDraws
from noregret.picking.ucb import ucb
from noregret.widths import gaussian
from noregret.widths.evidence import Evidence, WidthRule, theory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Uniform(Optimizer):
    """Choices uniformly at random, with replacement.

    Predictions and recommendations come from the sparse GP that :class:`~noregret.BBKB` uses.

    Proved: with ``width="theory"`` f lies within the bounds, for all choices and at all times, with
    probability 1 − δ (the Proofs page). Not proved: other widths, learnt settings. Regret grows
    linearly.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        Of the bounds that ``recommend`` gives. ``"theory"``: the tightest that the library can
        prove. ``"practical"``: √λF + ξ√(Σ log(1 + σ̃²) + log 1/δ), divided by √λ, as for
        :class:`~noregret.BKB`. A number or a function: see :class:`~noregret.Optimizer`.
    """

    def parts(self) -> Parts:
        """A sparse GP for the bounds, and uniform draws for the picks."""
        return Parts(
            chooser=UniformDraws(ucb(self.domain, self.search)),
            widths=SPARSE_WIDTHS,
            proved=("theory",),
            dictionary="grow",
            spreads=False,
        )


def _practical(e: Evidence) -> float:
    return gaussian.practical(e.noise, e.norm, e.lam, e.delta, 1.0, e.summed)


#: widths of algorithms that do not use their bounds to choose
SPARSE_WIDTHS: dict[str, WidthRule] = {"theory": theory, "practical": _practical}
