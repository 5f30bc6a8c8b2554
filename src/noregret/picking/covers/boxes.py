"""Who is next inside a cell of a box or space? The best point that a search finds."""

import numpy as np

from noregret._types import Bools, Floats, Ints, Points
from noregret.models.assumptions import Assumptions
from noregret.models.cover import Cover, Key
from noregret.picking.boxes.mixed import search_of
from noregret.picking.boxes.search import Search, climb
from noregret.picking.covers.bounds import CoverBounds, Leader, one_of_the_largest
from noregret.spaces import Box, Space

#: points that the search of a cell starts from, beside those told in it
_PATTERN = 64


class InBox:
    """Searches each cell of a box or space, from a few points spread over it and those told in it.

    Parameters
    ----------
    space
        The box or space.
    seed
        Of the points spread over a cell, the same in all of them.
    """

    compares_all = False

    def __init__(self, space: Space, seed: int) -> None:
        unit = Box([(0.0, 1.0)] * space.dimension)
        self._space = space
        self._pattern = unit.spread(_PATTERN, np.random.default_rng(seed))

    def first(self) -> tuple[int, Points]:
        """The first corner, recommended before anything is told, with the id −1."""
        return -1, self._space.locate(self._space.corners[:1])[1][0]

    def are_choices(self, ids: Ints) -> Bools:
        """All points told (n)."""
        return np.full(len(ids), True)

    def restart(self, space: Space) -> None:
        """A box or space stays as it is."""

    def extend(self, cover: Cover) -> list[Key]:
        """A box or space stays as it is."""
        return []

    def copy(self) -> "InBox":
        """Itself: it remembers nothing."""
        return self

    def start(self, cover: Cover, assumed: Assumptions, *, intersected: bool) -> list[Key]:
        """Begin with a cover; all of its cells that hold points."""
        return [key for key in cover.leaves() if self._holds_points(cover, key)]

    def split(self, cover: Cover, key: Key) -> list[Key]:
        """A cell has split; the cells in its place."""
        return [half for half in cover.children(key) if self._holds_points(cover, half)]

    def _part(self, cover: Cover, key: Key) -> Space:
        return self._space.between(*cover.bounds(key))

    def _holds_points(self, cover: Cover, key: Key) -> bool:
        part = self._part(cover, key)
        return bool(np.all(part.lower <= part.upper))

    def _spread(self, cover: Cover, key: Key) -> Floats:
        low, high = cover.bounds(key)
        return self._part(cover, key).snap(low + (high - low) * self._pattern)

    def _search(self, cover: Cover, key: Key) -> Search:
        return search_of(self._part(cover, key), quick=True)

    def look(
        self, view: CoverBounds, key: Key, closed: Ints, width: float | None, *, keep: bool
    ) -> Leader:
        """The best point found by a search of a cell. It is not repeated for a wider width."""
        beliefs, bounds = view.beliefs, view.of(key)
        points = self._spread(beliefs.cover, key)
        if view.is_unknown(key):
            prior = float(beliefs.assumed.kernel.diag(points).max())
            root = float(np.sqrt(prior / bounds.posterior.lam))
            return Leader(None, bounds.width * root, 0.0, root, root, bounds.width)
        points = np.concatenate([points, bounds.posterior.inducing])
        point, _ = climb(
            self._search(beliefs.cover, key),
            lambda X: bounds.fantasy.bound(X, bounds.width),
            points,
            bounds.inside(bounds.fantasy.block(points)),
            1,
        )
        mean, leverage = bounds.evaluate(point[None])
        root = float(np.sqrt(leverage[0]))
        upper = float(mean[0]) + bounds.width * root
        return Leader(point, upper, float(mean[0]), root, root, bounds.width)

    def draw(self, view: CoverBounds, key: Key, closed: Ints, rng: np.random.Generator) -> Floats:
        """A point of a cell that nothing is known of: one with the largest bound, at random."""
        points = self._spread(view.beliefs.cover, key)
        prior = view.beliefs.assumed.kernel.diag(points)
        return np.asarray(points[one_of_the_largest(prior, rng)])

    def locate(self, choice: Floats) -> tuple[int, Points]:
        """The id, which is −1, and the point of a choice."""
        return -1, choice

    def cap(self, key: Key, ids: Ints, upper: Floats) -> Floats:
        """The bounds themselves: none are remembered."""
        return upper

    def smallest(self) -> Floats | None:
        """There are no candidates."""
        return None

    def safest(self, view: CoverBounds, point: Points, rng: np.random.Generator) -> Points:
        """A told point moved uphill inside its cell."""
        (key, _), *_ = view.parts(point[None])
        bounds = view.of(key)
        found, _ = climb(
            self._search(view.beliefs.cover, key),
            lambda X: bounds.fantasy.bound(X, -bounds.width),
            point[None],
            bounds.fantasy.bound(point[None], -bounds.width)[0],
            1,
        )
        return found
