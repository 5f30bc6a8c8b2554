"""Bounds of arms from their own rewards alone, beside those of the model."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations

#: the rounding error of bounds, as a share of them
_ROUND_OFF = 1e-9


class OwnBounds(Protocol):
    """Bounds of arms from their own rewards alone, proved together with those of the model."""

    def bounds(
        self, observations: Observations, assumed: Assumptions, prior: Floats, rows: Ints
    ) -> tuple[Floats, Floats]:
        """Lower and upper bounds of some arms (n each); ``prior`` is their k(x, x) (n)."""


@dataclass(frozen=True)
class BoundsOfArms:
    """Bounds of some arms from their own rewards alone.

    Attributes
    ----------
    rows
        The arms (n).
    lower, upper
        Their bounds (n each).
    """

    rows: Ints
    lower: Floats
    upper: Floats

    def smallest_norm(self, model: SparseGP) -> float:
        """The norm that |f(x)| ≤ F√k(x, x) asks for."""
        beyond = np.maximum(self.lower, -self.upper)
        return float(np.max(beyond / np.sqrt(model.prior[self.rows]), initial=0.0))

    def contradict(self, model: SparseGP, widths: Floats) -> bool:
        """Whether one of these intervals does not meet the model's, by more than round-off."""
        posterior, rows = model.posterior(), self.rows
        Z, residual = model.features[rows], model.residual[rows]
        means = posterior.thetas @ Z.T
        radii = widths[:, None] * np.sqrt(posterior.leverages(Z, residual, slice(len(widths))))
        lower = np.maximum((means - radii).max(axis=0), self.lower)
        upper = np.minimum((means + radii).min(axis=0), self.upper)
        return bool(np.any(lower - upper > _ROUND_OFF * (np.abs(lower) + np.abs(upper))))
