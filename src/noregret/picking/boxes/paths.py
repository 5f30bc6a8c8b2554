"""The maximisers over a box of functions that are drawn with features of the prior."""

import math
import warnings
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.models.features import Features, MercerFeatures, mercer_is_available
from noregret.models.pathwise import Paths
from noregret.picking.boxes.search import Search, spans
from noregret.picking.chooser import Situation, best_told
from noregret.picking.lists.room import Room
from noregret.spaces import Space

#: the part of the prior variance that Mercer features may leave out
_MISSING = 1e-3
#: climbs per drawn function: twice as many as dimensions, and at least this many
_CLIMBS = 3


class BoxPaths:
    """Draws functions over a box or space, and maximises them.

    Parameters
    ----------
    search
        Searches the box.
    """

    #: values at all points of a box cannot be drawn jointly
    need_features = True

    def __init__(self, search: Search) -> None:
        self._search = search

    @property
    def space(self) -> Space:
        """The box."""
        return self._search.box

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """A box stays as it is."""

    def extend(self, space: Any) -> None:
        """A box stays as it is."""

    def mercer(self, kernel: Kernel, *, named: bool) -> MercerFeatures | None:
        """Mercer features; unless ``named`` by the user, only if they leave out almost nothing."""
        if not named and not mercer_is_available(kernel, self.space):
            return None
        features = MercerFeatures(kernel, self.space)
        if features.missing <= _MISSING:
            return features
        if not named:
            return None
        warnings.warn(
            f"features 'mercer' leave out {features.missing:.0%} of the prior variance of "
            f"{kernel!r}: features 'rff' do not",
            stacklevel=2,
        )
        return features

    def maximisers(
        self,
        now: Situation,
        n: int,
        features: Features | None,
        rng: np.random.Generator,
        room: Room,
        *,
        keep: bool,
    ) -> tuple[Ints, Points]:
        """The maximisers of n functions, by climbs from the best points of a screen: ids, points.

        A box has no limit of picks, and nothing is remembered of it.
        """
        assert features is not None  # values are drawn jointly on lists only
        paths = Paths(now.bounds.posterior, features, n, rng)
        screen = self._search.screen(best_told(now), rng)
        climbs = max(_CLIMBS, 2 * self.space.dimension)
        values = paths.values(screen)
        points = self._search.climb_each(paths.evaluate, screen, values, climbs)[0]
        return np.full(n, -1, dtype=np.int64), points

    def mode(self, ids: Ints, points: Points, means: Floats) -> int:
        """Position of the mode of draws of the maximiser: ids, points and means (n each)."""
        return _densest(points / spans(*self.space.corners), means)


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
