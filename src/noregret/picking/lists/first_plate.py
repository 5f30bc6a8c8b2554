"""The first plate: candidates spread over a list before anything is known about it.

Each candidate is chosen from a few uniform draws: the one that is most uncertain given the
candidates chosen before (the best-candidate rule of Mitchell 1991, with the posterior deviation as
distance). So the plate has few near neighbours, and still follows the density of the list. The most
uncertain candidates of the whole list would lie in far corners. Only the draws are looked at,
however long the list is. Rewards are not used, so settings may be fitted to the values as to
uniform draws.
"""

import numpy as np

from noregret._types import Ints, Points
from noregret.models.fantasy import Fantasy
from noregret.models.sparse import SparseGP
from noregret.picking.chooser import Picks, Situation
from noregret.spaces import Candidates

#: each candidate of the plate is the best of this many uniform draws
DRAWS = 8
#: the plate keeps away from this many of the latest arms
_MOST_KNOWN = 2000


def first_plate(now: Situation, space: Candidates, count: int) -> Picks:
    """Candidates spread over a list (``count``, or as many as may be picked)."""
    fantasy, room = _prior(now), now.room
    chosen: list[int] = []
    drawn = _draws(now, count)
    points = space.at(drawn.ravel())
    looked = [points[i : i + DRAWS] for i in range(0, len(points), DRAWS)]
    for ids, where in zip(drawn, looked, strict=True):
        open_ = np.array([room.left(int(id_)) > 0 for id_ in ids])
        if not open_.any():
            continue
        block = fantasy.block(where)
        at = int(np.argmax(np.where(open_, block.leverage, -np.inf)))
        fantasy.add(block, at)
        room.take(int(ids[at]))
        chosen.append(int(ids[at]))
    ids = np.array(chosen, dtype=np.int64)
    if len(ids) < count:  # few are open: the rest of them
        ids = np.concatenate([ids, room.draw(count - len(ids), now.rng)])
    now.note("spread over the list", points=len(ids), looked_at=drawn.size)
    return _picks(now, space, ids)


def _prior(now: Situation) -> Fantasy:
    """The prior, given the latest arms that were told or are pending."""
    assumed, seen = now.beliefs.assumed, now.observations
    model = SparseGP(assumed.kernel, assumed.lams[:1], now.space.nothing, assumed.scale)
    counts = seen.told + seen.pending
    rows = np.flatnonzero(counts)[-_MOST_KNOWN:]
    return Fantasy(model.posterior(), seen.points[rows], counts[rows])


def _draws(now: Situation, count: int) -> Ints:
    """Uniform draws from the candidates that are open now (count × DRAWS), none of them taken."""
    closed, size = now.room.closed, now.room.open
    if not size:
        return np.empty((0, DRAWS), dtype=np.int64)
    ranks = now.rng.integers(size, size=(count, DRAWS))
    return ranks + np.searchsorted(closed - np.arange(len(closed)), ranks, side="right")


def _picks(now: Situation, space: Candidates, ids: Ints) -> Picks:
    points: Points = space.at(ids)
    return Picks(ids, points, now.bounds.upper(points), now.bounds.width, spread=True)
