"""Uncertainty sampling in a box, piece by piece."""

from typing import Any

import numpy as np

from noregret._types import Ints, Points
from noregret.batching import LeverageGoal
from noregret.models.fantasy import Fantasy
from noregret.picking.boxes.search import Search, box_batch
from noregret.picking.chooser import Situation, best_told

#: points that one ask gives: how many it takes is not known beforehand
_PIECE = 64


class BoxExploration:
    """Picks the point with the largest leverage that a search finds, again and again.

    Parameters
    ----------
    search
        Searches the box.
    """

    def __init__(self, search: Search) -> None:
        self._search = search

    def explore(
        self, now: Situation, fantasy: Fantasy, rule: LeverageGoal, limit: int
    ) -> tuple[Ints, Points]:
        """The next choices, at most ``limit``: ids and points; none once every leverage is small.

        ``fantasy`` counts what is pending, and ``rule`` ends the sampling.
        """
        size, anchors = min(limit, _PIECE), best_told(now)
        points, _ = box_batch(self._search, fantasy, 1.0, rule, size, anchors, now.rng, mean=0.0)
        if rule.useful < len(points):
            now.note("uncertainty sampling done")
        return np.full(rule.useful, -1, dtype=np.int64), points[: rule.useful]

    def extend(self, space: Any) -> None:
        """A box stays as it is."""

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """A box stays as it is."""
