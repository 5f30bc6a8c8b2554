"""Who is next? The largest upper confidence bound, in a box or on a list."""

from typing import TYPE_CHECKING

from noregret.spaces import Candidates, Space

if TYPE_CHECKING:
    from noregret.picking.boxes.ucb import BoxUCB
    from noregret.picking.lists.ucb import ListUCB


def ucb(space: Candidates | Space, search: str) -> "ListUCB | BoxUCB":
    """The chooser for a list, or for a box, which is searched by this method.

    Which of them it is, is asked once, where the chooser is made; the other one is not imported.
    """
    if isinstance(space, Candidates):
        from noregret.picking.lists.ucb import ListUCB

        return ListUCB(space)
    from noregret.picking.boxes.ucb import BoxUCB

    return BoxUCB(space, search)
