"""Who is next in a space of numbers, whole numbers and choices? The largest bound, by search.

Points spread over the space, the best points known and points around those are screened. The most
promising climb: their numbers by gradients, with everything else as it is, then by the best change
of one other value (a whole number by 1, 2, 4, … steps, a choice to any other), until neither helps.
A space with few points is screened whole, so that its maximum is exact. Where points must be
feasible, an infeasible end of a climb is drawn back towards its start, and numbers are changed one
at a time too, which moves along the boundary.
"""

from collections.abc import Callable

import numpy as np

from noregret._types import Floats, Ints
from noregret.picking.box import (
    LARGEST_SCREEN,
    NEARBY,
    STARTS,
    WARM_STARTS,
    BoxSearch,
    Objective,
    Objectives,
    Search,
    around,
    ascend,
    far_apart,
    spans,
)
from noregret.spaces import Space

#: times that numbers and other values take turns, and changes of one value in a turn
_ROUNDS, _CHANGES = 12, 40
#: steps of L-BFGS-B in one turn
_STEPS = 40
#: parts of a climb that are tried where its end is not feasible
_DRAWN_BACK = 0.5 ** np.arange(9)


class MixedSearch:
    """Maximises a function over a space.

    Parameters
    ----------
    space
        The space, or a part of it.
    quick
        An eighth of the points screened and a third of the starts: see
        :class:`~noregret.picking.box.BoxSearch`.
    """

    def __init__(self, space: Space, *, quick: bool = False) -> None:
        self.box = space
        self.method = "gradients"
        #: points screened
        self.screen_size = min(512 * (space.dimension + 1), LARGEST_SCREEN) // (8 if quick else 1)
        #: points of the screen that climb
        self.starts = WARM_STARTS if quick else STARTS

    def maximise(
        self,
        objective: Objective,
        values: Callable[[Floats], Floats],
        anchors: Floats,
        rng: np.random.Generator,
    ) -> tuple[Floats, float]:
        """The best point (d) and value found; ``anchors`` (k × d) are points worth trying."""
        points = self.screen(anchors, rng)
        return self.climb(objective, points, values(points), self.starts)

    def screen(self, anchors: Floats, rng: np.random.Generator) -> Floats:
        """Anchors (k × d), points around them, and points spread over the space (n × d).

        All points of a space that has few.
        """
        every = self.box.every(LARGEST_SCREEN)
        if every is not None and len(every):
            return every
        near, spread = self._around(anchors, rng), self.box.spread(self.screen_size, rng)
        points = np.concatenate([anchors, near, spread])
        return points if len(points) else self.box.centre[None]

    def _around(self, anchors: Floats, rng: np.random.Generator) -> Floats:
        """Feasible points near anchors (k × d): numbers moved a bit, now and then a new choice."""
        space, free = self.box, list(self.box.categories)
        points = around(anchors, space.upper - space.lower, rng)
        kept = np.repeat(anchors, NEARBY, axis=0)[:, free]
        choices = space.upper[free] - space.lower[free] + 1.0
        drawn = space.lower[free] + np.floor(rng.random(kept.shape) * choices)
        changed = rng.random(kept.shape) < 1.0 / space.dimension
        points[:, free] = np.where(changed, drawn, kept)
        points = space.snap(points)
        return points[space.allowed(points)]

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

    def climb_each(
        self, objectives: Objectives, points: Floats, values: Floats, starts: int
    ) -> Floats:
        """The maximisers of k functions (k × d), by climbs from screened points (n × d).

        ``values`` are those of each function at the screened points (n × k).
        """

        def climbed(i: int) -> Floats:
            def objective(X: Floats) -> tuple[Floats, Floats]:
                return objectives(X, np.full(len(X), i))

            return self.climb(objective, points, values[:, i], starts)[0]

        return np.array([climbed(i) for i in range(values.shape[1])])

    def _apart(self, points: Floats, values: Floats, starts: int) -> list[int]:
        """The best points, none of them close to a better one with the same choices."""
        space = self.box
        span = spans(space.lower, space.upper)
        span[list(space.categories)] = 1.0  # different choices are never close
        return far_apart((points - space.lower) / span, values, starts)

    def _by_gradients(
        self, objective: Objective, starts: Floats, level: Floats, scale: float
    ) -> tuple[Floats, Floats]:
        """The starts (k × d) with their numbers moved uphill, and their values (k)."""
        space = self.box
        wide = space.upper > space.lower
        numbers = [i for i, one in enumerate(space.parameters) if one.is_number and wide[i]]
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
        if space.feasible is None:
            return _best_of(starts, level, space.snap(moved), np.arange(len(starts)), objective)
        tried = np.concatenate([starts + part * (moved - starts) for part in _DRAWN_BACK])
        owner = np.tile(np.arange(len(starts)), len(_DRAWN_BACK))
        return self._best_feasible(starts, level, space.snap(tried), owner, objective)

    def _by_changes(
        self, objective: Objective, starts: Floats, level: Floats
    ) -> tuple[Floats, Floats, bool]:
        """The starts (k × d), each with the best change of one value, until none helps."""
        first = level
        for _ in range(_CHANGES):
            before = level
            tried, owner = self._neighbours(starts)
            starts, level = self._best_feasible(starts, level, tried, owner, objective)
            if np.array_equal(level, before):
                break
        return starts, level, not np.array_equal(level, first)

    def _neighbours(self, points: Floats) -> tuple[Floats, Ints]:
        """Points (n × d) that differ from one of k in one value, and from which (n).

        Numbers are changed this way only where gradients may lead to infeasible points.
        """
        space = self.box
        found, owners = [space.nothing], [np.empty(0, dtype=np.int64)]
        for i, point in enumerate(points):
            for column, one in enumerate(space.parameters):
                if one.is_number and space.feasible is None:
                    continue
                low, high = float(space.lower[column]), float(space.upper[column])
                entries = one.neighbours(float(point[column]), low, high)
                changed = np.repeat(point[None], len(entries), axis=0)
                changed[:, column] = entries
                found.append(changed)
                owners.append(np.full(len(entries), i))
        return np.concatenate(found), np.concatenate(owners)

    def _best_feasible(
        self, starts: Floats, level: Floats, tried: Floats, owner: Ints, objective: Objective
    ) -> tuple[Floats, Floats]:
        allowed = self.box.allowed(tried)
        return _best_of(starts, level, tried[allowed], owner[allowed], objective)


def _best_of(
    starts: Floats, level: Floats, tried: Floats, owner: Ints, objective: Objective
) -> tuple[Floats, Floats]:
    """Points (k × d) and their values (k), each replaced by the best of those tried in its place.

    ``tried`` (n × d) are in place of the starts ``owner`` (n).
    """
    if not len(tried):
        return starts, level
    values = objective(tried)[0]
    points, best = starts.copy(), level.copy()
    for at in np.argsort(values, kind="stable"):  # the last one written is the best
        i = owner[at]
        # Round-off must not look like progress.
        if values[at] > level[i] + 1e-12 * (1.0 + abs(level[i])):
            points[i], best[i] = tried[at], values[at]
    return points, best


def search_of(space: Space, method: str = "gradients", *, quick: bool = False) -> Search:
    """What searches a space; the only place that asks whether it is a box of numbers."""
    if space.feasible is None and all(one.is_number for one in space.parameters):
        return BoxSearch(space, method, quick=quick)
    if method == "direct":
        raise ValueError(
            "search must be 'gradients' where not all parameters are numbers or points must be "
            "feasible"
        )
    return MixedSearch(space, quick=quick)
