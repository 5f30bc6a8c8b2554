"""What is kept of candidates that were looked at: their means and √leverages then, and when."""

import numpy as np

from noregret._types import Floats, Ints
from noregret.picking.lists.columns import ListQueue, PointsOf, Tops
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.room import NOBODY
from noregret.spaces import Candidates


class LookColumns:
    """What was known of every candidate when it was last looked at.

    Parameters
    ----------
    prior
        √(k(x, x)/λ).
    prior_root
        Its values (A).
    mean, root
        The mean and √leverage of every candidate when it was last looked at (A each).
    date
        The date of that look, a number (A); 0 if never looked at: its bounds are the prior's.
    """

    def __init__(
        self, prior: PriorRoot, prior_root: Floats, mean: Floats, root: Floats, date: Ints
    ) -> None:
        self.prior = prior
        self._prior_root = prior_root
        self._mean, self._root, self._date = mean, root, date

    @classmethod
    def fresh(cls, prior: PriorRoot, space: Candidates) -> "LookColumns":
        """The columns of a list before anything is told."""
        root = prior.of(space)
        return cls(prior, root, np.zeros(len(root)), root.copy(), np.zeros(len(root), np.int32))

    def __len__(self) -> int:
        return len(self._mean)

    def arrays(self) -> tuple[Floats, Floats, Floats, Ints]:
        """The arrays of the columns, without the prior."""
        return self._prior_root, self._mean, self._root, self._date

    def read(
        self,
        points: PointsOf,
        reach: Floats,
        ids: Ints,
        known: Floats,
        skipped: Ints = NOBODY,
    ) -> ListQueue:
        """Start to read candidates from the largest stale bound down.

        Parameters
        ----------
        points
            Gives the points of ids.
        reach
            For each date, how far a bound may lie above that date's mean, in units of its
            √leverage; ∞ if the date bounds nothing. The first entry is the prior's.
        ids, known
            Candidates of which a smaller bound is known, and those bounds (n each).
        skipped
            Candidates to skip.
        """
        own = reach[self._date]
        usable = np.isfinite(own)
        stale = self._mean + np.where(usable, own, 0.0) * self._root
        prior = float(reach[0]) * self._prior_root
        stale = np.where(usable, np.minimum(stale, prior), prior)
        stale[ids] = known
        queue = ListQueue(Tops(with_slack(stale, self._root)), points)
        queue.skip(skipped)
        return queue

    def used(self, dates: int) -> Ints:
        """How many candidates were last looked at on each date."""
        return np.bincount(self._date, minlength=dates)

    def forget(self, dates: list[int]) -> None:
        """Let candidates last looked at on these dates go back to the prior."""
        which = np.flatnonzero(np.isin(self._date, dates))
        self._mean[which], self._date[which] = 0.0, 0
        self._root[which] = self._prior_root[which]

    def put(self, ids: Ints, mean: Floats, root: Floats, date: int) -> None:
        """Note what is known of some candidates on a date."""
        self._mean[ids], self._root[ids] = mean, root
        self._date[ids] = date

    def lost(self) -> list[int]:
        """The parts that were lost lately: always none, as the list is on this machine."""
        return []

    def gathered(self) -> "LookColumns":
        """The columns on this machine."""
        return self

    def extended(self, space: Candidates) -> "LookColumns":
        """The columns of a list that has grown at its end; new candidates start from the prior."""
        root = self.prior.of(space, len(self))
        new = root, np.zeros(len(root)), root, np.zeros(len(root), self._date.dtype)
        joined = [np.concatenate(pair) for pair in zip(self.arrays(), new, strict=True)]
        return LookColumns(self.prior, *joined)


def with_slack(stale: Floats, root: Floats) -> Floats:
    """Bounds (n), a little enlarged: round-off must not put one below the current bound.

    ``root`` are the √leverages in these bounds (n).
    """
    return np.asarray(stale + 1e-9 * (np.abs(stale) + root))
