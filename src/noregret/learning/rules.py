"""What an algorithm decides about its beliefs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Points
from noregret.widths.evidence import Evidence, FixedWidth, WidthRule, Widths


@dataclass(frozen=True)
class Rules:
    """What an algorithm decides about its beliefs.

    Attributes
    ----------
    width
        How wide bounds are, from the evidence.
    checked
        Whether bounds that contradict each other refute the assumptions.
    limits_trace
        Whether arms are added to the dictionary until tr R hardly widens the bounds.
    qbar
        Gives q̄ for a number of evaluations.
    delta, ratio
        δ and C̃.
    inflation
        The factor of deviations inside a batch.
    corners
        Gives points (k × d) that span the space.
    choices
        The number of candidates, 0 on a box.
    seed
        Seed of the fits.
    """

    width: WidthRule
    checked: bool
    limits_trace: bool
    qbar: Callable[[int], float]
    delta: float
    ratio: float
    inflation: float
    corners: Callable[[], Points]
    choices: int
    seed: int

    def widths(self, evidence: Evidence) -> Widths:
        """The factors of √leverage for every λ in use, and whether the assumptions are refuted."""
        found = self.width(evidence)
        return found if isinstance(found, tuple) else (np.array([found]), False)

    def fixed_widths(self, lam: float) -> Floats | None:
        """The factor of √leverage (1) if the width is a number: it needs no evidence."""
        if not isinstance(self.width, FixedWidth):
            return None
        return np.array([self.width.factor(lam)])
