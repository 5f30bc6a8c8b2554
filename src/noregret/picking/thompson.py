"""Thompson sampling: picks the maximiser of a drawn function, or draws uniformly.

F_t is the posterior distribution of the maximiser (ξ-greedy TS, Basu & Ghosh, Algorithm 1).
"""

import math
from typing import Any

import numpy as np

from noregret._types import Ints, Points
from noregret.kernels import Kernel
from noregret.models.features import (
    Features,
    FourierFeatures,
    NystromFeatures,
    fourier_is_available,
)
from noregret.picking.baselines import asked, some_picks
from noregret.picking.boxes.mixed import search_of
from noregret.picking.boxes.paths import BoxPaths
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Chooser, Interval, Picks, Situation, uniform_picks
from noregret.picking.lists.paths import ListPaths
from noregret.picking.lists.room import Room
from noregret.spaces import Candidates, Space

#: features that the prior may be drawn with
FEATURES = ("mercer", "nystrom", "qff", "rff")
#: how many points Nyström features use
_NYSTROM_POINTS = 400
#: largest kernel error of quadrature features, as a fraction of k(x, x)
_QUADRATURE_ERROR = 1e-6
#: draws of the maximiser behind recommend() and converged()
_MODE_DRAWS = 64
#: how many draws if values are drawn jointly
_JOINT_DRAWS = 1024
#: functions drawn at a time
_TOGETHER = 1024


def paths(space: Candidates | Space, search: str) -> ListPaths | BoxPaths:
    """What draws functions over a list or a box, which is searched by this method."""
    if isinstance(space, Candidates):
        return ListPaths(space)
    return BoxPaths(search_of(space, search))


class Thompson(LooksByBounds[Chooser]):
    """Maximisers of drawn functions, and with probability ξ uniform draws instead.

    Parameters
    ----------
    by_bounds
        Recommends and predicts.
    drawn
        Draws the functions, see :func:`paths`.
    features
        What the prior is drawn with, see :data:`FEATURES`; ``None``: what suits kernel and space.
    xi
        ξ.
    n_init
        Uniform draws at the start.
    seed
        Seed of the features, and of the draws of looks.
    """

    def __init__(
        self,
        by_bounds: Chooser,
        drawn: ListPaths | BoxPaths,
        features: str | None,
        xi: float,
        n_init: int,
        seed: int,
    ) -> None:
        super().__init__(by_bounds)
        self._drawn = drawn
        self._kind = features
        self._xi = xi
        self._n_init = n_init
        self._seed = seed
        self._corners = drawn.space.corners  # corners of all lists so far
        self._kernel: Kernel | None = None  # the kernel of the last ask
        self._made: tuple[Kernel, Features | None] | None = None  # features, and for which kernel

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the features, which follow from seed, kernel and space."""
        return {**vars(self), "_made": None}

    # -- choosing ----------------------------------------------------------------------------

    def choose(self, now: Situation, limit: int) -> Picks:
        """Uniform draws or maximisers, one kind for a whole batch (Section 5.1)."""
        self._kernel = now.beliefs.assumed.kernel
        if asked(now) < self._n_init or not now.observations.t or now.rng.random() < self._xi:
            return uniform_picks(now, limit)
        return some_picks(now, *self._maximisers(now, limit, now.rng, now.room, keep=True))

    def _maximisers(
        self, now: Situation, n: int, rng: np.random.Generator, room: Room, *, keep: bool
    ) -> tuple[Ints, Points]:
        """n draws from F_t: ids and points (n each), fewer if fewer may be picked.

        With ``keep``, what was computed of a list on the way is remembered.
        """
        features = self.features(now.beliefs.assumed.kernel)
        sizes = [min(_TOGETHER, n - start) for start in range(0, n, _TOGETHER)]
        found = [
            self._drawn.maximisers(now, size, features, rng, room, keep=keep) for size in sizes
        ]
        ids, points = zip(*found, strict=True)
        return np.concatenate(ids), np.concatenate(points)

    # -- features ----------------------------------------------------------------------------

    def features(self, kernel: Kernel) -> Features | None:
        """What the prior is drawn with; ``None``: values of the whole list are drawn jointly."""
        if self._made is None or self._made[0] is not kernel:
            self._made = kernel, self._make(kernel)
        return self._made[1]

    def prepare(self, kernel: Kernel) -> None:
        """Refuse a kernel or space that the features named do not suit, before the first ask."""
        self.features(kernel)
        self._kernel = kernel

    def _make(self, kernel: Kernel) -> Features | None:
        rng = np.random.default_rng([self._seed, 1])
        space, kind = self._drawn.space, self._kind
        if kind == "qff":
            return _quadrature(kernel, self._corners)
        if kind is None and not self._drawn.need_features:
            return None
        if kind == "mercer" or (kind is None and space.dimension in (1, 2)):
            found = self._drawn.mercer(kernel, named=kind is not None)
            if found is not None:
                return found
        if kind == "rff" or (kind is None and fourier_is_available(kernel)):
            if space.dimension is None:
                raise ValueError("features 'rff' need points of numbers; use 'nystrom'")
            return FourierFeatures(kernel, space.dimension, rng)
        return NystromFeatures(kernel, space.spread(_NYSTROM_POINTS, rng))

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Take another list; refused before anything changes if quadrature cannot cover it too."""
        if not keep:
            self._cover(space)
        self._made = None
        super().restart(space, keep=keep)
        self._drawn.restart(space, keep=keep)

    def extend(self, space: Any) -> None:
        """The list has grown; refused if quadrature cannot cover it."""
        self._cover(space)
        self._made = None
        super().extend(space)
        self._drawn.extend(space)

    def _cover(self, space: Any) -> None:
        """Let quadrature cover another list too."""
        if self._kind == "qff":
            corners = np.concatenate([self._corners, space.corners])
            if self._kernel is not None:
                _quadrature(self._kernel, corners)
            self._corners = corners

    # -- what is known -----------------------------------------------------------------------

    def maximisers(self, now: Situation, n: int) -> tuple[Ints, Points]:
        """n draws from F_t for a look: ids and points (n each)."""
        rng = np.random.default_rng([self._seed, 2, now.observations.t])
        return self._maximisers(now, n, rng, Room(), keep=False)

    def spread(self, now: Situation) -> float:
        """Root mean square distance between draws from F_t and their mean, in sides of the space.

        On a list of objects, the share of draws that are not the most frequent one. Infinite before
        n₀ answers: until then the algorithm draws uniformly.
        """
        if now.observations.t < self._n_init:
            return math.inf
        ids, points = self.maximisers(now, _MODE_DRAWS)
        if points.dtype == object:
            return float(1.0 - np.bincount(ids).max() / len(ids))
        sides = np.ptp(self._drawn.space.corners, axis=0)
        away = (points - points.mean(axis=0)) / np.where(sides > 0, sides, 1.0)
        return float(np.sqrt(np.square(away).sum(axis=1).mean()))

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The mode of F_t, with its bounds from the GP; then others, by their lower bounds."""
        others = self.by_bounds.ranking(now, count)
        if not now.observations.t:
            return others
        # Values of a short list are drawn jointly, which is cheap.
        joint = self.features(now.beliefs.assumed.kernel) is None
        ids, points = self.maximisers(now, _JOINT_DRAWS if joint else _MODE_DRAWS)
        means, leverages = now.bounds.fantasy.evaluate(points)
        at = self._drawn.mode(ids, points, means)
        mean, radius = float(means[at]), now.bounds.width * float(np.sqrt(leverages[at]))
        found = Interval(int(ids[at]), points[at], mean, mean - radius, mean + radius)
        rest = [other for other in others if other.id < 0 or other.id != found.id]
        return [found, *rest[: count - 1]]


def _quadrature(kernel: Kernel, corners: Points) -> Features:
    """Features for all points between these corners (k × d)."""
    # Imported here: the module imports scipy.special, which is slow.
    from noregret.models.fourier import QuadratureFeatures, quadrature_for

    fourier = quadrature_for(kernel, corners, None, _QUADRATURE_ERROR)
    return QuadratureFeatures(fourier, corners.shape[1], _QUADRATURE_ERROR)
