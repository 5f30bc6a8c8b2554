"""Upper and lower bounds of points, from the posterior and a width."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.beliefs import Beliefs
from noregret.learning.rules import Rules
from noregret.models.fantasy import Block, Fantasy
from noregret.models.posterior import Posterior
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.widths.evidence import theory


@dataclass(frozen=True)
class Bounds:
    """How upper and lower bounds are computed now.

    Attributes
    ----------
    fantasy
        The posterior, with what is pending.
    widths
        Factors of √leverage, for the first λ alone (1) or for every λ (g).
    inflation
        The factor of deviations inside a batch: √C̃ if the width is proved.
    joint
        Whether the widths bound ‖f − mean‖ in the norm of V, and so differences of values as well.
    trace
        tr R: the prior variance of the evaluations that the dictionary leaves out.
    weight
        Of the mean in the bounds: 0 to go where the deviation is largest.
    version
        Which posterior it is.
    """

    fantasy: Fantasy
    widths: Floats
    inflation: float = 1.0
    joint: bool = False
    trace: float = 0.0
    weight: float = 1.0
    version: int = 0

    @property
    def posterior(self) -> Posterior:
        """What is believed from evaluations told."""
        return self.fantasy.posterior

    @cached_property
    def width(self) -> float:
        """The factor of √leverage for the first λ."""
        return float(self.widths[0])

    def evaluate(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and leverage of points (n each), pending evaluations counted."""
        return self.fantasy.evaluate(points)

    def upper(self, points: Points) -> Floats:
        """Upper bounds of points (n) from what has been told only."""
        return self.at_start(self.fantasy.block(points))

    def inside(self, block: Block) -> Floats:
        """Upper bounds of a block inside the batch (n): mean + inflated width·√leverage now."""
        upper = np.sqrt(block.leverage)
        upper *= self.inflation * self.width
        upper += block.mean if self.weight == 1.0 else self.weight * block.mean
        return upper

    def inside_one(self, mean: float, leverage: float) -> float:
        """The same for one candidate."""
        return self.weight * mean + self.inflation * self.width * math.sqrt(leverage)

    def at_start(self, block: Block) -> Floats:
        """Upper bounds of a block from what has been told only, the smallest of all λ (n)."""
        upper = self.weight * block.mean + self.width * np.sqrt(block.told)
        if len(self.widths) > 1:
            means, radii = self._intervals(block.Z, block.residual, first=1)
            upper = np.minimum(upper, (means + radii).min(axis=0))
        return np.asarray(upper)

    def lower_of(self, model: SparseGP, rows: Ints) -> Floats:
        """Lower bounds of some arms of the model (n)."""
        return self.lower(model.features[rows], model.residual[rows])

    def lower(self, Z: Floats, residual: Floats) -> Floats:
        """Lower bounds of points with these features and residuals, the largest of all λ (n)."""
        means, radii = self._intervals(Z, residual)
        return np.asarray((means - radii).max(axis=0))

    def differences(self, block: Block, others: Block) -> Floats:
        """Upper bounds of f(x) − f(y) for points x of one block and y of another (n × k).

        φ(x) − φ(y) is treated as one point: its features are the differences of theirs (the Proofs
        page, Theorem 2). Only where the bounds are ``joint``.
        """
        found = np.empty((len(block.points), len(others.points)))
        for i, z in enumerate(others.Z):
            one = others.points[i : i + 1]
            means, radii = self._intervals(*self.posterior.apart(block.points, block.Z, one, z))
            found[:, i] = (means + radii).min(axis=0)
        # Equal points differ by nothing, and round-off must not make that less than nothing.
        return found + 1e-9 * (np.abs(found) + np.abs(block.mean)[:, None] + np.abs(others.mean))

    def _intervals(self, Z: Floats, residual: Floats, first: int = 0) -> tuple[Floats, Floats]:
        """Means and radii of points with these features, from the ``first`` λ on (g × n each)."""
        which = slice(first, len(self.widths))
        radii = self.widths[which, None] * np.sqrt(self.posterior.leverages(Z, residual, which))
        return self.posterior.thetas[which] @ Z.T, radii


def gp_bounds(
    beliefs: Beliefs, observations: Observations, rules: Rules, pending: bool, frozen: bool
) -> Bounds:
    """The bounds of one GP, with what is pending or without."""
    rows = np.flatnonzero(observations.pending if pending else [])
    fantasy = Fantasy(
        beliefs.model.posterior(),
        observations.points[rows],
        observations.pending[rows],
        frozen=frozen,
    )
    widths = rules.fixed_widths(beliefs.model.lam)
    if widths is None:
        widths, _ = rules.widths(beliefs.evidence(observations, rules))
    return Bounds(
        fantasy,
        widths,
        rules.inflation,
        joint=rules.width is theory and beliefs.estimate.is_least_squares,
        trace=beliefs.model.trace(),
        version=beliefs.model.version,
    )
