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
    """

    def __init__(self, values: Floats) -> None:
        self._size = len(values)
        count = -(-self._size // _BLOCK)
        self._blocks = np.full((count, _BLOCK), -np.inf)
        self._flat[: self._size] = values
        self._largest: Floats = self._blocks.max(axis=1)

    @property
    def _flat(self) -> Floats:
        return self._blocks.reshape(-1)

    @property
    def values(self) -> Floats:
        """The numbers (A, a view). Write them by :meth:`put`."""
        return self._flat[: self._size]

    def put(self, ids: Ints, values: Floats) -> None:
        """Change some of the numbers."""
        self.values[ids] = values
        if len(self._blocks) == 1:
            self._largest = self._blocks.max(axis=1)
            return
        within = np.zeros(len(self._blocks), dtype=bool)
        within[ids // _BLOCK] = True
        changed = np.flatnonzero(within)
        self._largest[changed] = self._blocks[changed].max(axis=1)

    @property
    def blocks(self) -> Floats:
        """The numbers by blocks of 512 (k × 512, a view), −∞ behind the last one."""
        return self._blocks

    @property
    def largest(self) -> Floats:
        """The largest number of each block (k, a copy)."""
        return self._largest.copy()


def _falling(values: Floats) -> Ints:
    """The positions of numbers, largest first; ties by position."""
    order = np.argsort(-values)  # several times as fast as a stable sort
    ordered = values[order]
    tied = np.any(ordered[1:] == ordered[:-1])
    return np.argsort(-values, kind="stable") if tied else order


def _first_largest(values: Floats, count: int) -> Ints:
    """Where the largest numbers are, ``count`` of them or all, largest first; ties by position."""
    if count >= len(values):
        return _falling(values)
    cut = np.partition(values, len(values) - count)[len(values) - count]
    above, equal = np.flatnonzero(values > cut), np.flatnonzero(values == cut)
    order = above[_falling(values[above])]
    return np.concatenate([order, equal[: count - len(above)]])


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
        self._tops, self._points = tops, points
        self._taken = np.zeros(tops.blocks.shape, dtype=bool)  # or gathered
        self._largest = tops.largest  # of the others, by block
        self._gathered: Ints = NOBODY  # what comes next, in order
        self._next: int | None = None  # the next id, if it has been looked for

    @property
    def floor(self) -> float:
        """The largest number not taken yet; −∞ once all are taken."""
        if len(self._gathered):
            return self._tops.values.item(self._gathered[0])
        return float(self._largest.max())

    @property
    def next_id(self) -> int:
        """The smallest id that has this number."""
        if len(self._gathered):
            return int(self._gathered[0])
        if self.floor == -np.inf:
            return len(self._tops.values)
        if self._next is None:
            block = int(np.argmax(self._largest))
            self._next = block * _BLOCK + int(np.argmax(self._left(np.array([block]))))
        return self._next

    def take(self, count: int, above: float = -np.inf) -> Taken:
        """The next candidates: ``count`` of them, or as many as have a number above a level."""
        if not len(self._gathered):
            self._gather(count if count <= _FIRST else _AHEAD * count, above)
        near = self._gathered[:count]
        values = self._tops.values[near]
        if above > -np.inf:
            values = values[: int(np.searchsorted(-values, -above))]
            near = near[: len(values)]
        self._gathered = self._gathered[len(near) :]
        return Taken(near, values, self._points(near))

    def _gather(self, count: int, above: float) -> None:
        """Put the next candidates in order: ``count`` of them, or as many as are above a level.

        They lie in the ``count`` blocks with the largest numbers: each of these has a number that
        comes before all of any other block.
        """
        largest, blocks = self._largest, np.flatnonzero(self._largest > above)
        if count < len(blocks):
            blocks = np.sort(blocks[_first_largest(largest[blocks], count)])
            # Each block has a number of at least this level, so that no smaller one is among them.
            above = max(above, np.nextafter(largest[blocks].min(), -np.inf))
        left = self._left(blocks)
        near = np.flatnonzero(left > above)
        near = near[_first_largest(left.reshape(-1)[near], count)]
        left.reshape(-1)[near] = -np.inf
        self._gathered = blocks[near // _BLOCK] * _BLOCK + near % _BLOCK
        self._taken.reshape(-1)[self._gathered] = True
        self._largest[blocks], self._next = left.max(axis=1), None

    def skip(self, ids: Ints) -> None:
        """Pass over some candidates."""
        if len(ids):
            self._taken.reshape(-1)[ids] = True
            blocks = np.unique(ids // _BLOCK)
            self._largest[blocks], self._next = self._left(blocks).max(axis=1), None

    def _left(self, blocks: Ints) -> Floats:
        """The numbers of some blocks (k × 512), −∞ for what has been taken; a copy."""
        if len(blocks) == len(self._largest):
            return np.where(self._taken, -np.inf, self._tops.blocks)
        left = self._tops.blocks[blocks]
        left[self._taken[blocks]] = -np.inf
        return left


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
