"""The maximisers over a list of functions drawn from the sparse posterior."""

from collections.abc import Iterator

import numpy as np

from noregret._types import Floats, Points
from noregret.picking.chooser import Situation
from noregret.picking.lists.drawn_tops import DrawnTops
from noregret.picking.lists.maxima import best_in_room
from noregret.spaces import Candidates

#: functions drawn at first, and at most, at a time
_FIRST_DRAWS, _MOST_DRAWS = 16, 256


class ListDraws:
    """Maximises drawn functions over a list.

    Parameters
    ----------
    space
        The list.
    """

    def __init__(self, space: Candidates) -> None:
        self._tops = DrawnTops(space)

    def restart(self, space: Candidates, *, keep: bool = False) -> None:
        """Take another list; the same one with ``keep``."""
        self._tops.restart(space, keep=keep)

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self._tops.extend(space)

    def maximisers(self, now: Situation) -> Iterator[tuple[int, Points]]:
        """Of each function the best candidate that may be picked, until there is none."""
        posterior, rng = now.bounds.posterior, now.rng
        draws = _FIRST_DRAWS
        while now.room.open:
            thetas = posterior.draw(draws, rng)

            def values(points: Points, thetas: Floats = thetas) -> Floats:
                Z = posterior.embed(points)
                spread = np.sqrt(posterior.residual(Z, points))[:, None]
                own = rng.standard_normal((len(Z), thetas.shape[1]))
                return np.asarray(Z @ thetas + spread * own)

            for id_ in best_in_room(self._tops.of(now, draws, values, now.room), now.room):
                yield id_, self._tops.space.points[id_]
            draws = min(2 * draws, _MOST_DRAWS)
