"""What was known of candidates when they were last looked at, and what that says of them now."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.posterior import Posterior
from noregret.picking.bounds import Bounds
from noregret.picking.lists.columns import PointsOf, Queue
from noregret.picking.lists.room import NOBODY
from noregret.picking.lists.shards import Looks, placed_looks
from noregret.spaces import Candidates
from noregret.widths.proved import leverage_ratio

#: at most this many dates of last looks are kept
_DATES = 64


class LastLooks:
    """Means and √leverages of all candidates, each from the date it was last looked at.

    Between two dates s < t with a dictionary that only grew, the leverage of x becomes at most c
    times what it was, and its mean moves by at most √c·D·√leverage_s(x), where D = ‖θ_t − θ_s‖ in
    the norm of V_t and c depends on what the dictionary left out at s. So
    mean_s + √c·(D + width)·√leverage_s is at least mean + width·√leverage now.

    Parameters
    ----------
    column
        What is known of every candidate: √(k(x, x)/λ) at first.
    grows
        Whether c is used. It is 1 for an exact posterior. For a sparse one c is a bound that
        leverages do not come near in practice.
    """

    def __init__(self, column: Looks, *, grows: bool) -> None:
        self.column = column
        self._grows = grows
        self._weights: dict[int, Floats] = {0: np.empty(0)}  # θ of each date; empty for the prior
        self._growth = {0: 1.0}  # c of each date
        self._now = 0
        self._version = -1  # of the model, at the latest date
        self._inducing: Points | None = None

    def __len__(self) -> int:
        return len(self.column)

    @property
    def are_empty(self) -> bool:
        """Whether no candidate has been looked at."""
        return not self._now

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies hold the columns themselves, even if other machines keep them."""
        return {**vars(self), "column": self.column.gathered()}

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self.column = self.column.gathered().extended(space)

    def move_to(self, space: Candidates) -> None:
        """Keep what is known of candidates where the list is."""
        self.column = placed_looks(self.column, space)

    def queue(
        self,
        bounds: Bounds,
        points: PointsOf,
        skipped: Ints,
        ids: Ints = NOBODY,
        known: Floats | None = None,
    ) -> Queue:
        """Candidates in falling order of their stale bounds; some are skipped.

        ``known`` are smaller bounds (n) of the candidates ``ids`` (n).
        """
        posterior, width = bounds.posterior, bounds.inflation * bounds.width
        dates = list(self._weights) if self._has_grown(posterior) else [0]
        moved = posterior.distances([self._weights[date] for date in dates])
        growth = np.sqrt([self._growth[date] for date in dates])
        reach = np.full(self._now + 1, np.inf)
        reach[dates] = growth * (width + moved)
        known = np.empty(0) if known is None else known
        return self.column.read(points, reach, ids, known, skipped)

    def _has_grown(self, posterior: Posterior) -> bool:
        """Whether the dictionary is the earlier one, possibly with more inducing points."""
        old = self._inducing
        return old is not None and np.array_equal(posterior.inducing[: len(old)], old)

    def put(self, bounds: Bounds, ids: Ints, mean: Floats, root: Floats) -> None:
        """Note the means and √leverages (n each) of some candidates, with this posterior."""
        posterior = bounds.posterior
        if self._version != bounds.version:
            self._forget(posterior)
            self._version, self._now = bounds.version, self._now + 1
            self._inducing = posterior.inducing
            self._weights[self._now] = posterior.theta.copy()
            growth = leverage_ratio(bounds.trace, posterior.lam) if self._grows else 1.0
            self._growth[self._now] = growth
        self.column.put(ids, mean, root, self._now)

    def _forget(self, posterior: Posterior) -> None:
        """Drop dates that bound nothing for this posterior, or that few candidates have.

        The candidates of a dropped date go back to the prior.
        """
        old = [date for date in self._weights if date]
        if self._has_grown(posterior):
            if len(old) <= _DATES:
                return
            used = self.column.used(self._now + 1)
            old = sorted(old, key=lambda date: used[date])[: len(old) // 2]
        self.column.forget(old)
        for date in old:
            del self._weights[date], self._growth[date]
