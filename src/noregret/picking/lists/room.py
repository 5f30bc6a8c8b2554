"""How often may a candidate be picked? By ``repeats``, once on a plate, never if set aside."""

from typing import Self

import numpy as np

from noregret._types import Ints

#: no candidates
NOBODY: Ints = np.empty(0, dtype=np.int64)
#: stands for "any number of times"
_ANY = 1 << 62


class Room:
    """How often each candidate of a list may still be picked, while a batch is chosen.

    Parameters
    ----------
    size
        The number of candidates; ``None`` on a box, where there is no limit.
    repeats
        The most evaluations of one candidate, told or pending; ``None``: any number.
    ids, counts
        Candidates that have been told or are pending, and how often (n each).
    each
        The most picks of one candidate in this batch; ``None``: any number.
    aside
        Candidates that are not to be picked at all (ids, all different).
    """

    def __init__(
        self,
        size: int | None = None,
        repeats: int | None = None,
        ids: Ints = NOBODY,
        counts: Ints = NOBODY,
        each: int | None = None,
        aside: Ints = NOBODY,
    ) -> None:
        self._size, self._each = size, each
        #: the most evaluations of one candidate, or any number
        self.repeats = repeats
        self._ids, self._counts = ids, counts
        self._picked: dict[int, int] = {}
        self._full: set[int] = set()  # picked until nothing was left
        self._aside = frozenset(aside.tolist())
        self._closed = np.sort(aside) if len(aside) else NOBODY
        if repeats is not None:
            order = np.argsort(ids, kind="stable")
            self._ids, self._counts = ids[order], counts[order]
            self._closed = np.union1d(aside, self._ids[self._counts >= repeats])

    @property
    def limited(self) -> bool:
        """Whether any candidate may be closed."""
        return self.repeats is not None or self._each is not None or bool(self._aside)

    @property
    def closed(self) -> Ints:
        """The candidates that may not be picked any more, in rising order."""
        if self._full:
            new = np.array(sorted(self._full), dtype=np.int64)
            self._closed = np.union1d(self._closed, new)
            self._full = set()
        return self._closed

    @property
    def open(self) -> int:
        """How many candidates may still be picked; a large number on a box."""
        return _ANY if self._size is None else self._size - len(self.closed)

    def left(self, id_: int) -> int:
        """How often a candidate may still be picked."""
        if id_ in self._aside:
            return 0
        picked, left = self._picked.get(id_, 0), _ANY
        if self._each is not None:
            left = self._each - picked
        if self.repeats is not None:
            at = int(np.searchsorted(self._ids, id_))
            known = at < len(self._ids) and self._ids[at] == id_
            used = int(self._counts[at]) if known else 0
            left = min(left, self.repeats - used - picked)
        return max(left, 0)

    def take(self, id_: int) -> bool:
        """Count one more pick of a candidate; whether it may be picked again."""
        if not self.limited:
            return True
        self._picked[id_] = self._picked.get(id_, 0) + 1
        if self.left(id_):
            return True
        self._full.add(id_)
        return False

    def copy(self) -> Self:
        """A copy; changes of one do not reach the other."""
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        made._picked, made._full = dict(self._picked), set(self._full)
        return made

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Uniform draws from the open candidates, which are taken: n ids, or as many as there are.

        While no candidate is closed the draws are those with replacement from the whole list.
        """
        drawn: list[int] = []
        while len(drawn) < n and self.open:
            closed = self.closed
            ranks = rng.integers(self.open, size=n - len(drawn))
            # The r-th open candidate comes after all closed ones with fewer open ones before them.
            before = np.searchsorted(closed - np.arange(len(closed)), ranks, side="right")
            for id_ in (ranks + before).tolist():
                if self.left(id_):
                    self.take(id_)
                    drawn.append(id_)
        return np.array(drawn, dtype=np.int64)
