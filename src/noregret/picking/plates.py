"""Who is next on a plate? Whole plates of a list, from one pass over its means.

A plate has tens to thousands of wells, and its model may be new since the last one: bounds of the
past say little. So one pass over the list computes, from O(A·m) kernel values, the mean of every
candidate and what its deviation is at the most. Its deviation costs O(m²) and is computed only
where the bound from the pass comes out on top. Picks are made in groups: those of a group have the
largest bounds, then deviations fall by all of them at once.
"""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.posterior import Block
from noregret.picking.chooser import Bounds, Interval, Picks, Situation, gp_predict
from noregret.picking.columns import ListQueue, Tops
from noregret.picking.onepass import OnePass
from noregret.picking.room import NOBODY
from noregret.spaces import Candidates

#: groups that a plate is picked in, at most
_GROUPS = 16
#: candidates looked at first
_FIRST_LOOK = 256


class ListPlates:
    """The largest upper bounds on a list, in groups.

    There is no state but the last pass over the list, which is made again where it is gone.

    Parameters
    ----------
    space
        The list.
    narrowing
        Picks are made by bounds this much as wide as those that are reported.
    """

    def __init__(self, space: Candidates, narrowing: float = 1.0) -> None:
        self.space = space
        self.narrowing = narrowing
        self._pass: OnePass | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies do without the pass."""
        return {**vars(self), "_pass": None}

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a plate that starts here."""
        width = self.narrowing * now.bounds.width
        looked = self._look(now, width, _closed(now))
        picked: list[int] = []
        upper: list[float] = []
        group = -(-limit // _GROUPS)
        while len(picked) < limit:
            chosen = looked.best(min(group, limit - len(picked)))
            if not len(chosen):
                break
            picked += chosen.tolist()
            for id_ in looked.ids[chosen].tolist():
                now.room.take(id_)
            upper += looked.upper[chosen].tolist()
            looked.pick(chosen)
        order = np.array(picked, dtype=np.int64)
        points = looked.block.points[order]
        return Picks(looked.ids[order], points, np.array(upper), now.bounds.width)

    def _look(self, now: Situation, width: float, closed: Ints) -> "_Looked":
        """What is known of the candidates, from the largest possible bounds down."""
        model = now.beliefs.model
        if self._pass is None or not self._pass.is_of(model):
            self._pass = OnePass(model, self.space)
        stale = self._pass.upper(width)
        stale[closed] = -np.inf
        return _Looked(now.bounds, width, stale, self.space)

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first; one where none is told."""
        model, width = now.beliefs.model, now.bounds.width
        highest = self.highest(now, NOBODY)
        rows = now.told
        rows = rows[now.observations.ids[rows] >= 0]
        if not len(rows):
            return [self._unknown(now, highest)]
        mean, radius = model.mean(rows), width * np.sqrt(model.leverage(rows))
        found = []
        for i in np.argsort(radius - mean, kind="stable")[:count].tolist():
            id_, middle = int(now.observations.ids[rows[i]]), float(mean[i])
            low, high = middle - float(radius[i]), middle + float(radius[i])
            point = self.space.points[id_]
            found.append(Interval(id_, point, middle, low, high, max(highest, high)))
        return found

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates but some; −∞ where nothing is left."""
        looked = self._look(now, now.bounds.width, without)
        best = looked.best(1)
        return float(looked.upper[best[0]]) if len(best) else -np.inf

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self.space, self._pass = space, None

    def _unknown(self, now: Situation, highest: float) -> Interval:
        """The first candidate, of which only the prior is known."""
        mean, leverage = now.bounds.evaluate(self.space.at(np.zeros(1, dtype=np.int64)))
        middle, radius = float(mean[0]), now.bounds.width * float(np.sqrt(leverage[0]))
        return Interval(0, self.space.points[0], middle, middle - radius, middle + radius, highest)

    def alive(self, now: Situation) -> int | None:
        """Not known: nothing is kept from one plate to the next; ``certify`` counts."""
        return None

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        return gp_predict(now, points)

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list, or with ``keep`` the same one after a run was loaded."""
        self.space, self._pass = space, None


def _closed(now: Situation) -> Ints:
    """The candidates that may not be picked: those without room, or all told or pending.

    The latter where ``repeats`` is not given and other candidates are left.
    """
    if now.room.repeats is not None:
        return now.room.closed
    seen = now.observations
    ids = seen.ids[(seen.told + seen.pending > 0) & (seen.ids >= 0)]
    ids = np.union1d(ids, now.room.closed)
    return ids if len(ids) < len(now.space) else now.room.closed  # type: ignore[arg-type]


class _Looked:
    """The candidates that have been looked at, in falling order of what their bounds may be.

    Attributes
    ----------
    ids
        Which they are (n).
    block
        What is known of them.
    upper
        Their bounds now (n); −∞ once they are picked.
    """

    def __init__(self, bounds: Bounds, width: float, stale: Floats, space: Candidates) -> None:
        self._fantasy, self._width = bounds.fantasy, width
        self._queue = ListQueue(Tops(stale), space.at)
        self._picked: list[int] = []  # positions
        self.ids: Ints = np.empty(0, dtype=np.int64)
        self.block: Block = self._fantasy.block(space.at(self.ids))
        self.upper: Floats = np.empty(0)

    def best(self, count: int) -> Ints:
        """The positions of the candidates with the largest bounds of all, or of all there are."""
        while True:
            order = np.argsort(-self.upper, kind="stable")[:count]
            order = order[self.upper[order] > -np.inf]
            floor = self._queue.floor
            if floor == -np.inf or (len(order) == count and self.upper[order[-1]] >= floor):
                return order
            self._look(max(_FIRST_LOOK, 2 * count, len(self.ids)))

    def _look(self, count: int) -> None:
        taken = self._queue.take(count)
        self.ids = np.concatenate([self.ids, taken.ids])
        self.block = self.block.joined(self._fantasy.block(taken.points))
        self._settle()

    def pick(self, positions: Ints) -> None:
        """These are evaluated: deviations fall."""
        self._fantasy.add_all(self.block, positions)
        self._picked += positions.tolist()
        self._settle()

    def _settle(self) -> None:
        self.upper = self.block.mean + self._width * np.sqrt(self.block.leverage)
        self.upper[self._picked] = -np.inf
