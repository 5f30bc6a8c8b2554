"""The best candidates of drawn functions, and what earlier draws computed of the list."""

from collections.abc import Callable

from noregret._types import Floats, Ints, Points
from noregret.picking.chooser import Situation
from noregret.picking.lists.current import Current
from noregret.picking.lists.maxima import tops_of_draws
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.room import Room
from noregret.picking.lists.shards import fresh_looks
from noregret.spaces import Candidates


class DrawnTops:
    """Finds the best candidates of functions drawn from the posterior.

    State: what earlier draws computed of the candidates, and by which version of the beliefs.

    Parameters
    ----------
    space
        The list.
    """

    def __init__(self, space: Candidates) -> None:
        self.space = space
        self._sleepers: Current | None = None
        self._version = -1

    def restart(self, space: Candidates, *, keep: bool = False) -> None:
        """Take another list; the same one with ``keep``, where what was computed holds."""
        self.space = space
        if not keep:
            self._sleepers, self._version = None, -1
        if self._sleepers is not None:
            self._sleepers.move_to(space)

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end: new candidates start from the prior."""
        self.space = space
        if self._sleepers is not None:
            self._sleepers.extend(space)

    def of(
        self,
        now: Situation,
        n: int,
        values: Callable[[Points], Floats],
        room: Room,
        *,
        keep: bool = True,
    ) -> Ints:
        """The best open candidates of n functions drawn from the posterior (k × n ids).

        With ``keep`` what was computed is remembered. See
        :func:`~noregret.picking.lists.maxima.tops_of_draws`.
        """
        sleepers, assumed = self._sleepers, now.beliefs.assumed
        if sleepers is None or self._version != now.beliefs.version:
            column = fresh_looks(PriorRoot(assumed.kernel, lam=assumed.lam), self.space)
            sleepers = Current(column, self.space.nothing, grows=False)
        if keep:
            self._sleepers, self._version = sleepers, now.beliefs.version
            sleepers.follow(now.beliefs.model, self.space.at)
        return tops_of_draws(sleepers, now.bounds, self.space.at, n, values, room, keep=keep)
