"""The BKB approximation of a GP over a finite list, updated incrementally.

Features are those of a dictionary S of inducing points, z(x) = L⁻¹k_S(x) with K_S = L Lᵀ. They
span the same space as the papers' K_S^(-1/2) k_S(x), so mean and variance are the same, but old
features stay as they are when the dictionary grows. With V = Σ z zᵀ + λI over all evaluations told
(BKB eq. 4, BBKB eqs. 1 to 3)

    mean(x) = zᵀV⁻¹ Zᵀy,    variance(x) = k(x, x) − ‖z‖² + λ zᵀV⁻¹z,    leverage = variance / λ.

A dictionary that holds every evaluated arm makes this the exact GP.
"""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.root import InverseRoot
from noregret.models.table import FeatureTable, Update


class SparseGP:
    """Posterior of a GP over a list of candidates, on a dictionary of inducing points.

    Parameters
    ----------
    kernel, lam
        The prior covariance and the regularisation λ.
    points, prior
        The candidates (A × d, or A objects) and k(x, x) of each; none (0 × d) for a box.
    scale
        The largest k(x, x), for a box.

    Attributes
    ----------
    table
        The candidates' features, means and leverages (A rows).
    arms
        The same for the arms asked for or told so far (u rows, those of the observations).
    dictionary
        Rows of ``arms`` that are inducing points (m).
    counts
        Evaluations of each arm that the posterior holds (u).
    root
        F with V⁻¹ = FFᵀ.
    """

    def __init__(
        self, kernel: Kernel, lam: float, points: Points, prior: Floats, scale: float = 0.0
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.table = FeatureTable(points, prior)
        self.arms = FeatureTable(points[:0], prior[:0], block_rows=np.iinfo(np.int64).max)
        self.dictionary: Ints = np.empty(0, dtype=np.int64)
        self.counts: Floats = np.empty(0)
        self.root = InverseRoot(lam)
        self.theta: Floats = np.empty(0)  # V⁻¹Zᵀy
        self._target: Floats = np.empty(0)  # Zᵀy
        self._sums: Floats = np.empty(0)  # rewards in it, by arm
        self._whole = True  # False while an update is under way, or after one was interrupted
        # Directions with less prior variance than this outside the span are round-off (or, for a
        # tiny λ, too small to matter beside it).
        scale = float(prior.max(initial=scale))
        self.tolerance = float(np.clip(1e-3 * lam, 1e-13 * scale, 1e-10 * scale))

    @property
    def size(self) -> int:
        """m, the number of inducing points."""
        return len(self.dictionary)

    @property
    def sums(self) -> Floats:
        """Sums of the rewards that the posterior holds, by arm (u)."""
        return self._sums

    def log_det(self) -> float:
        """log det(V/λ): log det(K_t/λ + I) on the dictionary's span."""
        return self.root.log_det

    def log_det_bound(self) -> float:
        """An upper bound on log det(K_t/λ + I), tight for an exact dictionary.

        K = Z Zᵀ + R with R positive semi-definite, so log det(I + K/λ) ≤ log det(V/λ) + tr(R)/λ.
        """
        return self.root.log_det + float(self.counts @ self.arms.residual) / self.lam

    def effective_dimension(self) -> float:
        """Σ leverage over the evaluations told (BKB eq. 5)."""
        return float(self.counts @ self.arms.leverage(self.lam))

    def embed(self, points: Points) -> Floats:
        """z of any points (n × m)."""
        if not self.size:
            return np.empty((len(points), 0))
        own = self.arms.features(self.dictionary)
        cross = self.kernel(self.arms.points[self.dictionary], points)
        return np.asarray(solve_triangular(own, cross, lower=True, check_finite=False).T)

    def adopt(self, arms: FeatureTable) -> None:
        """Start from another model's arms; :meth:`rebuild` gives them a posterior."""
        self.arms = FeatureTable(arms.points, arms.prior, block_rows=np.iinfo(np.int64).max)
        self.counts = np.zeros(len(arms))
        self._sums = np.zeros(len(arms))

    def see(self, ids: Ints) -> None:
        """Take in arms not seen before, by their ids in the current list."""
        if len(ids):
            self._take_in(self.table, ids)

    def see_points(self, points: Points, prior: Floats) -> None:
        """Take in arms not seen before that are not on the list: points, and k(x, x) of each."""
        table = FeatureTable(points, prior)
        table.refill(self.embed, self.size)
        table.recompute(self.root.matrix, self.theta)
        self._take_in(table, np.arange(len(points)))

    def _take_in(self, table: FeatureTable, rows: Ints) -> None:
        self.arms.append(table, rows)
        zeros = np.zeros(len(rows))
        self._sums = np.concatenate([self._sums, zeros])
        self.counts = np.concatenate([self.counts, zeros])

    def advance(self, counts: Ints, sums: Floats, grow: Ints) -> None:
        """Follow the observations: evaluations told and sums of rewards by arm (u each).

        ``grow`` are arms to add to the dictionary; those already in its span are passed over.
        O(A m (k + 2Δ + 1)) for k arms with new rewards and Δ new inducing points.
        """
        more = counts - self.counts
        rows = np.flatnonzero(more)
        grow = np.setdiff1d(grow, self.dictionary)
        if self._whole:  # most arms of a smooth kernel are soon in the span
            grow = grow[self.arms.residual[grow] > self.tolerance]
        if not self._whole or 2 * len(rows) + len(grow) > self.size + 64:
            # Interrupted, or cheaper in one go than by that many rank-one steps.
            dictionary = np.concatenate([self.dictionary, grow])
            self.rebuild(counts, sums, dictionary, keep=self._whole)
            return
        self._whole = False
        update = Update(theta=self.theta)
        if len(rows):
            weighted = self.arms.features(rows) * np.sqrt(more[rows])[:, None]
            update.rank = self.root.add_rows(weighted)
        change = sums - self._sums
        moved = np.flatnonzero(change)
        self._target = self._target + change[moved] @ self.arms.features(moved)
        self.counts = counts.astype(np.float64)
        self._sums = sums.copy()
        if len(grow):
            self._grow(grow, update)
        update.theta = self.theta = self.root.solve(self._target)
        self.arms.apply(self.kernel, update)
        self.table.apply(self.kernel, update)
        self._whole = True
        if self.root.updates > 4 * self.size + 256:
            self.refresh()

    def _grow(self, rows: Ints, update: Update) -> None:
        """Border V with new inducing points and say how every row gets its new features."""
        points = self.arms.points[rows]
        old = self.arms.features(rows)
        lower, kept = pivoted_cholesky(self.kernel(points, points) - old @ old.T, self.tolerance)
        k = len(kept)
        if not k:
            return
        update.new_points = points[kept]
        update.border_inverse = solve_triangular(lower, np.eye(k), lower=True, check_finite=False)
        update.border = update.border_inverse @ old[kept]
        fresh = self.arms.new_features(self.kernel, update)
        weighted = fresh * self.counts[:, None]
        cross = self.arms.all_features().T @ weighted
        solved, schur = self.root.add_columns(cross, weighted.T @ fresh + self.lam * np.eye(k))
        update.columns_inverse = solve_triangular(schur, np.eye(k), lower=True, check_finite=False)
        update.columns = update.columns_inverse @ solved.T
        self._target = np.concatenate([self._target, self._sums @ fresh])
        self.dictionary = np.concatenate([self.dictionary, rows[kept]])

    def rebuild(self, counts: Ints, sums: Floats, dictionary: Ints, keep: bool = False) -> None:
        """Everything from scratch on a dictionary of rows of ``arms``: O(A m² + m³).

        With ``keep`` the features of the current dictionary stay, and only those of what
        ``dictionary`` adds are computed.
        """
        self._whole = False
        old = self.dictionary if keep else np.empty(0, dtype=np.int64)
        added = np.setdiff1d(dictionary, old)
        if len(added) or not keep:
            points = self.arms.points[added]
            gram = self.kernel(points, points) if len(added) else np.empty((0, 0))
            if keep:
                features = self.arms.features(added)
                gram = gram - features @ features.T
            lower, kept = pivoted_cholesky(gram, self.tolerance)
            self._extend_features(points[kept], added[kept], lower, keep)
        self.counts = counts.astype(np.float64)
        self._sums = sums.copy()
        self.refresh()
        self._whole = True

    def _extend_features(self, points: Points, rows: Ints, lower: Floats, keep: bool) -> None:
        """Features of new inducing points for all rows, beside the old ones or in their place."""
        if keep and self.size:
            k = len(rows)
            inverse = solve_triangular(lower, np.eye(k), lower=True, check_finite=False)
            border = inverse @ self.arms.features(rows)
            zeros = np.zeros((k, self.size))
            update = Update(
                theta=np.zeros(self.size + k),
                new_points=points,
                border=border,
                border_inverse=inverse,
                columns=zeros,
                columns_inverse=np.eye(k),
            )
            self.arms.apply(self.kernel, update)
            self.table.apply(self.kernel, update)
            self.dictionary = np.concatenate([self.dictionary, rows])
            return

        def embed(block: Points) -> Floats:
            if not len(rows):
                return np.empty((len(block), 0))
            cross = self.kernel(points, block)
            return np.asarray(solve_triangular(lower, cross, lower=True, check_finite=False).T)

        self.arms.refill(embed, len(rows))
        self.table.refill(embed, len(rows))
        self.dictionary = rows

    def refresh(self) -> None:
        """Recompute V, its root, leverages and means from the features: no drift. O(A m²)."""
        features = self.arms.all_features()
        V = features.T @ (features * self.counts[:, None])
        V[np.diag_indices_from(V)] += self.lam
        self.root = InverseRoot.from_gram(V, self.lam)
        self._target = self._sums @ features
        self.theta = self.root.solve(self._target)
        self.arms.recompute(self.root.matrix, self.theta)
        self.table.recompute(self.root.matrix, self.theta)

    def set_theta(self, theta: Floats) -> None:
        """Means from other weights (m) than those of least squares, until the next update."""
        self.theta = theta
        update = Update(theta=theta)
        self.arms.apply(self.kernel, update)
        self.table.apply(self.kernel, update)

    def replace_candidates(self, points: Points, prior: Floats) -> None:
        """Another list: its features and posterior, O(A m²); what is known of the arms stays."""
        table = FeatureTable(points, prior)
        table.refill(self.embed, self.size)
        table.recompute(self.root.matrix, self.theta)
        self.table = table

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Everything that :meth:`restore` takes, as arrays."""
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "dictionary": self.dictionary,
            "counts": self.counts,
            "theta": self.theta,
            "target": self._target,
            "sums": self._sums,
            "whole": np.array(self._whole),
        }
        for name, part in self._parts():
            arrays |= {f"{name}/{key}": value for key, value in part.state().items()}
        return arrays

    def restore(self, arrays: dict[str, np.ndarray[Any, Any]], points: Points) -> None:
        """Take over a saved state; ``points`` are at least the arms' points."""
        self.dictionary = arrays["dictionary"]
        self.counts = arrays["counts"]
        self.theta = arrays["theta"]
        self._target = arrays["target"]
        self._sums = arrays["sums"]
        self._whole = bool(arrays["whole"])
        self.arms.points = points[: len(self.counts)]
        parts = {
            name: {k[len(name) + 1 :]: v for k, v in arrays.items() if k.startswith(f"{name}/")}
            for name, _ in self._parts()
        }
        self.root = InverseRoot.restore(parts["root"], self.lam)
        self.table.restore(parts["table"])
        self.arms.restore(parts["arms"])

    def _parts(self) -> list[tuple[str, InverseRoot | FeatureTable]]:
        return [("root", self.root), ("table", self.table), ("arms", self.arms)]


def pivoted_cholesky(matrix: Floats, tolerance: float) -> tuple[Floats, Ints]:
    """The lower factor of the leading rows and columns in pivot order, and which rows those are.

    Pivots below ``tolerance`` (dependent points, duplicates) are dropped.
    """
    if len(matrix) <= 1:
        kept = np.flatnonzero(matrix.diagonal() > tolerance)
        return np.sqrt(matrix[np.ix_(kept, kept)]), kept
    factor, pivots, rank, _ = dpstrf(np.asfortranarray(matrix), tol=tolerance, lower=1)
    return np.tril(factor[:rank, :rank]), (pivots[:rank] - 1).astype(np.int64)
