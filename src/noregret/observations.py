"""What has been seen: every reward in order, totals for each unique choice, and what is pending."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points

#: how many positions an error names
_NAMED = 20


class Observations:
    """Rewards and pending evaluations, for each unique choice (arm).

    An arm gets a *row* when it is first asked for or told. Everything a model needs (counts, sums,
    pending counts) is kept by row, so its cost follows the number of unique arms. The rewards
    themselves are also kept, in the order in which they were told.

    Parameters
    ----------
    nothing
        No points (0 × d, or no objects), in the type that points have.

    Attributes
    ----------
    points
        u × d (or u objects): the arms seen so far.
    ids
        u row numbers in the current list; −1 for arms of a replaced list and on boxes.
    told, pending
        u counts: evaluations told, and asked for but not yet told.
    sums
        u sums of the rewards told.
    scatters
        u sums of (reward − mean of its arm)² over the rewards told.
    generation
        How often the list has been replaced.
    unasked
        Evaluations told that nobody had asked for.
    failed
        Rows whose evaluations failed, one entry for each failure.
    stand_ins
        Positions in the history of rewards that were told in place of failed evaluations.
    aside
        Candidates of the list that are not to be asked for (ids in rising order).
    """

    failed: tuple[int, ...] = ()
    stand_ins: tuple[int, ...] = ()
    aside: tuple[int, ...] = ()

    def __init__(self, nothing: Points) -> None:
        self._row_of: dict[Any, int] = {}  # by id, or by the bytes of a box's point
        self.generation = 0
        self.unasked = 0
        self._points = _Growing(nothing)
        self._ids = _Growing(np.empty(0, dtype=np.int64))
        self._told = _Growing(np.empty(0, dtype=np.int64))
        self._pending = _Growing(np.empty(0, dtype=np.int64))
        self._sums = _Growing(np.empty(0))
        self._scatters = _Growing(np.empty(0))
        self._history_rows = _Growing(np.empty(0, dtype=np.int64))
        self._history_rewards = _Growing(np.empty(0))

    def __len__(self) -> int:
        """The number of unique arms."""
        return len(self._ids)

    points: Points = property(lambda self: self._points.view())  # type: ignore[assignment]
    ids: Ints = property(lambda self: self._ids.view())  # type: ignore[assignment]
    told: Ints = property(lambda self: self._told.view())  # type: ignore[assignment]
    pending: Ints = property(lambda self: self._pending.view())  # type: ignore[assignment]
    sums: Floats = property(lambda self: self._sums.view())  # type: ignore[assignment]
    scatters: Floats = property(lambda self: self._scatters.view())  # type: ignore[assignment]

    @property
    def scatter(self) -> float:
        """Σ (reward − mean of its arm)² over all rewards."""
        return float(self.scatters.sum())

    @property
    def t(self) -> int:
        """Evaluations told."""
        return len(self._history_rewards)

    @property
    def rewards(self) -> Floats:
        """Every reward, in the order told (t floats)."""
        return np.asarray(self._history_rewards.view())

    @property
    def history_rows(self) -> Ints:
        """The arm (row) of every reward (t integers)."""
        return np.asarray(self._history_rows.view())

    def rows(self, ids: Ints, points: Points) -> Ints:
        """The rows of these choices, new ones where they are seen for the first time."""
        row_of, keys = self._row_of, _keys(ids, points)
        fresh: list[int] = []
        for i, key in enumerate(keys):
            if key not in row_of:
                row_of[key] = len(self) + len(fresh)
                fresh.append(i)
        if fresh:
            zeros = np.zeros(len(fresh), dtype=np.int64)
            self._points.extend(points[fresh])
            self._ids.extend(ids[fresh])
            for column in (self._told, self._pending, self._sums, self._scatters):
                column.extend(zeros)
        return np.array([row_of[key] for key in keys], dtype=np.int64)

    def are_rows_of(self, ids: Ints, rows: Ints | None) -> bool:
        """Whether these are the rows of these candidates of the list (n each)."""
        if rows is None or not len(rows) or rows.max() >= len(self) or ids.min() < 0:
            return False
        return bool((self.ids[rows] == ids).all())

    def known_rows(self, ids: Ints, points: Points) -> Ints:
        """The rows of these choices, −1 for those never seen."""
        found = [self._row_of.get(key, -1) for key in _keys(ids, points)]
        return np.array(found, dtype=np.int64)

    def counts(self, ids: Ints, points: Points) -> Ints:
        """Evaluations told of some choices (n)."""
        rows = self.known_rows(ids, points)
        return np.where(rows >= 0, np.append(self.told, 0)[rows], 0)

    def ask(self, rows: Ints) -> None:
        """Note that these rows have been asked for."""
        np.add.at(self.pending, rows, 1)

    def tell(self, rows: Ints, rewards: Floats, *, unasked: bool = False) -> None:
        """Note these rewards, of pending rows or of any others.

        With ``unasked`` pending evaluations of the same rows stay pending.
        """
        if len(rows) == 1:  # by far the most frequent case
            self._tell_one(int(rows[0]), float(rewards[0]), unasked)
        else:
            arrived = np.bincount(rows, minlength=len(self))
            told, pending = self.told, self.pending
            asked = np.minimum(pending, arrived) * (not unasked)
            self._add_scatter(rows, rewards, arrived)
            told += arrived
            pending -= asked
            self.unasked += int(arrived.sum() - asked.sum())
            np.add.at(self.sums, rows, rewards)
        self._history_rows.extend(rows)
        self._history_rewards.extend(rewards)

    def _tell_one(self, row: int, reward: float, unasked: bool) -> None:
        known, sums = int(self.told[row]), self.sums
        off = reward - float(sums[row]) / max(known, 1)
        self.scatters[row] += off * off * (known / (1 + known))
        self.told[row] += 1
        sums[row] += reward
        if self.pending[row] and not unasked:
            self.pending[row] -= 1
        else:
            self.unasked += 1

    def fail(self, row: int, reward: float | None) -> None:
        """Note that a pending row has failed; a reward, if given, is told to the model instead.

        Without a reward the row stays pending.
        """
        self.failed += (row,)
        if reward is not None:
            self.stand_ins += (self.t,)
            self.tell(np.array([row]), np.array([reward]))

    def note_failed(self, rows: Ints, others: "Observations") -> None:
        """Note that these rows failed, as in observations with the same history."""
        self.failed, self.stand_ins = tuple(rows.tolist()), others.stand_ins
        self.aside = others.aside

    def failing(self, times: int = 1) -> Ints:
        """Arms that have failed at least ``times`` times, and more often than not (rows).

        An arm that mostly gives a value fails by chance.
        """
        failures = np.bincount(np.array(self.failed, dtype=np.int64), minlength=len(self))
        invented = self.history_rows[list(self.stand_ins)]
        values = self.told - np.bincount(invented, minlength=len(self))
        return np.flatnonzero((failures >= times) & (failures > values))

    def failing_ids(self, times: int) -> Ints:
        """The candidates among the arms :meth:`failing`, in rising order (ids)."""
        ids = self.ids[self.failing(times)]
        return np.sort(ids[ids >= 0])

    @property
    def aside_ids(self) -> Ints:
        """Candidates of the list that are not to be asked for, in rising order (ids)."""
        return np.array(self.aside, dtype=np.int64)

    def set_aside(self, ids: Ints) -> None:
        """These candidates are not to be asked for."""
        self.aside = tuple(np.union1d(self.aside_ids, ids).tolist())

    def bring_back(self, ids: Ints) -> None:
        """These candidates may be asked for again."""
        self.aside = tuple(np.setdiff1d(self.aside_ids, ids).tolist())

    def _add_scatter(self, rows: Ints, rewards: Floats, arrived: Ints) -> None:
        """Add the scatter of new rewards to that of the old ones (Chan's parallel formula)."""
        which = np.flatnonzero(arrived)
        counts, before = arrived[which], self.told[which]
        sums = np.bincount(rows, rewards, minlength=len(self))[which]
        means = sums / counts
        away = rewards - means[np.searchsorted(which, rows)]
        old = self.sums[which] / np.maximum(before, 1)
        between = np.square(means - old) * (counts * before / (counts + before))
        with np.errstate(over="ignore"):
            inside = np.bincount(rows, np.square(away), minlength=len(self))[which]
            self.scatters[which] += inside + between

    def cancel(self, rows: Ints) -> None:
        """Note that these pending rows will never be told."""
        self.check_pending(rows)
        np.subtract.at(self.pending, rows, 1)

    def check_pending(self, rows: Ints) -> None:
        """Refuse rows that are not pending, or that occur here more often than they are pending."""
        counts = np.bincount(rows[rows >= 0], minlength=len(self))
        wrong = np.flatnonzero(np.append(counts > self.pending, True)[rows])  # row −1: unknown
        if len(wrong):
            places = ", ".join(map(str, wrong[:_NAMED].tolist()))
            raise ValueError(
                "points must be pending (asked for and not told) to be cancelled or failed; "
                f"those at position {places} are not"
            )

    def replace_list(self) -> None:
        """Let ids mean another list from now on; history and pending arms stay."""
        self._row_of = {}
        self.aside = ()
        self.ids[:] = -1
        self.generation += 1


def _keys(ids: Ints, points: Points) -> list[Any]:
    """The keys of arms: their ids, or the bytes of their points on a box."""
    numbers: list[Any] = ids.tolist()
    if min(numbers, default=0) >= 0:
        return numbers
    pairs = zip(numbers, points, strict=True)
    return [id_ if id_ >= 0 else point.tobytes() for id_, point in pairs]


class _Growing:
    """An array that grows at its end in amortised constant time."""

    def __init__(self, like: Points) -> None:
        self._buffer: Points = like.copy()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def extend(self, values: Any) -> None:
        needed = self._length + len(values)
        if needed > len(self._buffer):
            shape = (max(needed, 2 * len(self._buffer), 64), *self._buffer.shape[1:])
            grown = np.zeros(shape, dtype=self._buffer.dtype)
            grown[: self._length] = self._buffer[: self._length]
            self._buffer = grown
        self._buffer[self._length : needed] = values
        self._length = needed

    def view(self) -> Any:
        return self._buffer[: self._length]
