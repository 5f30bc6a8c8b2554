"""Explore first: pick the largest leverage again and again, until every leverage is small."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.fantasy import Block, Fantasy
from noregret.picking.bounds import Bounds
from noregret.picking.boxes.mixed import search_of
from noregret.picking.boxes.search import box_batch
from noregret.picking.chooser import Chooser, Interval, Picks, Situation, best_told
from noregret.picking.lists.batch import Intersected, list_batch
from noregret.picking.lists.columns import PriorRoot
from noregret.picking.lists.shards import fresh_uppers
from noregret.spaces import Candidates, Space

#: points of uncertainty sampling that one ask gives on a box
_PIECE = 64
_UNLIMITED = 1 << 62


class UntilCertain:
    """Uncertainty sampling (BBKB Algorithm 3), and another chooser once it is done.

    Parameters
    ----------
    then
        Chooses afterwards.
    goal
        1/P: the largest leverage to be reached.
    space, method
        What is explored, and how a box is searched.
    """

    def __init__(self, then: Chooser, goal: float, space: Candidates | Space, method: str) -> None:
        self._then = then
        self._goal = goal
        self._space = space
        self._method = method
        self._plan: Ints | None = None  # ids still to be sampled, on a list
        self._done = False

    @property
    def follows_aim(self) -> bool:
        """As the other chooser does."""
        return self._then.follows_aim

    def choose(self, now: Situation, limit: int) -> Picks:
        """The next choices of uncertainty sampling, or the other chooser's once it is done."""
        learner = now.beliefs.learner
        if not self._done and (learner is None or learner.fitted):
            ids, points = self._explore(now, limit)
            if len(points):
                upper = now.bounds.at_start(now.bounds.fantasy.block(points))
                return Picks(ids, points, upper, now.bounds.width)
            self._done = True
        return self._then.choose(now, limit)

    def _explore(self, now: Situation, limit: int) -> tuple[Ints, Points]:
        space = self._space
        fantasy = _exact(now)
        if isinstance(space, Space):
            # A box is explored piece by piece: how many points it takes is not known beforehand.
            rule = _Certain(self._goal)
            search, anchors = search_of(space, self._method), best_told(now)
            size = min(limit, _PIECE)
            points, _ = box_batch(search, fantasy, 1.0, rule, size, anchors, now.rng, mean=0.0)
            if rule.useful < len(points):
                now.note("uncertainty sampling done")
            return np.full(rule.useful, -1, dtype=np.int64), points[: rule.useful]
        if self._plan is None:
            self._plan = self._plan_list(space, now, fantasy)
            now.note("uncertainty sampling", points=len(self._plan))
        chosen: list[int] = []
        while len(self._plan) and len(chosen) < limit:
            id_, self._plan = int(self._plan[0]), self._plan[1:]
            if now.room.left(id_):
                now.room.take(id_)
                chosen.append(id_)
        ids = np.array(chosen, dtype=np.int64)
        return ids, space.at(ids)

    def _plan_list(self, space: Candidates, now: Situation, fantasy: Fantasy) -> Ints:
        """No feedback is needed, so everything is planned at once."""
        assumed = now.beliefs.assumed
        prior = PriorRoot(assumed.kernel, lam=assumed.lam)
        sleepers = Intersected(fresh_uppers(prior, space))
        bounds = Bounds(fantasy, np.ones(1), weight=0.0)
        rule = _Certain(self._goal)
        picks = list_batch(sleepers, bounds, space.at, rule, _UNLIMITED, now.room.copy())
        return picks.ids[: rule.useful]

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The other chooser's."""
        return self._then.ranking(now, count)

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """The other chooser's."""
        return self._then.gaps(now, found)

    def proves_gaps(self, now: Situation) -> bool:
        """The other chooser's."""
        return self._then.proves_gaps(now)

    def alive(self, now: Situation) -> int | None:
        """The other chooser's."""
        return self._then.alive(now)

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """The other chooser's."""
        return self._then.predict(now, ids, points)

    def highest(self, now: Situation, without: Ints) -> float:
        """The other chooser's."""
        return self._then.highest(now, without)

    def extend(self, space: Any) -> None:
        """New candidates are explored too, as far as they are not known yet."""
        self._then.extend(space)
        self._space, self._plan, self._done = space, None, False

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list is explored too, as far as it is not known yet."""
        self._space = space
        if not keep:
            self._plan, self._done = None, False
        self._then.restart(space, keep=keep)


class _Certain:
    """Ends uncertainty sampling at a pick whose leverage is at most the goal."""

    compares = False

    def __init__(self, goal: float) -> None:
        self.ratio = 1.0
        self.useful = 0  # picks whose leverage was above the goal
        self._goal = goal

    def add(self, block: Block, position: int) -> bool:
        """Whether to stop here."""
        if float(block.leverage[position]) <= self._goal:
            return True
        self.useful += 1
        return False


def _exact(now: Situation) -> Fantasy:
    """The posterior with what is pending, in which picks shrink variances exactly."""
    observations = now.observations
    rows = np.flatnonzero(observations.pending)
    posterior = now.bounds.posterior
    return Fantasy(posterior, observations.points[rows], observations.pending[rows])
