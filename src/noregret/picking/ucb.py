"""Who is next? The largest upper confidence bound, in a box or on a list."""

from noregret.picking.boxes.ucb import BoxUCB
from noregret.picking.lists.ucb import ListUCB, OwnBounds
from noregret.spaces import Candidates, Space


def ucb(space: Candidates | Space, search: str, own: OwnBounds | None = None) -> ListUCB | BoxUCB:
    """The chooser for a list or a box; the only place that asks which of them it is.

    ``own`` are more bounds for the candidates of a list.
    """
    return ListUCB(space, own) if isinstance(space, Candidates) else BoxUCB(space, search)
