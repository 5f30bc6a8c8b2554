"""Thompson sampling: picks the maximiser of a drawn function, or draws uniformly.

F_t is the posterior distribution of the maximiser (ξ-greedy TS, Basu & Ghosh, Algorithm 1).
"""

import math
import warnings
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import RBF, Kernel, Matern
from noregret.models.features import (
    Features,
    FourierFeatures,
    MercerFeatures,
    NystromFeatures,
    mercer_is_available,
)
from noregret.models.pathwise import Paths, joint_values
from noregret.picking.baselines import asked, some_picks
from noregret.picking.boxes.search import Search, spans
from noregret.picking.boxes.ucb import BoxUCB
from noregret.picking.chooser import Interval, Picks, Situation, best_told, uniform_picks
from noregret.picking.lists.maxima import best_in_room, tops_of
from noregret.picking.lists.room import Room
from noregret.picking.lists.ucb import ListUCB
from noregret.picking.looks import LooksByBounds
from noregret.spaces import Candidates, Space

#: features that the prior may be drawn with
FEATURES = ("mercer", "nystrom", "qff", "rff")
#: on lists of at most this many candidates, values are drawn jointly, without features
_JOINT = 1000
#: how many points Nyström features use
_NYSTROM_POINTS = 400
#: largest kernel error of quadrature features, as a fraction of k(x, x)
_QUADRATURE_ERROR = 1e-6
#: the part of the prior variance that Mercer features may leave out
_MISSING = 1e-3
#: draws of the maximiser behind recommend() and converged()
_MODE_DRAWS = 64
#: how many draws if values are drawn jointly
_JOINT_DRAWS = 1024
#: functions drawn at a time
_TOGETHER = 1024
#: climbs per drawn function on a box: twice as many as dimensions, and at least this many
_CLIMBS = 3


class Thompson(LooksByBounds[ListUCB | BoxUCB]):
    """Maximisers of drawn functions, and with probability ξ uniform draws instead.

    Parameters
    ----------
    by_bounds
        Knows the space, predicts, and knows the largest upper bound.
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
        self, by_bounds: ListUCB | BoxUCB, features: str | None, xi: float, n_init: int, seed: int
    ) -> None:
        super().__init__(by_bounds)
        self._kind = features
        self._xi = xi
        self._n_init = n_init
        self._seed = seed
        self._corners = _space(by_bounds).corners  # corners of all lists so far
        self._kernel: Kernel | None = None  # the kernel of the features
        self._features: Features | None = None
        self._made = False

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the features, which follow from seed, kernel and space."""
        return {**vars(self), "_features": None, "_made": False}

    # -- choosing ----------------------------------------------------------------------------

    def choose(self, now: Situation, limit: int) -> Picks:
        """Uniform draws or maximisers, one kind for a whole batch (Section 5.1)."""
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
        by_bounds = self.by_bounds
        if isinstance(by_bounds, ListUCB):
            found = [
                list(best_in_room(_tops(by_bounds, now, features, size, rng, room, keep), room))
                for size in sizes
            ]
            ids = np.array([id_ for part in found for id_ in part], dtype=np.int64)
            return ids, by_bounds.space.at(ids)
        assert features is not None  # values are drawn jointly on lists only
        search = by_bounds.search
        points = [_in_box(search, now, features, size, rng) for size in sizes]
        return np.full(n, -1, dtype=np.int64), np.concatenate(points)

    # -- features ----------------------------------------------------------------------------

    def features(self, kernel: Kernel) -> Features | None:
        """What the prior is drawn with; ``None``: values of the whole list are drawn jointly."""
        if not self._made or self._kernel is not kernel:
            self._features = self._make(kernel)
            self._kernel, self._made = kernel, True
        return self._features

    def _make(self, kernel: Kernel) -> Features | None:
        rng = np.random.default_rng([self._seed, 1])
        space = _space(self.by_bounds)
        kind = self._kind
        if kind == "qff":
            return _quadrature(kernel, self._corners)
        if kind is None and _length(self.by_bounds) <= _JOINT:
            return None
        if kind == "mercer" or (kind is None and space.dimension in (1, 2)):
            found = _mercer(kernel, self.by_bounds, named=kind is not None)
            if found is not None:
                return found
        if kind == "rff" or (kind is None and isinstance(kernel, (RBF, Matern))):
            if space.dimension is None:
                raise ValueError("features 'rff' need points of numbers; use 'nystrom'")
            return FourierFeatures(kernel, space.dimension, rng)
        return NystromFeatures(kernel, space.spread(_NYSTROM_POINTS, rng))

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Take another list; refused before anything changes if quadrature cannot cover it too."""
        if not keep:
            self._cover(space)
        self._made = False
        super().restart(space, keep=keep)

    def extend(self, space: Any) -> None:
        """The list has grown; refused if quadrature cannot cover it."""
        self._cover(space)
        self._made = False
        super().extend(space)

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
        sides = np.ptp(_space(self.by_bounds).corners, axis=0)
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
        if isinstance(self.by_bounds, ListUCB):
            # Of candidates drawn equally often, the one with the largest mean.
            often = np.bincount(ids)[ids]
            at = int(np.lexsort((means, often))[-1])
        else:
            at = _densest(points / spans(*self.by_bounds.search.box.corners), means)
        mean, radius = float(means[at]), now.bounds.width * float(np.sqrt(leverages[at]))
        found = Interval(int(ids[at]), points[at], mean, mean - radius, mean + radius)
        rest = [other for other in others if other.id < 0 or other.id != found.id]
        return [found, *rest[: count - 1]]


def _space(by_bounds: ListUCB | BoxUCB) -> Candidates | Space:
    return by_bounds.space if isinstance(by_bounds, ListUCB) else by_bounds.search.box


def _length(by_bounds: ListUCB | BoxUCB) -> float:
    """The number of candidates, ∞ in a box."""
    return len(by_bounds.space) if isinstance(by_bounds, ListUCB) else math.inf


def _mercer(kernel: Kernel, by_bounds: ListUCB | BoxUCB, *, named: bool) -> MercerFeatures | None:
    """Mercer features; unless ``named`` by the user, only if they leave out almost nothing."""
    if isinstance(by_bounds, ListUCB):
        if named:
            raise ValueError("features 'mercer' need a box; on a list use 'nystrom'")
        return None
    box = by_bounds.search.box
    if not named and not mercer_is_available(kernel, box):
        return None
    features = MercerFeatures(kernel, box)
    if features.missing <= _MISSING:
        return features
    if not named:
        return None
    warnings.warn(
        f"features 'mercer' leave out {features.missing:.0%} of the prior variance of {kernel!r}: "
        "features 'rff' do not",
        stacklevel=2,
    )
    return features


def _quadrature(kernel: Kernel, corners: Points) -> Features:
    """Features for all points between these corners (k × d)."""
    # Imported here: the module imports scipy.special, which is slow.
    from noregret.models.fourier import QuadratureFeatures, quadrature_for

    fourier = quadrature_for(kernel, corners, None, _QUADRATURE_ERROR)
    return QuadratureFeatures(fourier, corners.shape[1], _QUADRATURE_ERROR)


def _tops(
    by_bounds: ListUCB,
    now: Situation,
    features: Features | None,
    n: int,
    rng: np.random.Generator,
    room: Room,
    keep: bool,
) -> Ints:
    """The best open candidates of n drawn functions (k × n ids)."""
    posterior, space = now.bounds.posterior, by_bounds.space
    if features is None:
        values = joint_values(posterior, space.at(np.arange(len(space))), n, rng)
        return tops_of(values, room)
    paths = Paths(posterior, features, n, rng)
    if not isinstance(features, NystromFeatures):
        return by_bounds.tops(now, n, paths.values, room, keep=keep)

    def with_missing(points: Points) -> Floats:
        """Drawn values, plus what the landmarks leave out: independent for each candidate."""
        noise = rng.standard_normal((len(points), n))
        return paths.values(points) + np.sqrt(paths.missing(points))[:, None] * noise

    return by_bounds.tops(now, n, with_missing, room, keep=keep)


def _in_box(
    search: Search, now: Situation, features: Features, n: int, rng: np.random.Generator
) -> Floats:
    """The maximisers of n drawn functions (n × d), by climbs from the best points of a screen."""
    paths = Paths(now.bounds.posterior, features, n, rng)
    screen = search.screen(best_told(now), rng)
    climbs = max(_CLIMBS, 2 * search.box.dimension)
    return search.climb_each(paths.evaluate, screen, paths.values(screen), climbs)[0]


def _densest(points: Floats, means: Floats) -> int:
    """Position of the draw (of n × d) with the largest mean (of n) near the densest place.

    Gaussian densities of two bandwidths each give a place. Scott's bandwidth is far too wide if
    draws gather in several places. The median distance to the √n-th neighbour may choose a few
    draws in one corner. The place with the larger mean is used.
    """
    n, d = points.shape
    apart = np.square(points[:, None] - points[None]).sum(axis=2)
    reach = np.sort(apart, axis=1)[:, int(math.sqrt(n))]
    scott = float(points.var(axis=0).sum()) * n ** (-2.0 / (d + 4))
    found = []
    for bandwidth in (scott, float(np.median(reach))):
        density = np.exp(-0.5 * apart / max(bandwidth, 1e-12)).sum(axis=1)
        near = apart[int(density.argmax())] <= np.median(reach)
        found.append(int(np.where(near, means, -np.inf).argmax()))
    return max(found, key=lambda at: float(means[at]))
