"""The posterior variance as the next batch sees it: told evaluations and pending ones.

Pending points shrink the variance and never move the mean. The dictionary stays as it is while
feedback is awaited, so what a pending arm would teach outside its span is carried by features of
its own: with e(x) = L⁻¹(k_P(x) − Z_P z(x)) for the pending arms P, (z, e) spans them as well.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from noregret._types import Floats, Ints, Points
from noregret.linalg.root import safe_cholesky
from noregret.models.sparse import SparseGP, pivoted_cholesky
from noregret.models.table import row_products


@dataclass(frozen=True)
class Block:
    """Candidates with their features (k × m), points and coordinates b (k × n)."""

    Z: Floats
    points: Points
    b: Floats

    def joined(self, other: "Block") -> "Block":
        """This block and another below it."""
        return Block(
            np.concatenate([self.Z, other.Z]),
            np.concatenate([self.points, other.points]),
            np.concatenate([self.b, other.b]),
        )


class PosteriorView:
    """Leverages of all candidates given told and pending evaluations.

    Parameters
    ----------
    model
        The posterior of what has been told.
    pending
        Pending evaluations of each of the model's arms (u).
    frozen
        Whether picks made from here on shrink variances only inside the dictionary's span, as in a
        batch of BBKB; otherwise they do so exactly.

    Attributes
    ----------
    told
        Leverage from what has been told only (A).
    leverage
        Leverage with the pending points (A; the same array where there are none).
    """

    def __init__(self, model: SparseGP, pending: Ints, frozen: bool = False) -> None:
        self.model = model
        self.frozen = frozen
        self._points: Points = model.arms.points[:0]
        self._lower: Floats = np.empty((0, 0))
        self._features: Floats = np.empty((0, model.size))
        self._fall: Floats = np.empty((0, model.size))  # leverages fall by ‖_fall b(x)‖²
        self.told = model.table.leverage(model.lam)
        self.leverage = self.told
        rows = np.flatnonzero(pending)
        if len(rows):
            self._condition(rows, pending[rows])

    def block(self, ids: Ints) -> "Block":
        """Some candidates, ready for :meth:`covariance`."""
        Z, points = self.model.table.features(ids), self.model.table.points[ids]
        return Block(Z, points, self._coordinates(Z, points))

    def covariance(self, one: "Block", two: "Block") -> Floats:
        """Covariances of two blocks (k × l), the part that evaluating candidates shrinks.

        Evaluating candidate j takes s_i²/(1 + s_j) from the leverage of i, s its covariances.
        """
        if self.frozen:
            covariance = one.b @ two.b.T
        else:
            m = self.model.size
            outside = self.model.kernel(one.points, two.points) - one.Z @ two.Z.T
            covariance = one.b[:, :m] @ two.b[:, :m].T + outside / self.model.lam
        if len(self._fall):
            covariance -= (one.b @ self._fall.T) @ (two.b @ self._fall.T).T
        return np.asarray(covariance)

    def at_points(
        self, Z: Floats, points: Points, residual: Floats, b: Floats | None = None
    ) -> Floats:
        """Leverage at any points with their features (n × m), residuals (n) and coordinates b."""
        if b is None:
            b = self._coordinates(Z, points)
        inside = self.model.size
        values = residual / self.model.lam + np.einsum("ij,ij->i", b[:, :inside], b[:, :inside])
        if len(self._fall):
            values -= np.square(b @ self._fall.T).sum(axis=1)
        return np.asarray(np.maximum(values, 0.0))

    def _condition(self, rows: Ints, counts: Ints) -> None:
        """Count evaluations of these arms, with features of their own outside the span."""
        features, points = self.model.arms.features(rows), self.model.arms.points[rows]
        outside = self.model.kernel(points, points) - features @ features.T
        self._lower, kept = pivoted_cholesky(outside, self.model.tolerance)
        self._points, self._features = points[kept], features[kept]
        b = self._coordinates(features, points) * np.sqrt(counts)[:, None]
        lower = safe_cholesky(b @ b.T + np.eye(len(b)))
        self._fall = np.asarray(solve_triangular(lower, b, lower=True, check_finite=False))
        self.leverage = np.maximum(self.told - self._falls(self._fall), 0.0)

    def _coordinates(self, Z: Floats, points: Points) -> Floats:
        """b = (Fᵀz, e/√λ): the leverage inside their span is ‖b‖² (n × (m + |P|))."""
        inside = Z @ self.model.root.matrix
        if not len(self._points):
            return inside
        return np.concatenate([inside, self._outside(Z, points)], axis=1)

    def _outside(self, Z: Floats, points: Points) -> Floats:
        """e/√λ (n × |P|)."""
        cross = self.model.kernel(self._points, points) - self._features @ Z.T
        solved = solve_triangular(self._lower, cross, lower=True, check_finite=False)
        return np.asarray(solved.T / np.sqrt(self.model.lam))

    def _falls(self, fall: Floats) -> Floats:
        """‖fall b(x)‖² of every candidate (A): a pass over Z."""
        m = self.model.size
        inside = fall[:, :m] @ self.model.root.matrix.T
        outside = fall[:, m:]

        def work(Z: Floats, points: Points) -> Floats:
            products = row_products(Z, inside)
            if outside.shape[1]:
                products = products + self._outside(Z, points) @ outside.T
            return np.asarray(np.einsum("ij,ij->i", products, products))

        return self.model.table.map_rows(work, len(fall) * max(m, 8))

    def told_covariance(self, id_: int) -> Floats:
        """k̃ of BBKB eq. 2 between every candidate and one of them, told evaluations only (A)."""
        model = self.model
        z = model.table.features(np.array([id_]))[0]
        direction = z / model.lam - model.root.solve(z)
        point = model.table.points[id_ : id_ + 1]

        def work(Z: Floats, points: Points) -> Floats:
            return np.asarray(model.kernel(point, points)[0] / model.lam - Z @ direction)

        return model.table.map_rows(work, max(model.size, 8))
