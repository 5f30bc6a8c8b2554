"""What is kept of candidates that were looked at: their means and √leverages then, and when."""

import numpy as np

from noregret._types import Floats, Ints
from noregret.picking.columns import ListQueue, PointsOf, PriorRoot, Tops, with_slack
from noregret.picking.room import NOBODY
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
        When that was, a number (A); 0 where it was never looked at and has the prior's bounds.
    """

    def __init__(
        self, prior: PriorRoot, prior_root: Floats, mean: Floats, root: Floats, date: Ints
    ) -> None:
        self.prior = prior
        self._prior_root = prior_root
        self._mean, self._root, self._date = mean, root, date

    @classmethod
    def fresh(cls, prior: PriorRoot, space: Candidates) -> "LookColumns":
        """The columns of a list of which nothing is known."""
        root = prior.of(space)
        return cls(prior, root, np.zeros(len(root)), root.copy(), np.zeros(len(root), np.int32))

    def __len__(self) -> int:
        return len(self._mean)

    def arrays(self) -> tuple[Floats, Floats, Floats, Ints]:
        """What the columns are made of beside the prior."""
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
            How far a bound may lie above the mean of each date, in √leverage of then; ∞ where a
            date says nothing. The first one is the prior's.
        ids, known
            Candidates of which a smaller bound is known, and those bounds (n each).
        skipped
            Candidates that are passed over.
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
        """What the prior says takes the place of what was known on these dates."""
        which = np.flatnonzero(np.isin(self._date, dates))
        self._mean[which], self._date[which] = 0.0, 0
        self._root[which] = self._prior_root[which]

    def put(self, ids: Ints, mean: Floats, root: Floats, date: int) -> None:
        """Note what is known of some candidates on a date."""
        self._mean[ids], self._root[ids] = mean, root
        self._date[ids] = date

    def lost(self) -> list[int]:
        """The parts that were lost lately: there are none here."""
        return []

    def gathered(self) -> "LookColumns":
        """The columns on this machine."""
        return self

    def extended(self, space: Candidates) -> "LookColumns":
        """The columns of a list that has grown at its end: the prior's for what is new."""
        root = self.prior.of(space, len(self))
        new = root, np.zeros(len(root)), root, np.zeros(len(root), self._date.dtype)
        joined = [np.concatenate(pair) for pair in zip(self.arrays(), new, strict=True)]
        return LookColumns(self.prior, *joined)
