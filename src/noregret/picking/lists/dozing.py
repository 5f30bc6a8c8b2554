"""Candidates of a batch that were looked at, and of which only their last bounds are kept.

Inside a batch bounds only fall, so the last bound of a candidate is still a bound. A candidate is
woken when its last bound comes out on top.
"""

import numpy as np

from noregret._types import Floats, Ints


class Dozing:
    """Candidates without features, in groups; a group is put in order when one of it is woken."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def top(self) -> tuple[float, int]:
        """The largest bound, and the smallest id that has it."""
        return min((group.top for group in self._groups), default=(-np.inf, 0), key=order)

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
        group = min(self._groups, key=lambda one: order(one.top))
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


def order(bound: tuple[float, int]) -> tuple[float, int]:
    """Sorts pairs of a bound and an id: larger bounds first, equal ones by their ids."""
    return -bound[0], bound[1]
