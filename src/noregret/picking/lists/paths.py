"""The maximisers over a list of functions that are drawn with features of the prior."""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.models.features import Features, MercerFeatures, NystromFeatures
from noregret.models.pathwise import Paths, joint_values
from noregret.picking.chooser import Situation
from noregret.picking.lists.drawn_tops import DrawnTops
from noregret.picking.lists.maxima import best_in_room, tops_of
from noregret.picking.lists.room import Room
from noregret.spaces import Candidates

#: on lists of at most this many candidates, values are drawn jointly, without features
_JOINT = 1000


class ListPaths:
    """Draws functions over a list, and maximises them.

    Parameters
    ----------
    space
        The list.
    """

    def __init__(self, space: Candidates) -> None:
        self._tops = DrawnTops(space)

    @property
    def space(self) -> Candidates:
        """The list."""
        return self._tops.space

    def restart(self, space: Candidates, *, keep: bool = False) -> None:
        """Take another list; the same one with ``keep``."""
        self._tops.restart(space, keep=keep)

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self._tops.extend(space)

    @property
    def need_features(self) -> bool:
        """Whether the list is too long to draw the values of all candidates jointly."""
        return len(self.space) > _JOINT

    def mercer(self, kernel: Kernel, *, named: bool) -> MercerFeatures | None:
        """None: there are no Mercer features on a list; refused if they are ``named``."""
        if named:
            raise ValueError("features 'mercer' need a box; on a list use 'nystrom'")
        return None

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
        """The maximisers of n functions: ids and points, fewer if fewer may be picked.

        Without ``features`` the values of all candidates are drawn jointly. With ``keep``, what was
        computed on the way is remembered.
        """
        tops = self._best(now, n, features, rng, room, keep=keep)
        ids = np.array(list(best_in_room(tops, room)), dtype=np.int64)
        return ids, self.space.at(ids)

    def _best(
        self,
        now: Situation,
        n: int,
        features: Features | None,
        rng: np.random.Generator,
        room: Room,
        *,
        keep: bool,
    ) -> Ints:
        """The best open candidates of n drawn functions (k × n ids)."""
        posterior, space = now.bounds.posterior, self.space
        if features is None:
            values = joint_values(posterior, space.at(np.arange(len(space))), n, rng)
            return tops_of(values, room)
        paths = Paths(posterior, features, n, rng)
        if not isinstance(features, NystromFeatures):
            return self._tops.of(now, n, paths.values, room, keep=keep)

        def with_missing(points: Points) -> Floats:
            """Drawn values, plus what the landmarks leave out: independent for each candidate."""
            noise = rng.standard_normal((len(points), n))
            return paths.values(points) + np.sqrt(paths.missing(points))[:, None] * noise

        return self._tops.of(now, n, with_missing, room, keep=keep)

    def mode(self, ids: Ints, points: Points, means: Floats) -> int:
        """Position of the mode of draws of the maximiser: ids, points and means (n each).

        The most frequent candidate; of candidates drawn equally often, the one with the largest
        mean.
        """
        often = np.bincount(ids)[ids]
        return int(np.lexsort((means, often))[-1])
