"""Columns of a list that other machines hold in parts: each part keeps those of its candidates.

Bounds are computed on the optimiser's machine, by the same code and in the same order as for a list
of its own. The parts only say which candidates come next: each gives its candidates in falling
order of their stale bounds, with their points, and the largest stale bound of the rest. Merged,
they come in the order of one machine. A part that is lost and loaded again starts from the prior
bounds, which hold, so the run goes on; from there on other candidates may be looked at.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.picking.lists.columns import (
    ListQueue,
    PointsOf,
    Taken,
    UpperColumn,
)
from noregret.picking.lists.look_columns import LookColumns
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.room import NOBODY
from noregret.spaces import Candidates
from noregret.spaces.shards import Call, Keeper

#: a part is asked for at least this many candidates
_FEWEST = 64

#: numbers the readings of this process
_numbers = count()


class Answer(NamedTuple):
    """The next candidates of a part: rows in the part, stale bounds and points as they are stored.

    ``floor`` is the largest stale bound of the rest, and ``next_row`` the first row that has it.
    """

    rows: Ints
    stale: Floats
    points: Points
    floor: float
    next_row: int


class Held:
    """The columns of a part, on its worker.

    Parameters
    ----------
    candidates
        The part's rows.
    kind
        :class:`~noregret.picking.lists.columns.UpperColumn` or ``LookColumns``.
    prior
        Where the bounds start.
    arrays
        The arrays of the columns; those of the prior by default.
    """

    def __init__(
        self,
        candidates: Candidates,
        kind: Any,
        prior: PriorRoot,
        arrays: Sequence[Points] | None = None,
    ) -> None:
        self._candidates = candidates
        if arrays is None:
            self._column = kind.fresh(prior, candidates)
        else:  # arrays that were sent are read only
            self._column = kind(prior, *(array.copy() for array in arrays))
        self._reading: int | None = None
        self._queue: ListQueue | None = None

    def read(self, reading: int, skipped: Ints, size: int, *given: Any) -> Answer:
        """Start a reading that skips some rows, and give the first candidates."""
        self._reading = reading
        self._queue = self._column.read(self._candidates.points.__getitem__, *given)
        self._queue.skip(skipped)
        return self._next(self._queue, size)

    def more(self, reading: int, size: int) -> Answer | None:
        """The next candidates; ``None`` if this reading was not started here."""
        if self._queue is None or self._reading != reading:
            return None
        return self._next(self._queue, size)

    def _next(self, queue: ListQueue, size: int) -> Answer:
        taken = queue.take(size)
        points = np.asarray(taken.points)
        return Answer(taken.ids, taken.stale, points, queue.floor, queue.next_id)

    def call(self, method: str, *given: Any) -> Any:
        """Call a method of the columns."""
        return getattr(self._column, method)(*given)


class MergedQueue:
    """The candidates of all parts in falling order of their stale bounds.

    Parameters
    ----------
    keeper
        Asks the parts.
    space
        The list.
    given
        What each part's columns need to start a reading.
    skipped
        Candidates to skip.
    """

    def __init__(
        self, keeper: Keeper, space: Candidates, given: Sequence[Call], skipped: Ints = NOBODY
    ) -> None:
        self._keeper, self._space, self._given = keeper, space, given
        self._offsets = keeper.parts.offsets
        self._reading = next(_numbers)
        parts = range(len(keeper.parts))
        self._seen = [NOBODY for _ in parts]  # rows that a part has given, or skips
        for part, _, rows in keeper.parts.split(skipped):
            self._seen[part] = rows
        # Candidates that were given and not taken yet, and what is on top of the rest.
        self._waiting = [Taken(NOBODY, np.empty(0), space.points[:0]) for _ in parts]
        self._rest = [(-np.inf, 0) for _ in parts]
        self._start(list(parts), _FEWEST)

    @property
    def floor(self) -> float:
        """The largest stale bound not taken yet; −∞ once all are taken."""
        return self._top()[0]

    @property
    def next_id(self) -> int:
        """The smallest id that has this bound."""
        return self._top()[1]

    def _top(self) -> tuple[float, int]:
        tops = [
            (float(waiting.stale[0]), int(waiting.ids[0])) if len(waiting.ids) else rest
            for waiting, rest in zip(self._waiting, self._rest, strict=True)
        ]
        return max(tops, key=lambda top: (top[0], -top[1]))

    def take(self, size: int, above: float = -np.inf) -> Taken:
        """The next candidates: ``size`` of them, or as many as have a bound above a level."""
        while True:
            ids = np.concatenate([waiting.ids for waiting in self._waiting])
            stale = np.concatenate([waiting.stale for waiting in self._waiting])
            order = np.lexsort((ids, -stale))[:size]
            last = (-np.inf, 0)
            if len(order) == size:
                last = (float(stale[order[-1]]), int(ids[order[-1]]))
            last = max(last, (above, 0))
            behind = [part for part, rest in enumerate(self._rest) if _comes_before(rest, last)]
            if not behind:
                break
            self._fetch(behind, max(_FEWEST, 2 * size // len(self._rest)))
        order = order[stale[order] > above]
        points = np.concatenate([waiting.points for waiting in self._waiting])[order]
        self._drop(ids[order])
        return Taken(ids[order], stale[order], self._space.as_points(ids[order], points))

    def _drop(self, taken: Ints) -> None:
        """Remove candidates that were taken from those that wait."""
        for part, waiting in enumerate(self._waiting):
            left = np.isin(waiting.ids, taken, invert=True)
            self._waiting[part] = Taken(
                waiting.ids[left], waiting.stale[left], waiting.points[left]
            )

    def _start(self, parts: list[int], size: int) -> None:
        self._add(
            self._keeper.ask(
                {p: ("read", self._reading, self._seen[p], size, *self._given[p]) for p in parts}
            )
        )

    def _fetch(self, parts: list[int], size: int) -> None:
        answers = self._keeper.ask(dict.fromkeys(parts, ("more", self._reading, size)))
        again = [part for part, answer in answers.items() if answer is None]
        self._add({part: answer for part, answer in answers.items() if answer is not None})
        if again:  # these parts were lost, and know nothing of this reading
            self._start(again, size)

    def _add(self, answers: dict[int, Answer]) -> None:
        for part, (rows, stale, points, floor, next_row) in answers.items():
            offset, old = int(self._offsets[part]), self._waiting[part]
            self._waiting[part] = Taken(
                np.concatenate([old.ids, rows + offset]),
                np.concatenate([old.stale, stale]),
                np.concatenate([old.points, points]),
            )
            self._seen[part] = np.concatenate([self._seen[part], rows])
            self._rest[part] = (floor, next_row + offset)


def _comes_before(rest: tuple[float, int], last: tuple[float, int]) -> bool:
    """Whether what a part has not given yet comes before the last candidate to be taken."""
    if rest[0] == -np.inf:
        return False
    return rest[0] > last[0] or (rest[0] == last[0] and rest[1] < last[1])


class ShardedUppers:
    """An upper bound of every candidate, kept by the parts.

    Parameters
    ----------
    prior
        Where bounds start.
    space
        The list.
    arrays
        The bounds (A), if they are known.
    """

    def __init__(
        self, prior: PriorRoot, space: Candidates, arrays: Sequence[Points] | None = None
    ) -> None:
        self.prior, self._space = prior, space
        self._keeper = _kept(UpperColumn, prior, space, arrays)

    def read(self, points: PointsOf, skipped: Ints = NOBODY) -> MergedQueue:
        """Start to read candidates from the largest bound down; ``skipped`` are left out."""
        return MergedQueue(self._keeper, self._space, [()] * len(self._keeper.parts), skipped)

    def put(self, ids: Ints, values: Floats) -> None:
        """Change the bounds of some candidates."""
        pieces = self._keeper.parts.split(ids)
        self._keeper.send({p: ("call", "put", rows, values[at]) for p, at, rows in pieces})

    def of(self, ids: Ints) -> Floats:
        """The bounds of some candidates (n)."""
        pieces = list(self._keeper.parts.split(ids))
        answers = self._keeper.ask({part: ("call", "of", rows) for part, _, rows in pieces})
        out = np.empty(len(ids))
        for part, at, _ in pieces:
            out[at] = answers[part]
        return out

    def lost(self) -> list[int]:
        """The parts that were lost since this was last called."""
        return self._keeper.pop_lost()

    def gathered(self) -> UpperColumn:
        """The column on this machine."""
        return UpperColumn(self.prior, *_gathered(self._keeper))


class ShardedLooks:
    """What was known of every candidate when it was last looked at, kept by the parts.

    Parameters
    ----------
    prior
        √(k(x, x)/λ).
    space
        The list.
    arrays
        The arrays of the columns (A each), if they are known.
    """

    def __init__(
        self, prior: PriorRoot, space: Candidates, arrays: Sequence[Points] | None = None
    ) -> None:
        self.prior, self._space = prior, space
        self._keeper = _kept(LookColumns, prior, space, arrays)

    def __len__(self) -> int:
        return len(self._space)

    def read(
        self,
        points: PointsOf,
        reach: Floats,
        ids: Ints,
        known: Floats,
        skipped: Ints = NOBODY,
    ) -> MergedQueue:
        """Start to read candidates from the largest stale bound down, as on one machine."""
        given = [(reach, NOBODY, np.empty(0))] * len(self._keeper.parts)
        for part, at, rows in self._keeper.parts.split(ids):
            given[part] = (reach, rows, known[at])
        return MergedQueue(self._keeper, self._space, given, skipped)

    def used(self, dates: int) -> Ints:
        """How many candidates were last looked at on each date."""
        return np.asarray(np.sum(self._keeper.ask_all("call", "used", dates), axis=0))

    def forget(self, dates: list[int]) -> None:
        """Let candidates last looked at on these dates go back to the prior."""
        self._keeper.ask_all("call", "forget", dates)

    def put(self, ids: Ints, mean: Floats, root: Floats, date: int) -> None:
        """Note what is known of some candidates on a date."""
        pieces = self._keeper.parts.split(ids)
        self._keeper.send(
            {p: ("call", "put", rows, mean[at], root[at], date) for p, at, rows in pieces}
        )

    def lost(self) -> list[int]:
        """The parts that were lost since this was last called."""
        return self._keeper.pop_lost()

    def gathered(self) -> LookColumns:
        """The columns on this machine."""
        return LookColumns(self.prior, *_gathered(self._keeper))


Uppers = UpperColumn | ShardedUppers
Looks = LookColumns | ShardedLooks


def fresh_uppers(prior: PriorRoot, space: Candidates) -> Uppers:
    """Upper bounds of a list before anything is told, kept where the list is."""
    return UpperColumn.fresh(prior, space) if space.shards is None else ShardedUppers(prior, space)


def fresh_looks(prior: PriorRoot, space: Candidates) -> Looks:
    """The columns of a list before anything is told, kept where the list is."""
    return LookColumns.fresh(prior, space) if space.shards is None else ShardedLooks(prior, space)


def placed_uppers(column: Uppers, space: Candidates) -> Uppers:
    """The same bounds, kept where the list is now."""
    here = column.gathered()
    return here if space.shards is None else ShardedUppers(here.prior, space, here.arrays())


def placed_looks(columns: Looks, space: Candidates) -> Looks:
    """The same columns, kept where the list is now."""
    here = columns.gathered()
    return here if space.shards is None else ShardedLooks(here.prior, space, here.arrays())


def _kept(
    kind: type[UpperColumn | LookColumns],
    prior: PriorRoot,
    space: Candidates,
    arrays: Sequence[Points] | None,
) -> Keeper:
    """Let every part keep its rows of the columns; those of the prior if no arrays are given."""
    parts = space.shards
    if parts is None:
        raise ValueError("only a list in parts has columns in parts")
    if arrays is None:
        return Keeper(parts, Held, (kind, prior))
    spans = zip(parts.offsets[:-1], parts.offsets[1:], strict=True)
    given = [(kind, prior, [array[a:b] for array in arrays]) for a, b in spans]
    return Keeper(parts, Held, (kind, prior), given)


def _gathered(keeper: Keeper) -> list[Any]:
    """The arrays of the parts' columns, joined (A each)."""
    return [
        np.concatenate(pieces) for pieces in zip(*keeper.ask_all("call", "arrays"), strict=True)
    ]
