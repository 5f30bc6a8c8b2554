"""Who is next if the kernel is learnt? By wider bounds one time of three."""

from dataclasses import replace

from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Chooser, Picks, Situation

#: one batch of so many has wider bounds, by this factor
_TURNS, _WIDER = 3, 2.0


class WideTurns(LooksByBounds[Chooser]):
    """Picks as another chooser does; in every third batch bounds are twice as wide.

    A kernel that is fitted to evaluations that gather on one hill underestimates what lies
    elsewhere. With bounds of one width nearly all evaluations would stay on that hill, and a few
    choices would be evaluated again and again.

    State: whose turn it is.
    """

    def __init__(self, by_bounds: Chooser) -> None:
        super().__init__(by_bounds)
        self._turn = 0

    @property
    def follows_aim(self) -> bool:
        """As the other chooser does."""
        return self.by_bounds.follows_aim

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        self._turn = (self._turn + 1) % _TURNS
        if self._turn:
            return self.by_bounds.choose(now, limit)
        wider = replace(now.bounds, widths=_WIDER * now.bounds.widths)
        picks = self.by_bounds.choose(replace(now, bounds=wider), limit)
        return replace(picks, width=now.bounds.width)

    def alive(self, now: Situation) -> int | None:
        """How many choices can still be the best, by the other chooser."""
        return self.by_bounds.alive(now)
