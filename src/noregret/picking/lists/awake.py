"""The candidates of a batch that have been looked at.

A candidate that was looked at is *awake* while its features are kept, so that its bound follows
every pick. If there are many, those with smaller bounds *doze*: only their last bounds are kept.
Inside a batch bounds only fall, so a last bound is still a bound, and a candidate is woken when its
last bound comes out on top. So memory is limited, and picks are those of a full argmax.
"""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.fantasy import Block
from noregret.picking.bounds import Bounds
from noregret.picking.lists.columns import PointsOf
from noregret.picking.lists.room import NOBODY
from noregret.picking.lists.sleepers import Seen, Sleepers

#: how many candidates are looked at first
FIRST_LOOK = 64
#: how many numbers the features of the candidates awake may take
_AWAKE = 1 << 20
#: if they take more, one of so many stays awake
_KEPT = 16


@dataclass
class Repeats:
    """A pick of a candidate, and more picks of it in a row.

    Attributes
    ----------
    position
        The position of the candidate.
    direction
        How its evaluations lower leverages, see
        :meth:`noregret.models.fantasy.Fantasy.direction`.
    leverage
        Its leverage without them.
    times
        How often it was picked.
    """

    position: int
    direction: tuple[Floats, float]
    leverage: float
    times: int = 1


class Awake:
    """The candidates of a batch that have been looked at, with their bounds inside the batch.

    Parameters
    ----------
    sleepers
        The stale bounds of the list.
    bounds
        How bounds are computed now.
    points
        Gives the points of ids.
    closed
        Candidates that may not be picked: they are not looked at.
    leading
        Candidates that are always looked at, and that :meth:`best` never gives.
    limit
        How many candidates are picked at most.
    all_of_them
        Whether none may doze: the batch rule looks at all of them.

    Attributes
    ----------
    ids
        Ids of the candidates that are awake (n).
    block
        What is known of them.
    upper
        Their bounds (n); −∞ for those that may not be picked any more.
    leading
        How many of them lead; these are the first ones.
    """

    def __init__(
        self,
        sleepers: Sleepers,
        bounds: Bounds,
        points: PointsOf,
        closed: Ints = NOBODY,
        leading: Ints = NOBODY,
        *,
        limit: int = FIRST_LOOK,
        all_of_them: bool = False,
    ) -> None:
        self._sleepers, self._bounds, self._points = sleepers, bounds, points
        self._most = np.inf if all_of_them else _AWAKE
        skipped = np.union1d(closed, leading) if len(leading) else closed
        self._queue = sleepers.start(bounds, points, skipped)
        self._count = sleepers.first_look(bounds, limit)
        self._dozing = Dozing()
        self.leading = len(leading)
        ids, stale, where, features = self._queue.take(self._count)
        self.block = bounds.fantasy.block(where, features)
        if len(leading):
            ids = np.concatenate([leading, ids])
            stale = np.concatenate([sleepers.stale(leading), stale])
            self.block = bounds.fantasy.block(points(leading)).joined(self.block)
        self.ids: Ints = ids
        caps = sleepers.cap(bounds, stale, self.block)
        self._seen = [Seen(ids, sleepers.noted(stale, caps, self.block))]
        #: what bounds may not exceed; −∞ for candidates that may not be picked any more
        self._caps = caps.copy()
        if len(leading):
            self._caps[: self.leading][np.isin(leading, closed)] = -np.inf
        self._capped = bool((self._caps < np.inf).any())  # whether any cap limits a bound
        self._rest = self._queue.floor  # the largest bound of all that are not awake
        self.upper: Floats = self._bounded()

    def _bounded(self) -> Floats:
        """The bounds of all that are awake (n)."""
        upper = self._bounds.inside(self.block)
        return np.minimum(self._caps, upper, out=upper) if self._capped else upper

    def close(self, position: int) -> None:
        """A candidate may not be picked any more."""
        self._caps[position] = self.upper[position] = -np.inf
        self._capped = True

    @property
    def seen(self) -> Seen:
        """What was seen in this batch so far."""
        columns = zip(*(part.columns for part in self._seen), strict=True)
        joined = tuple(np.concatenate(column) for column in columns)
        return Seen(np.concatenate([part.ids for part in self._seen]), joined)

    def best(self) -> int | None:
        """The position of the candidate with the largest bound of all, asleep or awake.

        Of several, one that is awake comes first, then the one with the largest mean, then the one
        with the smallest id. Those that lead are left out. ``None`` if no candidate may be picked.
        A call changes positions, except those of the candidates that lead.
        """
        while True:
            others = self.upper[self.leading :] if self.leading else self.upper
            top = others.item(others.argmax()) if len(others) else -np.inf
            if top < self._rest:
                self._look_further()
            elif top == -np.inf:
                return None
            else:
                return self.leading + self._first(others, top)

    def _look_further(self) -> None:
        """Look at the candidates with the largest bounds of those that are not awake."""
        asleep, dozing = (self._queue.floor, self._queue.next_id), self._dozing.top
        if asleep == min(asleep, dozing, key=_order):
            self._look()
        else:
            self._wake()

    def _first(self, others: Floats, top: float) -> int:
        """Of the candidates that do not lead and have this bound, the one that is picked."""
        ties = (others == top).nonzero()[0]
        if len(ties) == 1:
            return int(ties[0])
        ids, mean = self.ids[self.leading :][ties], self.block.mean[self.leading :][ties]
        return int(ties[np.lexsort((ids, -mean))[0]])

    def _look(self) -> None:
        """Look at the next candidates of the queue."""
        width = max(self.block.b.shape[1], 1)
        self._count = int(min(2 * self._count, max(2 * _AWAKE // width, FIRST_LOOK)))
        top = float(self.upper[self.leading :].max(initial=-np.inf))
        ids, stale, points, features = self._queue.take(self._count, top)
        block = self._bounds.fantasy.block(points, features)
        caps = self._sleepers.cap(self._bounds, stale, block)
        self._seen.append(Seen(ids, self._sleepers.noted(stale, caps, block)))
        self._join(ids, caps, block)

    def _wake(self) -> None:
        """Wake the dozing candidates with the largest bounds."""
        ids, caps = self._dozing.wake(FIRST_LOOK)
        self._join(ids, caps, self._bounds.fantasy.block(self._points(ids)))

    def _join(self, ids: Ints, caps: Floats, block: Block) -> None:
        """Keep candidates awake that were looked at. If there are too many, most of them doze."""
        self._capped = self._capped or bool((caps < np.inf).any())
        upper = np.minimum(caps, self._bounds.inside(block))
        if self.block.b.size + block.b.size > self._most:
            every = np.concatenate([self.upper[self.leading :], upper])
            count = min(max(len(every) // _KEPT, FIRST_LOOK), len(every))
            level = np.partition(every, len(every) - count)[len(every) - count]
            kept = self._doze(self.ids, self.upper, self._caps, level, first=self.leading)
            self.ids, self.upper, self._caps = self.ids[kept], self.upper[kept], self._caps[kept]
            self.block = self.block.rows(kept)
            kept = self._doze(ids, upper, caps, level)
            ids, upper, caps, block = ids[kept], upper[kept], caps[kept], block.rows(kept)
        self.ids = np.concatenate([self.ids, ids])
        self.upper = np.concatenate([self.upper, upper])
        self._caps = np.concatenate([self._caps, caps])
        self.block = self.block.joined(block)
        self._rest = max(self._queue.floor, self._dozing.top[0])

    def _doze(self, ids: Ints, upper: Floats, caps: Floats, level: float, first: int = 0) -> Ints:
        """Let candidates with a bound below a level doze, not the first; where the others are."""
        dozes = upper < level
        dozes[:first] = False
        self._dozing.add(ids[dozes], upper[dozes], caps[dozes])
        return np.flatnonzero(~dozes)

    def repeats(self, position: int) -> Repeats:
        """The pick of a candidate, to be counted by :meth:`evaluate`."""
        direction = self._bounds.fantasy.direction(self.block, position)
        return Repeats(position, direction, self.block.leverage.item(position))

    def others(self, position: int) -> float:
        """The largest bound of all candidates except one, asleep or awake."""
        own, self.upper[position] = self.upper.item(position), -np.inf
        largest = max(float(self.upper.max()), self._rest)
        self.upper[position] = own
        return largest

    def bound(self, repeats: Repeats) -> float:
        """The bound of a candidate after its picks; its own leverage counts them from here on."""
        (_, s), at, times = repeats.direction, repeats.position, repeats.times
        leverage = max(repeats.leverage - times * s**2 / (1.0 + times * s), 0.0)
        self.block.leverage[at] = leverage
        upper = self._bounds.inside_one(self.block.mean.item(at), leverage)
        return min(upper, self._caps.item(at))

    def evaluate(self, repeats: Repeats) -> None:
        """Count the picks of a candidate in all leverages and bounds."""
        self.block.leverage[repeats.position] = repeats.leverage
        self._bounds.fantasy.add_along(self.block, *repeats.direction, repeats.times)
        self.upper = self._bounded()

    def weakest(self) -> int | None:
        """Of the candidates that lead, the position of the one with the smallest lower bound.

        ``None`` if none of them may be picked.
        """
        block, upper = self.block, self.upper[: self.leading]
        radius = self._bounds.width * np.sqrt(block.leverage[: self.leading])
        lower = np.where(upper > -np.inf, block.mean[: self.leading] - radius, np.inf)
        return int(np.argmin(lower)) if np.isfinite(lower).any() else None

    def commit(self, level: float) -> None:
        """Tell the sleepers what was seen, down to bounds of this level."""
        self._sleepers.commit(self._bounds, self, level)


class Dozing:
    """Candidates without features, in groups; a group is put in order when one of it is woken."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def top(self) -> tuple[float, int]:
        """The largest bound, and the smallest id that has it."""
        return min((group.top for group in self._groups), default=(-np.inf, 0), key=_order)

    def add(self, ids: Ints, upper: Floats, caps: Floats) -> None:
        """Let more candidates doze.

        Parameters
        ----------
        ids
            Which they are (n).
        upper, caps
            Their last bounds, and what these may not exceed (n each).
        """
        if len(ids):
            self._groups.append(_Group(ids, upper, caps))

    def wake(self, count: int) -> tuple[Ints, Floats]:
        """Remove at most ``count`` candidates, the one on top among them: their ids and caps."""
        group = min(self._groups, key=lambda one: _order(one.top))
        ids, caps = group.remove(count)
        if not group.ids.size:
            self._groups.remove(group)
        return ids, caps


class _Group:
    """Candidates that began to doze together."""

    def __init__(self, ids: Ints, upper: Floats, caps: Floats) -> None:
        self.ids, self._upper, self._caps = ids, upper, caps
        self._sorted = False
        largest = float(upper.max())
        #: the largest bound, and the smallest id that has it
        self.top = largest, int(ids[upper == largest].min())

    def remove(self, count: int) -> tuple[Ints, Floats]:
        """Remove those with the largest bounds, at most ``count``: their ids and caps."""
        if not self._sorted:
            by_bound = np.lexsort((self.ids, -self._upper))
            self.ids, self._upper = self.ids[by_bound], self._upper[by_bound]
            self._caps, self._sorted = self._caps[by_bound], True
        ids, caps = self.ids[:count], self._caps[:count]
        self.ids, self._upper = self.ids[count:], self._upper[count:]
        self._caps = self._caps[count:]
        if self.ids.size:
            self.top = float(self._upper[0]), int(self.ids[0])
        return ids, caps


def _order(bound: tuple[float, int]) -> tuple[float, int]:
    """Sorts pairs of a bound and an id: larger bounds first, equal ones by their ids."""
    return -bound[0], bound[1]
