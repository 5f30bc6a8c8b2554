"""What has been seen: every reward in order, totals by unique arm, what is pending."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points


class Observations:
    """Rewards and pending questions on the arms of a list, or on points of a box.

    Arms get a *row* when they are first asked for or told; everything a model needs (counts, sums,
    pending counts) is kept by row, so its cost follows unique arms. The raw rewards stay beside
    them in the order they came.

    Parameters
    ----------
    points
        The list (A × d, or A objects); for a box an array of no points (0 × d).

    Attributes
    ----------
    points
        u × d (or u objects): the arms seen so far.
    ids
        u row numbers in the current list, −1 for arms of a replaced list and on boxes.
    told, pending
        u counts: evaluations told, and asked for but not yet told.
    sums
        u sums of the rewards told.
    """

    def __init__(self, points: Points) -> None:
        self._list = points
        self._row_of_id: Ints = np.full(len(points), -1, dtype=np.int64)
        self._row_of_point: dict[bytes, int] = {}  # boxes only
        #: how often the list has been replaced
        self.generation = 0
        #: evaluations told that nobody had asked for
        self.unasked = 0
        self._points = _Growing(points[:0])
        self._ids = _Growing(np.empty(0, dtype=np.int64))
        self._told = _Growing(np.empty(0, dtype=np.int64))
        self._pending = _Growing(np.empty(0, dtype=np.int64))
        self._sums = _Growing(np.empty(0))
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

    def rows(self, ids: Ints) -> Ints:
        """The rows of these ids, new ones where they are seen for the first time."""
        rows = self._row_of_id[ids]
        if (rows < 0).any():
            fresh = np.unique(ids[rows < 0])
            first = len(self)
            self._row_of_id[fresh] = np.arange(first, first + len(fresh))
            self._append(self._list[fresh], fresh)
            rows = self._row_of_id[ids]
        return rows

    def point_rows(self, points: Points) -> Ints:
        """The rows of these points of a box (n × d), new ones for points not seen before."""
        rows = self.known_point_rows(points)
        for i in np.flatnonzero(rows < 0):
            key = points[i].tobytes()
            if key not in self._row_of_point:
                self._row_of_point[key] = len(self)
                self._append(points[i : i + 1], np.array([-1]))
            rows[i] = self._row_of_point[key]
        return rows

    def known_point_rows(self, points: Points) -> Ints:
        """The rows of these points of a box, −1 for points never seen."""
        get = self._row_of_point.get
        return np.array([get(point.tobytes(), -1) for point in points], dtype=np.int64)

    def _append(self, points: Points, ids: Ints) -> None:
        zeros = np.zeros(len(ids), dtype=np.int64)
        self._points.extend(points)
        self._ids.extend(ids)
        self._told.extend(zeros)
        self._pending.extend(zeros)
        self._sums.extend(zeros)

    def known_rows(self, ids: Ints) -> Ints:
        """The rows of these ids, −1 for ids never seen."""
        return self._row_of_id[ids]

    def ask(self, rows: Ints) -> None:
        """These rows have been handed out."""
        np.add.at(self.pending, rows, 1)

    def tell(self, rows: Ints, rewards: Floats) -> None:
        """These rewards have arrived, for pending rows or for any other."""
        arrived = np.bincount(rows, minlength=len(self))
        told, pending = self.told, self.pending
        told += arrived
        asked = np.minimum(pending, arrived)
        pending -= asked
        self.unasked += int(arrived.sum() - asked.sum())
        np.add.at(self.sums, rows, rewards)
        self._history_rows.extend(rows)
        self._history_rewards.extend(rewards)

    def cancel(self, rows: Ints) -> None:
        """These pending rows will never be told."""
        counts = np.bincount(rows[rows >= 0], minlength=len(self))
        pending = self.pending
        if (rows < 0).any() or (counts > pending).any():
            raise ValueError("points must be pending to be cancelled; some of these are not")
        pending -= counts

    def replace_list(self, points: Points) -> None:
        """From now on ids mean the rows of ``points``; history and pending arms stay."""
        if points.dtype != self.points.dtype or points.shape[1:] != self.points.shape[1:]:
            raise ValueError(
                f"the new candidates must be of the old ones' kind: rows of shape "
                f"{self.points.shape[1:]}, got {points.shape[1:]}"
            )
        self._list = points
        self._row_of_id = np.full(len(points), -1, dtype=np.int64)
        self.ids[:] = -1
        self.generation += 1

    def state(self) -> dict[str, Any]:
        """Arrays that :meth:`restore` takes (points excluded)."""
        return {
            "counters": np.array([self.generation, self.unasked]),
            "ids": self.ids,
            "told": self.told,
            "pending": self.pending,
            "sums": self.sums,
            "history_rows": self.history_rows,
            "history_rewards": self.rewards,
        }

    def restore(self, state: dict[str, Any], points: Points) -> None:
        """Take over a saved state; ``points`` are the u arms seen."""
        self.generation, self.unasked = (int(value) for value in state["counters"])
        self._points.extend(points)
        for name in ("ids", "told", "pending", "sums", "history_rows", "history_rewards"):
            getattr(self, f"_{name}").extend(state[name])
        current = self.ids >= 0
        self._row_of_id[self.ids[current]] = np.flatnonzero(current)
        if len(self._list) == 0:
            self._row_of_point = {p.tobytes(): row for row, p in enumerate(self.points)}


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
            grown = np.empty(shape, dtype=self._buffer.dtype)
            grown[: self._length] = self._buffer[: self._length]
            self._buffer = grown
        self._buffer[self._length : needed] = values
        self._length = needed

    def view(self) -> Any:
        return self._buffer[: self._length]
