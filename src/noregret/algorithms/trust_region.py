"""GP-UCB on a box whose every other step looks only near the best point known."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints
from noregret.algorithms.gpucb import GPUCB
from noregret.batching import BatchRule
from noregret.models.surface import Surface
from noregret.models.view import PosteriorView
from noregret.picking.box import BoxSearch, box_batch
from noregret.results import Batch
from noregret.spaces import Box, as_domain

#: sides of the region, as fractions of the box's
_LARGEST, _SMALLEST = 0.8, 0.5**7
#: bounds in the region, as a fraction of the whole box's width
_LOCAL_WIDTH = 0.5
#: successes in a row that double the side
_SUCCESSES = 3


class TrustRegionUCB(GPUCB):
    """GP-UCB that alternates steps in the whole box with steps in a trust region.

    The region is a box around the point with the largest posterior mean of those told, as in TuRBO
    (Eriksson et al. 2019). Its sides are 0.8 of the whole box's at first, halved after max(4, d)
    failures in a row, doubled after 3 successes, and 0.8 again once they would fall below 1/128. A
    success is an evaluation in the region that becomes the point with the largest mean. One exact
    GP of all evaluations serves both kinds of step; in the region bounds are half as wide. So a
    funnel too narrow to stand out in the whole box is still followed down.

    The steps in the whole box are those of :class:`~noregret.GPUCB`, and evaluations between them
    only shrink its deviations: with the theorem's width and a known kernel the regret bound of
    GP-UCB holds for that half of the steps, with the information gain of all evaluations in it. The
    other half has no bound of its own.

    What is ``"auto"`` is fitted to all evaluations, not to uniform draws alone: after the design
    nothing is drawn uniformly, and the fit is repeated whenever the data has grown by a quarter.
    So the kernel is biased towards good places, where it is wanted; it is no basis for a
    certificate.

    Parameters
    ----------
    domain
        A :class:`~noregret.Box`.
    kernel, noise, norm, delta, lam, seed, search, width
        As for :class:`~noregret.GPUCB`.
    """

    def __init__(self, domain: Any, kernel: Any, **others: Any) -> None:
        domain = as_domain(domain)
        if not isinstance(domain, Box):
            raise ValueError(f"domain must be a Box for a trust region, got {domain!r}")
        super().__init__(domain, kernel, **others)
        self._whole = domain
        if self._auto:
            self._auto.fit_on = "all"
        self._side = _LARGEST
        self._successes = self._failures = 0
        self._local = False  # whether the last batch was chosen in the region
        self._centre = -1  # row of the region's centre
        # Picks in the region that are not judged yet: how often each row had been told before.
        self._tried: dict[int, int] = {}

    @property
    def region(self) -> Box:
        """The trust region around the point with the largest mean; the whole box at the start."""
        self._sync()
        if not self.t:
            return self._whole
        return self._region(self._observations.points[self._incumbent()])

    def _region(self, centre: Floats) -> Box:
        box = self._whole
        half = 0.5 * self._side * (box.upper - box.lower)
        lower = np.maximum(box.lower, centre - half)
        upper = np.minimum(box.upper, centre + half)
        narrow = lower >= upper  # too narrow for floating point
        lower, upper = np.where(narrow, box.lower, lower), np.where(narrow, box.upper, upper)
        return Box(np.column_stack([lower, upper]))

    def _incumbent(self) -> int:
        """The told row with the largest mean."""
        told = np.flatnonzero(self._observations.told)
        return int(told[np.argmax(self._model.arms.mean[told])])

    # -- choosing ----------------------------------------------------------------------------

    def ask(self, n: int | None = None) -> Batch:
        """What to evaluate next, see :meth:`~noregret.Optimizer.ask`; n points of one kind."""
        batch = super().ask(n)
        if self._local and not self._uniform and batch._rows is not None:
            for row in batch._rows.tolist():
                self._tried.setdefault(row, int(self._observations.told[row]))
        return batch

    def _picks(
        self, rule: BatchRule, view: PosteriorView, width: float, limit: int
    ) -> tuple[Ints | Floats, Floats]:
        self._judge()
        self._local = not self._local and self.t > 0  # without answers there is no best point
        if not self._local or not isinstance(view, Surface):
            return super()._picks(rule, view, width, limit)
        self._centre = self._incumbent()
        region = self._region(self._observations.points[self._centre])
        anchors = self._anchors()
        inside = np.all((anchors >= region.lower) & (anchors <= region.upper), axis=1)
        search = BoxSearch(region, self.search, local=True)
        narrower = _LOCAL_WIDTH * width
        return box_batch(search, view, narrower, rule, limit, anchors[inside], self._rng)

    def _judge(self) -> None:
        """Count the picks in the region told since, and change its sides where it is time to."""
        told, pending = self._observations.told, self._observations.pending
        arrived = [row for row, before in self._tried.items() if told[row] > before]
        cancelled = [row for row in self._tried if told[row] + pending[row] <= self._tried[row]]
        for row in arrived + cancelled:
            del self._tried[row]
        if not arrived:
            return
        best = self._incumbent()
        if best != self._centre and best in arrived:
            self._successes, self._failures = self._successes + 1, 0
        else:
            self._successes, self._failures = 0, self._failures + len(arrived)
        if self._successes >= _SUCCESSES:
            self._successes = 0
            self._resize(min(2.0 * self._side, _LARGEST))
        elif self._failures >= max(4, self._whole.dimension):
            self._failures = 0
            smaller = 0.5 * self._side
            self._resize(smaller if smaller >= _SMALLEST else _LARGEST)

    def _resize(self, side: float) -> None:
        if side != self._side:
            self._side = side
            self._log("trust region", side=side)

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        arrays, values = super()._state()
        counts = [self._successes, self._failures, self._local, self._centre]
        region = {"side": self._side, "counts": counts, "tried": sorted(self._tried.items())}
        return arrays, {**values, "region": region}

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        super()._restore(arrays, values)
        region = values["region"]
        self._side = float(region["side"])
        self._successes, self._failures, self._local, self._centre = region["counts"]
        self._tried = {int(row): int(count) for row, count in region["tried"]}
