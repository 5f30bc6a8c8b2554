"""Who is next? The largest upper confidence bound, in a box or on a list."""

from noregret.picking.boxes.ucb import BoxUCB
from noregret.picking.lists.ucb import ListUCB
from noregret.spaces import Candidates, Space


def ucb(space: Candidates | Space, search: str) -> ListUCB | BoxUCB:
    """The chooser for a list, or for a box, which is searched by this method.

    Which of them it is, is asked once, where the chooser is made.
    """
    return ListUCB(space) if isinstance(space, Candidates) else BoxUCB(space, search)
