"""The largest upper bound on a list, found without reading the whole list.

Every candidate keeps a *stale* bound that is never below its bound now. Only candidates whose stale
bound comes out on top are looked at again; all others sleep. So a batch costs the candidates it
looks at, not the length of the list, and the picks are exactly those of a full argmax.

Two rules say what the bound of a candidate is (the Proofs page, Theorem 5):

- *intersected*: the smallest upper bound ever computed for it. Bounds only fall, so the last one
  computed is the stale bound. At a batch start the pick is the argmax of min(stale, fresh) over all
  candidates. The 64 candidates with the largest stale bounds are brought up to date, and so are all
  whose stale bound is above the smallest bound of a pick, and the ``leading`` candidates (see
  :func:`list_batch`). So neither the order in which candidates are looked at nor the way a list is
  cut into parts matters. Several may have the largest bound: at first all share the prior bound.
  Then the largest mean among those looked at decides.
- *current*: mean + width·√leverage now, the papers' rule. A stale bound follows from how far mean
  and leverage can have moved since the candidate was last looked at
  (:class:`~noregret.picking.lists.last_looks.LastLooks`). Candidates that were looked at lately are
  followed, so that their bounds are exact (:class:`~noregret.picking.lists.following.Following`).
"""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.batching import BatchRule, FixedSize
from noregret.models.fantasy import Block
from noregret.models.sparse import SparseGP
from noregret.picking.bounds import Bounds
from noregret.picking.chooser import Picks
from noregret.picking.lists.awake import FIRST_LOOK, Awake
from noregret.picking.lists.columns import PointsOf, Queue
from noregret.picking.lists.room import NOBODY, Room
from noregret.picking.lists.shards import Uppers, placed_uppers
from noregret.picking.lists.sleepers import Sleepers
from noregret.spaces import Candidates


class Intersected:
    """Bounds that only fall: one number per candidate.

    Parameters
    ----------
    column
        Upper bounds before anything is known: F·√k(x, x).
    """

    intersects = True

    def __init__(self, column: Uppers) -> None:
        self.column = column

    def start(self, bounds: Bounds, points: PointsOf, skipped: Ints) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds; some are skipped."""
        return self.column.read(points, skipped)

    def stale(self, ids: Ints) -> Floats:
        """The stale bounds of some candidates (n)."""
        return self.column.of(ids)

    def all_stale(self) -> Floats:
        """The stale bounds of all candidates (A)."""
        (stale,) = self.column.gathered().arrays()
        return stale

    def intersect(self, ids: Ints, upper: Floats) -> None:
        """Intersect with other upper bounds of some candidates (n)."""
        self.column.put(ids, np.minimum(self.column.of(ids), upper))

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self.column = self.column.gathered().extended(space)

    def move_to(self, space: Candidates) -> None:
        """Keep the bounds where the list is."""
        self.column = placed_uppers(self.column, space)

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies hold the bounds themselves, even if other machines keep them."""
        return {**vars(self), "column": self.column.gathered()}

    def follow(self, model: SparseGP, points: PointsOf) -> None:
        """Does nothing: an old bound is still a bound."""

    def top(self, bounds: Bounds, skipped: Ints) -> None:
        """Candidates have to be looked at first."""

    def first_look(self, bounds: Bounds, limit: int) -> int:
        """How many candidates to look at first: the rule has a number of its own."""
        return FIRST_LOOK

    def cap(self, bounds: Bounds, stale: Floats, block: Block) -> Floats:
        """The largest bounds that candidates with these stale bounds can have in the batch (n)."""
        return np.asarray(np.minimum(stale, bounds.at_start(block)))

    def noted(self, stale: Floats, caps: Floats, block: Block) -> tuple[Floats, ...]:
        """Bounds before and after the look (n each)."""
        return stale, caps

    def commit(self, bounds: Bounds, awake: Awake, level: float) -> None:
        """Bring the candidates whose stale bound is above ``level`` up to date.

        Candidates exactly at the level are left as they are: which of them were looked at is
        arbitrary, and must not decide what is picked later.
        """
        ids, (stale, caps) = awake.seen
        reached = stale > level
        # These are brought up to date whatever the level.
        reached[: awake.leading + FIRST_LOOK] = True
        self.column.put(ids[reached], caps[reached])


def list_batch(
    sleepers: Sleepers,
    bounds: Bounds,
    points: PointsOf,
    rule: BatchRule,
    limit: int,
    room: Room,
    leading: Ints = NOBODY,
) -> Picks:
    """Pick the candidate with the largest bound again and again, until the rule ends the batch.

    The batch also ends once no candidate may be picked any more.

    Parameters
    ----------
    sleepers
        The stale bounds of the list.
    bounds
        How bounds are computed now.
    points
        Gives the points of ids.
    rule
        Ends the batch; the pick it ends with is included.
    limit
        At most this many picks.
    room
        How often each candidate may be picked.
    leading
        The k best candidates so far, if the best k are wanted. Then either the other candidate with
        the largest upper bound is picked, or the one of these k with the smallest lower bound,
        whichever has the larger deviation (LUCB of Kalyanakrishnan et al. 2012, one pick at a
        time).
    """
    if limit == 1 and not len(leading) and isinstance(rule, FixedSize):
        top = sleepers.top(bounds, room.closed)
        if top is not None:
            room.take(top[0])
            return Picks(np.array([top[0]]), top[1], np.array([top[2]]), bounds.width)
    awake = Awake(
        sleepers, bounds, points, room.closed, leading, limit=limit, all_of_them=rule.compares
    )
    picked = _Picked(rule, limit, room)
    level = np.inf  # bounds were compared down to this level
    alone = not rule.compares and not awake.leading  # whether the other bounds may lag behind
    before = -1  # the candidate picked last
    while True:
        position = awake.best()
        if picked.ids and rule.compares and rule.has_passed(awake.block):
            break
        if position is not None:
            level = min(level, awake.upper.item(position))
        weakest = awake.weakest() if awake.leading else None
        if weakest is not None and (
            position is None or awake.block.leverage[weakest] > awake.block.leverage[position]
        ):
            position = weakest
        if position is None:
            break
        picked.add(awake, position, awake.upper.item(position))
        if picked.full:
            if rule.compares:  # the ratio that it reports counts the last pick too
                awake.evaluate(awake.repeats(position))
                rule.has_passed(awake.block)
            break
        repeats, id_ = awake.repeats(position), picked.ids[-1]
        if alone and id_ == before:
            # Its evaluations can only lower the other bounds: while its own one is not below the
            # largest of them, they need not be brought up to date.
            others = awake.others(position)
            while picked.may_repeat and (bound := awake.bound(repeats)) >= others:
                level = min(level, bound)
                picked.add(awake, position, bound)
                repeats.times += 1
            if picked.full:
                break
        awake.evaluate(repeats)
        if not picked.open:
            awake.close(position)
        before = id_
    awake.commit(level)
    where = np.concatenate([awake.block.points[:0], *(picked.points[i] for i in picked.ids)])
    ids = np.array(picked.ids, dtype=np.int64)
    return Picks(ids, where, np.array(picked.upper), bounds.width, rule.ratio)


class _Picked:
    """The picks of a batch so far.

    Attributes
    ----------
    ids, upper
        The candidates, and the bound of each when it was picked.
    points
        The points of the candidates, by id (1 × d each).
    full
        Whether the batch has ended.
    open
        Whether the candidate picked last may be picked again.
    """

    def __init__(self, rule: BatchRule, limit: int, room: Room) -> None:
        self._rule, self._limit, self._room = rule, limit, room
        self.ids: list[int] = []
        self.upper: list[float] = []
        self.points: dict[int, Points] = {}
        self.full, self.open = False, True

    @property
    def may_repeat(self) -> bool:
        """Whether the candidate picked last may be picked again in this batch."""
        return self.open and not self.full

    def add(self, awake: Awake, position: int, upper: float) -> None:
        """Pick a candidate."""
        id_ = awake.ids.item(position)
        self.ids.append(id_)
        self.upper.append(upper)
        if id_ not in self.points:
            self.points[id_] = awake.block.points[position : position + 1]
        self.full = self._rule.add(awake.block, position) or len(self.ids) >= self._limit
        self.open = self._room.take(id_)
