"""What is kept of every candidate of a list: columns of numbers, read from the largest one down.

If other machines hold the list, each part keeps the columns of its own candidates
(:mod:`noregret.picking.lists.shards`); the methods are the same.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.room import NOBODY
from noregret.spaces import Candidates

#: candidates whose largest number is kept together
_BLOCK = 512
#: if more candidates than this are asked for at a time, this many times as many are gathered
_FIRST, _AHEAD = 256, 8


class Tops:
    """Numbers (A) that are read from the largest one down.

    Equal numbers come in the order of their ids, as in a full argmax.

    Attributes
    ----------
    values
        The numbers. Write them by :meth:`put`.
    """

    def __init__(self, values: Floats) -> None:
        self.values = values
        self._largest = _largest(values)

    def put(self, ids: Ints, values: Floats) -> None:
        """Change some of the numbers."""
        self.values[ids] = values
        blocks = _blocks(ids, len(self._largest))
        if len(blocks) == len(self._largest):
            self._largest = _largest(self.values)
        else:
            self._largest[blocks] = _largest(self.values[_members(blocks, len(self.values))])

    @property
    def largest(self) -> Floats:
        """The largest number of each block of 512 (a copy)."""
        return self._largest.copy()


def _blocks(ids: Ints, count: int) -> Ints:
    """The blocks that some candidates are in, in rising order; there are ``count`` blocks."""
    if count == 1:
        return np.zeros(min(len(ids), 1), dtype=np.int64)
    within = np.zeros(count, dtype=bool)
    within[ids // _BLOCK] = True
    return np.flatnonzero(within)


def _members(blocks: Ints, size: int) -> Ints:
    """The ids in some blocks, which are in rising order, of a list of a size."""
    ids = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
    return ids if not len(ids) or ids[-1] < size else ids[ids < size]


def _largest(values: Floats) -> Floats:
    """The largest of every 512 numbers, one block after the other."""
    return np.asarray(np.maximum.reduceat(values, np.arange(0, len(values), _BLOCK)))


def _first_largest(values: Floats, count: int) -> Ints:
    """Where the largest numbers are, ``count`` of them or all, largest first; ties by position."""
    where = np.arange(len(values))
    if count < len(values):
        cut = np.partition(values, len(values) - count)[len(values) - count]
        above = np.flatnonzero(values > cut)
        where = np.concatenate([above, np.flatnonzero(values == cut)[: count - len(above)]])
    return np.asarray(where[np.lexsort((where, -values[where]))])


#: gives the points (n × d) of ids (n)
PointsOf = Callable[[Ints], Points]


class Taken(NamedTuple):
    """Candidates taken from a queue: their ids (n), stale bounds (n) and points (n × d).

    ``features`` are those of the posterior (n × m), if they are known.
    """

    ids: Ints
    stale: Floats
    points: Points
    features: Floats | None = None


class Queue(Protocol):
    """Candidates in falling order of their stale bounds; ties in the order of ids."""

    @property
    def floor(self) -> float:
        """The largest stale bound not taken yet; −∞ once all are taken."""

    @property
    def next_id(self) -> int:
        """The smallest id that has this bound."""

    def take(self, count: int, above: float = -np.inf) -> Taken:
        """The next candidates: ``count`` of them, or as many as have a bound above a level."""


class ListQueue:
    """The candidates of a list on this machine, in falling order of their numbers.

    The first ones are read from the few blocks that can hold them. If more and more are taken, the
    queue gathers more at a time than it is asked for, so that it seldom passes over the whole list.
    """

    def __init__(self, tops: Tops, points: PointsOf) -> None:
        self._values, self._points = tops.values, points
        self._taken = np.zeros(len(self._values), dtype=bool)  # or gathered
        self._largest = tops.largest  # of the others, by block
        self._gathered: Ints = NOBODY  # what comes next, in order
        self._next: int | None = None  # the next id, if it has been looked for

    @property
    def floor(self) -> float:
        """The largest number not taken yet; −∞ once all are taken."""
        if len(self._gathered):
            return float(self._values[self._gathered[0]])
        return float(self._largest.max())

    @property
    def next_id(self) -> int:
        """The smallest id that has this number."""
        if len(self._gathered):
            return int(self._gathered[0])
        if self.floor == -np.inf:
            return len(self._values)
        if self._next is None:
            ids, left = self._left(np.argmax(self._largest, keepdims=True))
            self._next = int(ids[np.argmax(left)])
        return self._next

    def take(self, count: int, above: float = -np.inf) -> Taken:
        """The next candidates: ``count`` of them, or as many as have a number above a level."""
        if not len(self._gathered):
            self._gather(count if count <= _FIRST else _AHEAD * count, above)
        near = self._gathered[:count]
        if above > -np.inf:
            near = near[: int(np.searchsorted(-self._values[near], -above))]
        self._gathered = self._gathered[len(near) :]
        return Taken(near, self._values[near], self._points(near))

    def _gather(self, count: int, above: float) -> None:
        """Put the next candidates in order: ``count`` of them, or as many as are above a level.

        They lie in the ``count`` blocks with the largest numbers: each of these has a number that
        comes before all of any other block.
        """
        largest, blocks = self._largest, np.flatnonzero(self._largest > above)
        if count < len(blocks):
            blocks = np.sort(blocks[_first_largest(largest[blocks], count)])
        ids, left = self._left(blocks)
        # Each block has a number of at least this level, so that no smaller one is among them.
        level = largest[blocks].min() if len(blocks) == count else -np.inf
        near = np.flatnonzero((left > above) & (left >= level))
        self._gathered = ids[near[_first_largest(left[near], count)]]
        self.skip(self._gathered)

    def skip(self, ids: Ints) -> None:
        """Pass over some candidates."""
        if len(ids):
            self._taken[ids] = True
            blocks = _blocks(ids, len(self._largest))
            self._largest[blocks] = _largest(self._left(blocks)[1])
            self._next = None

    def _left(self, blocks: Ints) -> tuple[Ints, Floats]:
        """The ids in some blocks, and their numbers: −∞ for what has been taken."""
        if len(blocks) == len(self._largest):
            return np.arange(len(self._values)), np.where(self._taken, -np.inf, self._values)
        ids = _members(blocks, len(self._values))
        left = self._values[ids]
        left[self._taken[ids]] = -np.inf
        return ids, left


class UpperColumn:
    """An upper bound of every candidate.

    Parameters
    ----------
    prior
        Where bounds start.
    values
        The bounds (A).
    """

    def __init__(self, prior: PriorRoot, values: Floats) -> None:
        self.prior = prior
        self._tops = Tops(values)

    @classmethod
    def fresh(cls, prior: PriorRoot, space: Candidates) -> "UpperColumn":
        """The column of a list before anything is told."""
        return cls(prior, prior.of(space))

    def arrays(self) -> tuple[Floats]:
        """The arrays of the column, without the prior."""
        return (self._tops.values,)

    def read(self, points: PointsOf, skipped: Ints = NOBODY) -> ListQueue:
        """Start to read candidates from the largest bound down; ``skipped`` are left out."""
        queue = ListQueue(self._tops, points)
        queue.skip(skipped)
        return queue

    def put(self, ids: Ints, values: Floats) -> None:
        """Change the bounds of some candidates."""
        self._tops.put(ids, values)

    def of(self, ids: Ints) -> Floats:
        """The bounds of some candidates (n)."""
        return self._tops.values[ids]

    def lost(self) -> list[int]:
        """The parts that were lost lately: always none, as the list is on this machine."""
        return []

    def gathered(self) -> "UpperColumn":
        """The column on this machine."""
        return self

    def extended(self, space: Candidates) -> "UpperColumn":
        """The column of a list that has grown at its end; new candidates start from the prior."""
        new = self.prior.of(space, len(self._tops.values))
        return UpperColumn(self.prior, np.concatenate([self._tops.values, new]))
