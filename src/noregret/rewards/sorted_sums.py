"""Sums of the rewards below a level, by arm, without going through the rewards.

All evaluations of an arm share their feature row, so the truncated sums of ATA-GP-UCB need, for
every arm and every feature direction, the sum of the arm's rewards up to some magnitude. Rewards
are kept sorted with prefix sums: each such sum is a binary search.
"""

from collections.abc import Callable

import numpy as np

from noregret._types import Bools, Floats, Ints
from noregret.observations import Observations

#: rewards of an arm that wait in a short run of their own before they are merged into the long one
_RECENT = 128

#: gives the keys and values (n each) of rewards (n) of these rows (n)
Keyed = Callable[[Ints, Floats], tuple[Floats, Floats]]


class SortedSums:
    """Values by arm, sorted by a key of their own, with prefix sums.

    Each arm has two sorted runs in one flat store: a long one, and up to 128 recent values that
    are cheap to insert into. Which values are in which run depends on their number only, so equal
    histories give equal bits, however they arrived.
    """

    def __init__(self) -> None:
        self._keys: Floats = np.empty(0)
        self._values: Floats = np.empty(0)
        self._prefix: Floats = np.empty(0)
        self._used = 0
        # By run: arm a has the long run 2a and the recent run 2a + 1.
        self._start: Ints = np.empty(0, dtype=np.int64)
        self._length: Ints = np.empty(0, dtype=np.int64)
        self._room: Ints = np.empty(0, dtype=np.int64)
        self._smallest: Floats = np.empty(0)
        self._largest: Floats = np.empty(0)
        self._total: Floats = np.empty(0)

    def grow(self, arms: int) -> None:
        """Make room for this many arms in all."""
        more = 2 * arms - len(self._start)
        if more > 0:
            zeros = np.zeros(more, dtype=np.int64)
            self._start = np.concatenate([self._start, zeros])
            self._length = np.concatenate([self._length, zeros])
            self._room = np.concatenate([self._room, zeros])
            self._smallest = np.concatenate([self._smallest, np.full(more, np.inf)])
            self._largest = np.concatenate([self._largest, np.full(more, -np.inf)])
            self._total = np.concatenate([self._total, np.zeros(more)])

    def add(self, arms: Ints, keys: Floats, values: Floats) -> None:
        """Take in values (n) of these arms (n) with their keys (n), in order."""
        if len(arms) == 1:
            self._add_to(int(arms[0]), keys, values)
            return
        order = np.argsort(arms, kind="stable")
        cuts = np.flatnonzero(np.diff(arms[order])) + 1
        for part in np.split(order, cuts):
            if len(part):
                self._add_to(int(arms[part[0]]), keys[part], values[part])

    def _add_to(self, arm: int, keys: Floats, values: Floats) -> None:
        long, recent = 2 * arm, 2 * arm + 1
        count = int(self._length[recent]) + len(keys)
        if len(keys) == 1 and count < _RECENT:
            self._insert(recent, float(keys[0]), float(values[0]))
            return
        old_keys, old_values = self._run(recent)
        moving = count - count % _RECENT
        split = moving - len(old_keys)
        if moving:
            base_keys, base_values = self._run(long)
            pieces = (base_keys, old_keys, keys[:split])
            self._sort(long, np.concatenate(pieces), (base_values, old_values, values[:split]))
            self._sort(recent, keys[split:], (values[split:],))
        else:
            self._sort(recent, np.concatenate([old_keys, keys]), (old_values, values))

    def _insert(self, run: int, key: float, value: float) -> None:
        """Put one value into a recent run, after those with the same key."""
        self._make_room(run, _RECENT)
        start, n = int(self._start[run]), int(self._length[run])
        at = start + int(self._keys[start : start + n].searchsorted(key, side="right"))
        end = start + n
        for store, new in ((self._keys, key), (self._values, value)):
            store[at + 1 : end + 1] = store[at:end]
            store[at] = new
        self._finish(run, n + 1)

    def _sort(self, run: int, keys: Floats, values: tuple[Floats, ...]) -> None:
        order = np.argsort(keys, kind="stable")
        self._store(run, keys[order], np.concatenate(values)[order])

    def _run(self, run: int) -> tuple[Floats, Floats]:
        span = slice(self._start[run], self._start[run] + self._length[run])
        return self._keys[span], self._values[span]

    def _store(self, run: int, keys: Floats, values: Floats) -> None:
        n = len(keys)
        self._make_room(run, _RECENT if run % 2 else n)
        span = slice(self._start[run], self._start[run] + n)
        self._keys[span], self._values[span] = keys, values
        self._finish(run, n)

    def _make_room(self, run: int, size: int) -> None:
        """A place of at least this size for a run; what it held is to be written again."""
        if size > self._room[run]:
            room = size if run % 2 else 2 * size
            self._reserve(self._used + room + 1)
            self._start[run], self._room[run] = self._used, room
            self._used += room

    def _finish(self, run: int, n: int) -> None:
        """Prefix sums of the first n entries of a run."""
        start = int(self._start[run])
        self._length[run] = n
        values = self._values[start : start + n]
        np.cumsum(values, out=self._prefix[start : start + n])
        self._smallest[run] = self._keys[start] if n else np.inf
        self._largest[run] = self._keys[start + n - 1] if n else -np.inf
        self._total[run] = self._prefix[start + n - 1] if n else 0.0

    def _reserve(self, size: int) -> None:
        if size > len(self._keys):
            extra = np.zeros(max(size, 2 * len(self._keys), 1024) - len(self._keys))
            self._keys = np.concatenate([self._keys, extra])
            self._values = np.concatenate([self._values, extra])
            self._prefix = np.concatenate([self._prefix, extra])

    def counts(self, arms: Ints) -> Ints:
        """How many values these arms have (n)."""
        return np.asarray(self._length[2 * arms] + self._length[2 * arms + 1])

    def below(self, arms: Ints, levels: Floats) -> tuple[Ints, Floats]:
        """How many values of arms (n) have a key of at most a level (n × m), and their sums."""
        counts = np.zeros(levels.shape, dtype=np.int64)
        found = np.zeros(levels.shape)
        for run in (2 * arms, 2 * arms + 1):
            whole = levels >= self._largest[run][:, None]
            found += np.where(whole, self._total[run][:, None], 0.0)
            counts += np.where(whole, self._length[run][:, None], 0)
            rows, columns = np.nonzero(~whole & (levels >= self._smallest[run][:, None]))
            if len(rows):
                number, total = self._search(run[rows], levels[rows, columns])
                counts[rows, columns] += number
                found[rows, columns] += total
        return counts, found

    def _search(self, runs: Ints, levels: Floats) -> tuple[Ints, Floats]:
        """A binary search in every run at once (k runs, k levels above their smallest keys)."""
        start = self._start[runs]
        low, high = start, start + self._length[runs]
        for _ in range(int(self._length[runs].max()).bit_length()):
            middle = (low + high) >> 1
            # A search that is over looks at its own end; the store has one entry more than used.
            inside: Bools = (low < high) & (self._keys[middle] <= levels)
            low, high = np.where(inside, middle + 1, low), np.where(inside, high, middle)
        return low - start, self._prefix[low - 1]


class RewardsByArm:
    """All rewards told so far in a :class:`SortedSums`, kept up to date.

    Where it was interrupted on the way, it starts again from the history.
    """

    def __init__(self) -> None:
        self._sums = SortedSums()
        self._taken = 0  # rewards in it
        self._whole = True  # False while rewards are sorted in

    def follow(self, observations: Observations, keyed: Keyed) -> SortedSums:
        """Sort in the rewards told since, in the order they were told in."""
        if not self._whole:
            self._sums, self._taken = SortedSums(), 0
        rows = observations.history_rows[self._taken :]
        if len(rows):
            self._whole = False
            self._sums.grow(len(observations))
            keys, values = keyed(rows, observations.rewards[self._taken :])
            self._sums.add(rows, keys, values)
            self._taken = observations.t
        self._sums.grow(len(observations))
        self._whole = True
        return self._sums
