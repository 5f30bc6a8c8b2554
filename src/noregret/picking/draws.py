"""Who is next? The maximisers of functions drawn from the sparse posterior.

A function is zᵀθ with θ ~ N(V⁻¹Zᵀy, λV⁻¹), plus what the dictionary's span leaves out of the prior:
an independent value of that variance for each candidate, so that each candidate's value has the
posterior's mean and variance σ̃² (BBKB eqs. 1 and 3). All picks use the posterior of the batch
start, and differ by chance.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._types import Points
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Chooser, Picks, Situation
from noregret.spaces import Candidates, Space

if TYPE_CHECKING:
    from noregret.picking.boxes.draws import BoxDraws
    from noregret.picking.lists.draws import ListDraws


def draws(space: Candidates | Space, search: str) -> "ListDraws | BoxDraws":
    """What draws functions over a list or a box, which is searched by this method."""
    if isinstance(space, Candidates):
        from noregret.picking.lists.draws import ListDraws  # only what is used is imported

        return ListDraws(space)
    from noregret.picking.boxes.draws import BoxDraws
    from noregret.picking.boxes.mixed import search_of

    return BoxDraws(search_of(space, search))


class DrawnFunctions(LooksByBounds[Chooser]):
    """Picks the maximiser of one drawn function after another, until the rule ends the batch.

    Parameters
    ----------
    by_bounds
        Recommends and predicts.
    drawn
        Draws the functions, see :func:`draws`.
    """

    def __init__(self, by_bounds: Chooser, drawn: "ListDraws | BoxDraws") -> None:
        super().__init__(by_bounds)
        self._drawn = drawn

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        rule, fantasy = now.rule(now.bounds.fantasy), now.bounds.fantasy
        picks: list[Points] = []
        ids: list[int] = []
        for id_, point in self._drawn.maximisers(now):
            picks.append(point)
            ids.append(id_)
            # The variance that is left is not followed inside the batch.
            if rule.add(fantasy.block(point[None]), 0) or len(picks) >= limit:
                break
        points = np.array(picks) if picks else fantasy.posterior.inducing[:0]
        upper = now.bounds.inside(fantasy.block(points))
        width = now.bounds.width
        return Picks(np.array(ids, dtype=np.int64), points, upper, width, rule.ratio)

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list, or with ``keep`` the same one after a run was loaded."""
        super().restart(space, keep=keep)
        self._drawn.restart(space, keep=keep)

    def extend(self, space: Any) -> None:
        """The list has grown at its end."""
        super().extend(space)
        self._drawn.extend(space)
