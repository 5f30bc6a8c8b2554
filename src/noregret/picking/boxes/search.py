"""Who is next in a box? The largest upper confidence bound, from many starts by gradients.

Maximising a GP's bound over a box is hard in general (BKB Section 5), so the maximum found here is
the best of a search, not a certificate: Sobol points and the best points known are screened, and
the most promising climb side by side. Inside a batch bounds only fall, so the screened values bound
the current ones, only those on top are computed again, and the maximisers of earlier picks are
starts of the next (BBKB Section 6).
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from noregret._types import Floats, Ints
from noregret.batching import BatchRule
from noregret.models.fantasy import Fantasy
from noregret.picking.boxes.climbs import climb_side_by_side
from noregret.spaces import Space

#: values (n) and gradients (n × d) of points (n × d)
Objective = Callable[[Floats], tuple[Floats, Floats]]

#: values (n) and gradients (n × d) of points (n × d), each of the function with that number (n)
Objectives = Callable[[Floats, Ints], tuple[Floats, Floats]]

#: how many screened points climb: at first, and if earlier picks were starts too
STARTS, WARM_STARTS = 12, 4
#: points screened at most
LARGEST_SCREEN = 4096
#: calls of the function in the climbs of all starts; and in a quick search
CALLS, QUICK_CALLS = 60, 12
#: points screened near each of the best points known, and how far away, in sides of the box
NEARBY, _NEAREST, _FARTHEST = 16, 1e-3, 0.3
_STALE = 64
#: stands for the bound of a point that is not to be picked; finite, so that climbs can leave it
_CLOSED = -1e300


class Search(Protocol):
    """Maximises a function over a box or space.

    Attributes
    ----------
    box
        What is searched.
    method
        ``"gradients"`` or ``"direct"``.
    screen_size, starts
        Points screened, and how many of them climb.
    """

    box: Space
    method: str
    screen_size: int
    starts: int

    def screen(self, anchors: Floats, rng: np.random.Generator) -> Floats:
        """Points worth trying, anchors (k × d) among them: where the climbs start (n × d)."""

    def climb_each(
        self, objectives: Objectives, points: Floats, values: Floats, starts: int
    ) -> tuple[Floats, Floats]:
        """The maximisers of k functions (k × d) and their values (k).

        Climb from the best ``starts`` of screened points (n × d), for each function, with its
        values at these points (n × k).
        """


class BoxSearch:
    """Maximises a function over a box.

    Parameters
    ----------
    box
        The box, or a space of numbers only.
    method
        ``"gradients"``: many starts. ``"direct"``: DIRECT (SciPy's) and a climb from what it finds,
        for at most three dimensions.
    quick
        An eighth of the points screened, a third of the starts, and short climbs: for a small box,
        where a function has few hills, and for many steps where none has to be the best.
    """

    def __init__(self, box: Space, method: str = "gradients", *, quick: bool = False) -> None:
        if method == "direct" and box.dimension > 3:
            raise ValueError(
                f"search must be 'gradients' above three dimensions, got 'direct' for "
                f"{box.dimension}"
            )
        self.box = box
        self.method = method
        #: Sobol points screened
        self.screen_size = min(512 * (box.dimension + 1), LARGEST_SCREEN) // (8 if quick else 1)
        #: points of the screen that climb
        self.starts = WARM_STARTS if quick else STARTS
        self._calls = QUICK_CALLS if quick else CALLS
        self._span = spans(box.lower, box.upper)

    def screen(self, anchors: Floats, rng: np.random.Generator) -> Floats:
        """Anchors (k × d), points around them, and Sobol points: where the climbs start (n × d)."""
        near = np.clip(around(anchors, self._span, rng), self.box.lower, self.box.upper)
        return np.concatenate([anchors, near, self.box.spread(self.screen_size, rng)])

    def climb_each(
        self, objectives: Objectives, points: Floats, values: Floats, starts: int
    ) -> tuple[Floats, Floats]:
        """The maximisers of k functions (k × d) and their values (k), by climbs from points."""
        unit = (points - self.box.lower) / self._span
        chosen = [far_apart(unit, column, starts) for column in values.T]
        which = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
        rows = np.concatenate(chosen)
        span = self.box.upper - self.box.lower

        def of_unit(u: Floats, some: Ints) -> tuple[Floats, Floats]:
            level, gradient = objectives(self.box.lower + u * span, which[some])
            return level, gradient * span

        ends, level = climb_side_by_side(of_unit, unit[rows], self._calls)
        best = [int(np.where(which == i, level, -np.inf).argmax()) for i in range(len(chosen))]
        found = self.box.snap(self.box.lower + ends[best] * span)
        # A start that is a maximum itself stays exactly as it is: it may have been told.
        still = np.all(ends[best] == unit[rows[best]], axis=1)
        found[still] = points[rows[best]][still]
        return found, level[best]


def climb(
    search: Search, objective: Objective, points: Floats, values: Floats, starts: int
) -> tuple[Floats, float]:
    """The best point (d) and value, by climbs from the best ``starts`` of screened points (n × d).

    ``values`` are those of the objective at these points (n).
    """

    def objectives(X: Floats, which: Ints) -> tuple[Floats, Floats]:
        return objective(X)

    found, level = search.climb_each(objectives, points, values[:, None], starts)
    return found[0], float(level[0])


def maximise(
    search: Search,
    objective: Objective,
    values: Callable[[Floats], Floats],
    anchors: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, float]:
    """The best point (d) and value found.

    ``values`` gives the objective without gradients; ``anchors`` (k × d) are points worth trying.
    """
    if search.method == "direct":
        points, starts = np.concatenate([_direct(search.box, values), anchors]), 1
    else:
        points, starts = search.screen(anchors, rng), search.starts
    return climb(search, objective, points, values(points), starts)


def _direct(box: Space, values: Callable[[Floats], Floats]) -> Floats:
    """What DIRECT finds (1 × d)."""
    from scipy.optimize import direct  # slow to import, and lists do not need it

    lower, upper = box.lower, box.upper
    # DIRECT refuses a side without length: it gets one, and its points are drawn back.
    ends = list(zip(lower, lower + spans(lower, upper), strict=True))
    result = direct(
        lambda x: -float(values(np.clip(x, lower, upper)[None])[0]),
        ends,
        maxfun=500 * box.dimension,
    )
    return np.asarray(np.clip(result.x, lower, upper)[None])


def spans(lower: Floats, upper: Floats) -> Floats:
    """The lengths of a box's sides (d); 1 for a side without length, where there is one value."""
    return np.where(upper > lower, upper - lower, 1.0)


def far_apart(unit: Floats, values: Floats, starts: int) -> list[int]:
    """The best of some points (n × d, sides of length 1), none of them close to a better one."""
    near = (0.05 * np.sqrt(unit.shape[1])) ** 2
    left = np.argsort(-values, kind="stable")[: 16 * starts]
    chosen: list[int] = []
    while len(left) and len(chosen) < starts:
        chosen.append(int(left[0]))
        left = left[np.square(unit[left] - unit[left[0]]).sum(axis=1) > near]
    return chosen


def around(anchors: Floats, span: Floats, rng: np.random.Generator) -> Floats:
    """Points at all distances from each anchor (k × d), in a box with these sides (d)."""
    count = NEARBY * len(anchors)
    reach = np.exp(rng.uniform(np.log(_NEAREST), np.log(_FARTHEST), (count, 1)))
    steps = reach * span * rng.standard_normal((count, len(span)))
    return np.asarray(np.repeat(anchors, NEARBY, axis=0) + steps)


def box_batch(
    search: Search,
    fantasy: Fantasy,
    width: float,
    rule: BatchRule,
    limit: int,
    anchors: Floats,
    rng: np.random.Generator,
    mean: float = 1.0,
    known: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Pick points of the largest ``mean``·mean + width·√leverage until the rule ends the batch.

    No point is picked that is ``known`` (k × d) or has been picked, while others are found. By
    default all points may be picked again.

    Returns
    -------
    points, upper
        The picks (n × d), and the bound of each when it was picked (n).
    """

    taken = set() if known is None else {point.tobytes() for point in known}

    def lowered(X: Floats, level: Floats) -> Floats:
        if taken:
            level[[point.tobytes() in taken for point in X]] = _CLOSED
        return level

    def values(X: Floats) -> Floats:
        centre, leverage = fantasy.evaluate(X)
        return lowered(X, mean * centre + width * np.sqrt(leverage))

    def objective(X: Floats) -> tuple[Floats, Floats]:
        level, gradient = fantasy.bound(X, width, mean)
        return lowered(X, level), gradient

    screen = anchors if search.method == "direct" else search.screen(anchors, rng)
    stale = values(screen)
    picks: list[Floats] = []
    bounds: list[float] = []
    while True:
        if search.method == "direct":
            point, upper = maximise(search, objective, values, anchors, rng)
        else:
            if picks:
                _refresh(values, screen, stale)
            starts = WARM_STARTS if picks else search.starts
            point, upper = climb(search, objective, screen, stale, starts)
        if upper == _CLOSED:  # all are known
            taken.clear()
            stale = values(screen)
            continue
        picks.append(point)
        bounds.append(upper)
        if taken:
            taken.add(point.tobytes())
        block = fantasy.block(point[None])
        if rule.add(block, 0) or len(picks) >= limit:
            return np.array(picks), np.array(bounds)
        fantasy.add(block, 0)
        screen, stale = np.concatenate([screen, block.points]), np.append(stale, upper)


def highest_bound(
    search: Search, fantasy: Fantasy, width: float, anchors: Floats, rng: np.random.Generator
) -> float:
    """The largest upper bound found in the box; ``anchors`` (k × d) are points worth trying."""

    def upper_bound(X: Floats) -> tuple[Floats, Floats]:
        return fantasy.bound(X, width)

    return maximise(search, upper_bound, lambda X: upper_bound(X)[0], anchors, rng)[1]


def _refresh(values: Callable[[Floats], Floats], screen: Floats, stale: Floats) -> None:
    """Bring the largest values up to date in place: bounds only fall, so stale ones bound them."""
    fresh = np.zeros(len(stale), dtype=bool)
    while True:
        top = np.argsort(-stale, kind="stable")[:_STALE]
        top = top[~fresh[top]]
        if not len(top):
            return
        stale[top] = values(screen[top])
        fresh[top] = True
