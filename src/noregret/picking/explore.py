"""Explore first: pick the largest leverage again and again, until every leverage is small."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import _checks
from noregret.batching import LeverageGoal
from noregret.models.fantasy import Fantasy
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Chooser, Picks, Situation
from noregret.spaces import Candidates, Space

if TYPE_CHECKING:
    from noregret.picking.boxes.explore import BoxExploration
    from noregret.picking.lists.explore import ListExploration


class UntilCertain(LooksByBounds[Chooser]):
    """Uncertainty sampling (BBKB Algorithm 3), and another chooser once it is done.

    Parameters
    ----------
    by_bounds
        Chooses afterwards; recommends and predicts from the start.
    goal
        1/P: the largest leverage to be reached.
    first
        Explores the list or the box.
    """

    def __init__(
        self, by_bounds: Chooser, goal: float, first: "ListExploration | BoxExploration"
    ) -> None:
        super().__init__(by_bounds)
        self._goal = goal
        self._first = first
        self._done = False

    @property
    def follows_aim(self) -> bool:
        """As the other chooser does."""
        return self.by_bounds.follows_aim

    def choose(self, now: Situation, limit: int) -> Picks:
        """The next choices of uncertainty sampling, or the other chooser's once it is done."""
        learner = now.beliefs.learner
        if not self._done and (learner is None or learner.fitted):
            rule = LeverageGoal(self._goal)
            ids, points = self._first.explore(now, _exact(now), rule, limit)
            if len(points):
                upper = now.bounds.at_start(now.bounds.fantasy.block(points))
                return Picks(ids, points, upper, now.bounds.width)
            self._done = True
        return self.by_bounds.choose(now, limit)

    def alive(self, now: Situation) -> int | None:
        """How many choices can still be the best, by the other chooser."""
        return self.by_bounds.alive(now)

    def extend(self, space: Any) -> None:
        """New candidates are explored too, as far as they are not known yet."""
        super().extend(space)
        self._first.extend(space)
        self._done = False

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list is explored too, as far as it is not known yet."""
        super().restart(space, keep=keep)
        self._first.restart(space, keep=keep)
        if not keep:
            self._done = False


def until_certain(
    chooser: Chooser, min_batch: int | None, space: Candidates | Space, search: str
) -> Chooser:
    """The chooser after uncertainty sampling down to leverages of 1/P, the setting ``min_batch``.

    The chooser alone if P is ``None``. A box is searched by the method ``search``.
    """
    if min_batch is None:
        return chooser
    goal = 1.0 / _checks.count("min_batch", min_batch)
    if isinstance(space, Candidates):
        from noregret.picking.lists.explore import ListExploration  # only what is used is imported

        return UntilCertain(chooser, goal, ListExploration(space))
    from noregret.picking.boxes.explore import BoxExploration
    from noregret.picking.boxes.mixed import search_of

    return UntilCertain(chooser, goal, BoxExploration(search_of(space, search)))


def _exact(now: Situation) -> Fantasy:
    """The posterior with what is pending, in which picks shrink variances exactly."""
    observations = now.observations
    rows = np.flatnonzero(observations.pending)
    posterior = now.bounds.posterior
    return Fantasy(posterior, observations.points[rows], observations.pending[rows])
