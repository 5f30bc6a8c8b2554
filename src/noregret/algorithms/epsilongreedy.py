"""ε-greedy: mostly the choice with the largest mean, now and then a random one."""

from dataclasses import dataclass

from noregret import _checks
from noregret.algorithms.uniform import SPARSE_WIDTHS
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.baselines import GreedyPicks
from noregret.picking.ucb import ucb


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EpsilonGreedy(Optimizer):
    """ε-greedy: a uniform choice with probability ε_t, else the largest posterior mean.

    A baseline of the BBKB paper's experiments, which state no ε. The model is the sparse GP that
    BBKB uses. Choices before the first reward, and those that ``"auto"`` settings are fitted to,
    are uniform.

    Proved: the bounds, as for :class:`~noregret.Uniform`. Not proved: a bound on the regret.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, width, bounds, search, repeats, aim
        As for :class:`~noregret.Uniform`.
    epsilon
        ε, a probability, the same at every step. ``None``: ε_t = t^(−1/3), which balances the cost
        of exploring and that of knowing too little, without knowing the gaps.
    """

    epsilon: float | None = None

    def parts(self) -> Parts:
        """A sparse GP for means and bounds; picks are the largest mean or a uniform draw."""
        if self.epsilon is not None and _checks.not_negative("epsilon", self.epsilon) > 1:
            raise ValueError(f"epsilon must be a probability, got {self.epsilon!r}")
        return Parts(
            chooser=GreedyPicks(ucb(self.domain, self.search), self.epsilon),
            widths=SPARSE_WIDTHS,
            proved=("theory",),
            dictionary="grow",
        )
