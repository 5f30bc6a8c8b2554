"""The sparse GP of one cell of a cover: bounded cost where all evaluations fall into one cell."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints
from noregret.kernels.base import Kernel
from noregret.models.dictionary import Sparsifier
from noregret.models.sparse import SparseGP
from noregret.models.table import FeatureTable
from noregret.models.view import PosteriorView

#: q̄, the oversampling of the dictionaries
_QBAR = 2.0


class SparseLocal:
    """The BKB posterior of a cell's points, with the interface of :class:`LocalGP`.

    The dictionary is drawn by leverage scores and grows or is compacted as in
    :class:`~noregret.BKB`. ``gain`` is an upper bound on the information gain.

    Parameters
    ----------
    kernel, lam, points, prior
        As for :class:`LocalGP`.
    rng
        Draws the dictionary.
    """

    def __init__(
        self, kernel: Kernel, lam: float, points: Floats, prior: Floats, rng: np.random.Generator
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.points = points
        self._rng = rng
        self._gp = SparseGP(kernel, lam, points, prior)
        self._sparsifier = Sparsifier("grow")
        self._arm: Ints = np.full(len(points), -1, dtype=np.int64)  # row of the arms, by point

    @property
    def mean(self) -> Floats:
        """Posterior means of the points (P)."""
        return np.concatenate([self._gp.table.mean, self._gp.arms.mean[self._extra()]])

    @property
    def variance(self) -> Floats:
        """Posterior variances of the points (P)."""
        gp = self._gp
        leverage = gp.arms.leverage(self.lam)[self._extra()]
        return self.lam * np.concatenate([gp.table.leverage(self.lam), leverage])

    @property
    def gain(self) -> float:
        """An upper bound on γ, tight where the dictionary holds every arm."""
        return 0.5 * self._gp.log_det_bound()

    @property
    def size(self) -> int:
        """Inducing points."""
        return self._gp.size

    def _extra(self) -> Ints:
        """Rows of the arms that are not in the first list of points."""
        return self._arm[len(self._gp.table) :]

    def _rows(self, index: Ints) -> Ints:
        fresh = index[self._arm[index] < 0]
        if len(fresh):
            known = len(self._gp.arms)
            self._gp.see(fresh)
            self._arm[fresh] = np.arange(known, known + len(fresh))
        return self._arm[index]

    def condition(self, index: Ints, counts: Floats, sums: Floats) -> None:
        """Take in evaluations of some points (positions, each once): how many, and their sums."""
        gp = self._gp
        rows = self._rows(index)
        told, totals = gp.counts.astype(np.int64), gp._sums.copy()
        told[rows] += counts.astype(np.int64)
        totals[rows] += sums
        plan = self._sparsifier.plan(gp, told, _QBAR, self._rng)
        if plan.replace:
            gp.rebuild(told, totals, plan.rows)
        else:
            gp.advance(told, totals, plan.rows)

    def append(self, points: Floats, prior: Floats) -> None:
        """Follow more points (k × d), such as arms told that are not on the list."""
        gp, known = self._gp, len(self._gp.arms)
        table = FeatureTable(points, prior)
        table.refill(gp.embed, gp.size)
        table.recompute(gp.root.matrix, gp.theta)
        gp.arms.append(table, np.arange(len(points)))
        zeros = np.zeros(len(points))
        gp.counts = np.concatenate([gp.counts, zeros])
        gp._sums = np.concatenate([gp._sums, zeros])
        self.points = np.concatenate([self.points, points])
        self._arm = np.concatenate([self._arm, np.arange(known, known + len(points))])

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""
        return self.hallucinate(np.empty(0, dtype=np.int64), np.empty(0)).predict(points)

    def hallucinate(self, index: Ints, counts: Floats) -> "_SparseView":
        """The posterior as it would be after more evaluations: variances fall, means stay."""
        rows = self._rows(index)
        pending = np.zeros(len(self._gp.arms), dtype=np.int64)
        pending[rows] = counts.astype(np.int64)
        return _SparseView(self, PosteriorView(self._gp, pending))

    def state(self) -> tuple[dict[str, np.ndarray[Any, Any]], float]:
        """Arrays and a number that :meth:`restore` takes."""
        arrays = {f"gp/{name}": array for name, array in self._gp.state().items()}
        arrays |= {"arm": self._arm, "points": self.points, "arm_points": self._gp.arms.points}
        return arrays, self._sparsifier.surplus

    def restore(self, arrays: dict[str, np.ndarray[Any, Any]], surplus: float) -> None:
        """Take over a saved state."""
        self._arm, self.points = arrays["arm"], arrays["points"]
        mine = {name[3:]: array for name, array in arrays.items() if name.startswith("gp/")}
        self._gp.restore(mine, arrays["arm_points"])
        self._sparsifier.surplus = surplus


class _SparseView:
    """Told and pending evaluations of a sparse cell."""

    def __init__(self, local: SparseLocal, view: PosteriorView) -> None:
        self._local = local
        self._view = view
        self.mean = local.mean
        gp, extra = local._gp, local._extra()
        arms = gp.arms
        leverage = view.at_points(arms.features(extra), arms.points[extra], arms.residual[extra])
        self.variance: Floats = local.lam * np.concatenate([view.leverage, leverage])

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""
        gp = self._local._gp
        Z = gp.embed(points)
        residual = np.maximum(gp.kernel.diag(points) - np.einsum("ij,ij->i", Z, Z), 0.0)
        return Z @ gp.theta, gp.lam * self._view.at_points(Z, points, residual)
