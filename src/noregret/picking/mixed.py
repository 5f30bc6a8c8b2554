"""Who is next in a space of numbers, whole numbers and choices? The largest bound, by search.

Points spread over the space and the best points known are screened. The most promising climb: their
numbers by gradients, with everything else as it is, then by the best change of one other value (a
whole number by 1, 2, 4, … steps, a choice to any other), until neither helps. A space with few
points is screened whole, so that its maximum is exact.
"""

from collections.abc import Callable

import numpy as np

from noregret._types import Floats
from noregret.picking.box import (
    LARGEST_SCREEN,
    STARTS,
    WARM_STARTS,
    BoxSearch,
    Objective,
    Search,
    ascend,
)
from noregret.spaces import Space

#: times that numbers and other values take turns
_ROUNDS = 12
#: steps of L-BFGS-B in one turn
_STEPS = 40


class MixedSearch:
    """Maximises a function over a space.

    Parameters
    ----------
    space
        The space, or a part of it.
    local
        The part is a small one, where a function has few hills: an eighth of the points screened
        and a third of the starts are enough.
    """

    def __init__(self, space: Space, *, local: bool = False) -> None:
        self.box = space
        self.method = "gradients"
        #: points screened
        self.screen_size = min(512 * (space.dimension + 1), LARGEST_SCREEN) // (8 if local else 1)
        #: points of the screen that climb
        self.starts = WARM_STARTS if local else STARTS

    def maximise(
        self,
        objective: Objective,
        values: Callable[[Floats], Floats],
        anchors: Floats,
        rng: np.random.Generator,
    ) -> tuple[Floats, float]:
        """The best point (d) and value found; ``anchors`` (k × d) are points worth trying."""
        points = np.concatenate([anchors, self.box.spread(self.screen_size, rng)])
        return self.climb(objective, points, values(points), self.starts)

    def climb(
        self, objective: Objective, points: Floats, values: Floats, starts: int
    ) -> tuple[Floats, float]:
        """Climb from the best ``starts`` of screened points (n × d) with their values (n)."""
        chosen = self._apart(points, values, starts)
        found, level, scale = points[chosen], values[chosen], float(np.ptp(values))
        for _ in range(_ROUNDS):
            found, level = self._by_gradients(objective, found, level, scale)
            found, level, moved = self._by_changes(objective, found, level)
            if not moved:
                break
        best = int(np.argmax(level))
        one = slice(best, best + 1)
        found, level = self._by_gradients(objective, found[one], level[one], scale)
        return found[0].copy(), float(level[0])

    def _apart(self, points: Floats, values: Floats, starts: int) -> list[int]:
        """The best points, none of them close to a better one with the same choices."""
        space = self.box
        unit = (points - space.lower) / self._span()
        unit[:, list(space.categories)] *= np.maximum(self._span(), 1.0)[list(space.categories)]
        near = (0.05 * np.sqrt(space.dimension)) ** 2
        chosen: list[int] = []
        for i in np.argsort(-values, kind="stable")[: 16 * starts]:
            if all(np.square(unit[i] - unit[j]).sum() > near for j in chosen):
                chosen.append(int(i))
                if len(chosen) == starts:
                    break
        return chosen

    def _span(self) -> Floats:
        """The length of each column (d), 1 where it has one entry only."""
        span = self.box.upper - self.box.lower
        return np.where(span > 0, span, 1.0)

    def _by_gradients(
        self, objective: Objective, starts: Floats, level: Floats, scale: float
    ) -> tuple[Floats, Floats]:
        """The starts (k × d) with their numbers moved uphill, and their values (k)."""
        space = self.box
        numbers = [
            i
            for i, one in enumerate(space.parameters)
            if np.isinf(one.count) and space.upper[i] > space.lower[i]
        ]
        if not numbers:
            return starts, level

        def of_numbers(u: Floats) -> tuple[Floats, Floats]:
            points = starts.copy()
            points[:, numbers] = u
            values, gradients = objective(points)
            return values, gradients[:, numbers]

        ends = space.lower[numbers], space.upper[numbers]
        moved = starts.copy()
        moved[:, numbers] = ascend(of_numbers, starts[:, numbers], *ends, scale, _STEPS)
        moved = space.snap(moved)
        return _better(starts, level, moved, objective(moved)[0])

    def _by_changes(
        self, objective: Objective, starts: Floats, level: Floats
    ) -> tuple[Floats, Floats, bool]:
        """The starts (k × d), each with the best change of one value, until none helps."""
        improved = False
        for _ in range(_STEPS):
            tried, owner = self._neighbours(starts)
            if not len(tried):
                break
            values = objective(tried)[0]
            best = starts.copy()
            top = level.copy()
            for i in range(len(starts)):
                own = np.flatnonzero(owner == i)
                if len(own):
                    at = own[np.argmax(values[own])]
                    best[i], top[i] = tried[at], values[at]
            # Round-off must not look like progress.
            helps = top > level + 1e-12 * (1.0 + np.abs(level))
            if not helps.any():
                break
            improved = True
            starts, level = np.where(helps[:, None], best, starts), np.where(helps, top, level)
        return starts, level, improved

    def _neighbours(self, points: Floats) -> tuple[Floats, Floats]:
        """All points (n × d) that differ from one of k in one value, and from which (n)."""
        space = self.box
        found, owners = [], []
        for i, point in enumerate(points):
            for column, one in enumerate(space.parameters):
                low, high = float(space.lower[column]), float(space.upper[column])
                entries = one.neighbours(float(point[column]), low, high)
                changed = np.repeat(point[None], len(entries), axis=0)
                changed[:, column] = entries
                found.append(changed)
                owners.append(np.full(len(entries), i))
        return np.concatenate(found), np.concatenate(owners)


def _better(starts: Floats, level: Floats, moved: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Of two sets of points (k × d) with values (k) the better ones, one by one."""
    helps = values > level
    return np.where(helps[:, None], moved, starts), np.where(helps, values, level)


def search_of(space: Space, method: str = "gradients", *, local: bool = False) -> Search:
    """What searches a space; the only place that asks whether all of its columns are numbers."""
    if np.isinf([one.count for one in space.parameters]).all():
        return BoxSearch(space, method, local=local)
    if method == "direct":
        raise ValueError("search must be 'gradients' where not all parameters are numbers")
    return MixedSearch(space, local=local)
