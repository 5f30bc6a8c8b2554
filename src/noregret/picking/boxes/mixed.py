"""Who is next in a space of numbers, whole numbers and choices? The largest bound, by search.

Points spread over the space, the best points known and points around those are screened. The most
promising climb: their numbers by gradients, with everything else as it is, then by the best change
of one other value (a whole number by 1, 2, 4, … steps, a choice to any other), until neither helps.
A space with few points is screened whole, so that its maximum is exact. Where points must be
feasible, an infeasible end of a climb is drawn back towards its start, and numbers are changed one
at a time too, which moves along the boundary.
"""

import numpy as np

from noregret._types import Floats, Ints
from noregret.picking.boxes.climbs import climb_side_by_side
from noregret.picking.boxes.search import (
    CALLS,
    LARGEST_SCREEN,
    NEARBY,
    QUICK_CALLS,
    STARTS,
    WARM_STARTS,
    BoxSearch,
    Objectives,
    Search,
    around,
    far_apart,
    spans,
)
from noregret.spaces import Space

#: times that numbers and other values take turns, and changes of one value in a turn
_ROUNDS, _CHANGES = 12, 40
#: starts of a function that go on after their first climb by gradients
_KEPT = 3
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
        :class:`~noregret.picking.boxes.search.BoxSearch`.
    """

    def __init__(self, space: Space, *, quick: bool = False) -> None:
        self.box = space
        self.method = "gradients"
        #: points screened
        self.screen_size = min(512 * (space.dimension + 1), LARGEST_SCREEN) // (8 if quick else 1)
        #: points of the screen that climb
        self.starts = WARM_STARTS if quick else STARTS
        self._calls = QUICK_CALLS if quick else CALLS

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

    def climb_each(
        self, objectives: Objectives, points: Floats, values: Floats, starts: int
    ) -> tuple[Floats, Floats]:
        """The maximisers of k functions (k × d) and their values (k), by climbs from points."""
        chosen = [self._apart(points, column, starts) for column in values.T]
        which = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
        rows = np.concatenate(chosen)
        found, level = points[rows], values[rows, which]
        found, level = self._by_gradients(_of_functions(objectives, which), found, level)
        climbing = _best_of_each(which, level)
        for _ in range(_ROUNDS):
            own = _of_functions(objectives, which[climbing])
            changed, risen = self._by_changes(own, found[climbing], level[climbing])
            better = risen > level[climbing]
            climbing = climbing[better]
            if not len(climbing):
                break
            own = _of_functions(objectives, which[climbing])
            found[climbing], level[climbing] = self._by_gradients(
                own, changed[better], risen[better]
            )
        best = [int(np.where(which == i, level, -np.inf).argmax()) for i in range(len(chosen))]
        return found[best], level[best]

    def _apart(self, points: Floats, values: Floats, starts: int) -> list[int]:
        """The best points, none of them close to a better one with the same choices."""
        space = self.box
        span = spans(space.lower, space.upper)
        span[list(space.categories)] = 1.0  # different choices are never close
        return far_apart((points - space.lower) / span, values, starts)

    def _by_gradients(
        self, objectives: Objectives, starts: Floats, level: Floats
    ) -> tuple[Floats, Floats]:
        """The starts (k × d) with their numbers moved uphill, and their values (k).

        Start i climbs the function with the number i.
        """
        space = self.box
        wide = space.upper > space.lower
        numbers = [i for i, one in enumerate(space.parameters) if one.is_number and wide[i]]
        if not numbers:
            return starts, level
        low = space.lower[numbers]
        span = space.upper[numbers] - low

        def of_unit(u: Floats, some: Ints) -> tuple[Floats, Floats]:
            points = starts[some]
            points[:, numbers] = low + u * span
            values, gradients = objectives(points, some)
            return values, gradients[:, numbers] * span

        ends, _ = climb_side_by_side(of_unit, (starts[:, numbers] - low) / span, self._calls)
        moved = starts.copy()
        moved[:, numbers] = low + ends * span
        every = np.arange(len(starts))
        if space.feasible is None:
            return _best_of(starts, level, space.snap(moved), every, objectives)
        tried = np.concatenate([starts + part * (moved - starts) for part in _DRAWN_BACK])
        owner = np.tile(every, len(_DRAWN_BACK))
        return self._best_feasible(starts, level, space.snap(tried), owner, objectives)

    def _by_changes(
        self, objectives: Objectives, starts: Floats, level: Floats
    ) -> tuple[Floats, Floats]:
        """The starts (k × d), each with the best change of one value, until none helps."""
        for _ in range(_CHANGES):
            before = level
            tried, owner = self._neighbours(starts)
            starts, level = self._best_feasible(starts, level, tried, owner, objectives)
            if np.array_equal(level, before):
                break
        return starts, level

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
        self, starts: Floats, level: Floats, tried: Floats, owner: Ints, objectives: Objectives
    ) -> tuple[Floats, Floats]:
        allowed = self.box.allowed(tried)
        return _best_of(starts, level, tried[allowed], owner[allowed], objectives)


def _best_of_each(which: Ints, level: Floats) -> Ints:
    """The starts of the best values (of k) of each function, in order; ``which`` (k) is sorted."""
    order = np.lexsort((-level, which))
    rank = np.arange(len(order)) - np.searchsorted(which, which[order])
    return np.sort(order[rank < _KEPT])


def _of_functions(objectives: Objectives, which: Ints) -> Objectives:
    """The functions with these numbers (k), numbered anew from 0."""
    return lambda X, some: objectives(X, which[some])


def _best_of(
    starts: Floats, level: Floats, tried: Floats, owner: Ints, objectives: Objectives
) -> tuple[Floats, Floats]:
    """Points (k × d) and their values (k), each replaced by the best of those tried in its place.

    ``tried`` (n × d) are in place of the starts ``owner`` (n); start i has the function i.
    """
    if not len(tried):
        return starts, level
    values = objectives(tried, owner)[0]
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
