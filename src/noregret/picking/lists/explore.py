"""Uncertainty sampling on a list, planned before any of it is evaluated."""

import numpy as np

from noregret._types import Ints, Points
from noregret.batching import LeverageGoal
from noregret.models.fantasy import Fantasy
from noregret.picking.bounds import Bounds
from noregret.picking.chooser import Situation
from noregret.picking.lists.batch import Intersected, list_batch
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.shards import fresh_uppers
from noregret.spaces import Candidates

_UNLIMITED = 1 << 62


class ListExploration:
    """Picks the candidate with the largest leverage again and again.

    State: the candidates that are still to be sampled.

    Parameters
    ----------
    space
        The list.
    """

    def __init__(self, space: Candidates) -> None:
        self._space = space
        self._plan: Ints | None = None

    def explore(
        self, now: Situation, fantasy: Fantasy, rule: LeverageGoal, limit: int
    ) -> tuple[Ints, Points]:
        """The next choices, at most ``limit``: ids and points; none once all are sampled.

        ``fantasy`` counts what is pending, and ``rule`` ends the sampling.
        """
        if self._plan is None:
            self._plan = self._planned(now, fantasy, rule)
            now.note("uncertainty sampling", points=len(self._plan))
        chosen: list[int] = []
        while len(self._plan) and len(chosen) < limit:
            id_, self._plan = int(self._plan[0]), self._plan[1:]
            if now.room.left(id_):
                now.room.take(id_)
                chosen.append(id_)
        ids = np.array(chosen, dtype=np.int64)
        return ids, self._space.at(ids)

    def _planned(self, now: Situation, fantasy: Fantasy, rule: LeverageGoal) -> Ints:
        """No feedback is needed, so everything is planned at once."""
        assumed, space = now.beliefs.assumed, self._space
        sleepers = Intersected(fresh_uppers(PriorRoot(assumed.kernel, lam=assumed.lam), space))
        bounds = Bounds(fantasy, np.ones(1), weight=0.0)
        picks = list_batch(sleepers, bounds, space.at, rule, _UNLIMITED, now.room.copy())
        return picks.ids[: rule.useful]

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end: it is planned anew."""
        self._space, self._plan = space, None

    def restart(self, space: Candidates, *, keep: bool = False) -> None:
        """Another list, which is planned anew; the same one with ``keep``."""
        self._space = space
        if not keep:
            self._plan = None
