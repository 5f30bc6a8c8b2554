"""The sparse GP of one cell of a cover: bounded cost where all evaluations fall into one cell."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.models.dictionary import Sparsifier
from noregret.models.sparse import SparseGP
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
        self, kernel: Kernel, lam: float, points: Points, prior: Floats, rng: np.random.Generator
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.points = points
        self._rng = rng
        self._gp = SparseGP(kernel, lam, points, prior)
        self._sparsifier = Sparsifier("grow")
        self._sums: Floats = np.empty(0)  # of the rewards, by arm
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
        told = gp.counts.astype(np.int64)
        told[rows] += counts.astype(np.int64)
        self._sums = np.concatenate([self._sums, np.zeros(len(told) - len(self._sums))])
        self._sums[rows] += sums
        # A cell that has just been made takes in its parent's evaluations like old data.
        in_bulk = int(counts.sum()) if len(index) > 1 else 0
        plan = self._sparsifier.plan(gp, told, _QBAR, self._rng, in_bulk)
        if plan.replace:
            gp.rebuild(told, self._sums, plan.rows)
        else:
            gp.advance(told, self._sums, plan.rows)

    def append(self, points: Points, prior: Floats) -> None:
        """Follow more points (k × d), such as arms told that are not on the list."""
        gp, known = self._gp, len(self._gp.arms)
        gp.see_points(points, prior)
        self.points = np.concatenate([self.points, points])
        self._arm = np.concatenate([self._arm, np.arange(known, known + len(points))])

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""
        Z, residual = self._features(points)
        inside = Z @ self._gp.root.matrix
        return Z @ self._gp.theta, residual + self.lam * np.einsum("ij,ij->i", inside, inside)

    def _features(self, points: Points) -> tuple[Floats, Floats]:
        """z of any points (n × m), and the variance outside its span (n)."""
        Z = self._gp.embed(points)
        return Z, np.maximum(self.kernel.diag(points) - np.einsum("ij,ij->i", Z, Z), 0.0)

    def hallucinate(self, index: Ints, counts: Floats) -> "_SparseView":
        """The posterior as it would be after more evaluations: variances fall, means stay."""
        rows = self._rows(index)
        pending = np.zeros(len(self._gp.arms), dtype=np.int64)
        pending[rows] = counts.astype(np.int64)
        return _SparseView(self, PosteriorView(self._gp, pending))

    def state(self) -> tuple[dict[str, np.ndarray[Any, Any]], float]:
        """Arrays (the points excluded) and a number that :meth:`restore` takes."""
        arrays = {f"gp/{name}": array for name, array in self._gp.state().items()}
        return arrays | {"arm": self._arm, "sums": self._sums}, self._sparsifier.surplus

    def restore(
        self, arrays: dict[str, np.ndarray[Any, Any]], surplus: float, points: Points
    ) -> None:
        """Take over a saved state; ``points`` are all P, appended ones included."""
        self.points, self._arm, self._sums = points, arrays["arm"], arrays["sums"]
        arms = np.flatnonzero(self._arm >= 0)
        arms = arms[np.argsort(self._arm[arms])]
        mine = {name[3:]: array for name, array in arrays.items() if name.startswith("gp/")}
        self._gp.restore(mine, points[arms])
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

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""
        Z, residual = self._local._features(points)
        leverage = self._view.at_points(Z, points, residual)
        return Z @ self._local._gp.theta, self._local.lam * leverage
