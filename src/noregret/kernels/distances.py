"""Distances between points, and what kernels of the distance alone share."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import check_rows

#: up to this many dimensions exact differences are as fast as a matrix product
_DIRECT_DIMENSIONS = 16
#: numbers that are worked on at a time, so that they and what is computed of them stay in cache
_STRIP = 8192


class OfDistance(Protocol):
    """A kernel of r² alone, r the distance divided by the lengthscale(s)."""

    lengthscale: float | list[float]

    def slope(self, squared: Floats) -> Floats:
        """dk/d(r²)."""


def squared_distances(X: Points, Y: Points) -> Floats:
    """‖x − y‖² for all rows of X (n × d) and Y (m × d), exactly 0 for equal rows.

    In many dimensions ‖x‖² + ‖y‖² − 2xᵀy is one matrix product, but it loses all digits where x and
    y nearly agree; those few pairs are computed again from their difference.
    """
    if X.shape[1] <= _DIRECT_DIMENSIONS:
        from scipy.spatial.distance import cdist  # slow to import, and telling does not need it

        if len(Y) < len(X):  # the inner loop runs over the second argument
            return np.asarray(cdist(Y, X, "sqeuclidean").T)
        return np.asarray(cdist(X, Y, "sqeuclidean"))
    scale = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
    squared: Floats = scale - 2.0 * (X @ Y.T)
    rows, columns = np.nonzero(squared < 1e-6 * scale)
    for start in range(0, len(rows), 65536):
        i, j = rows[start : start + 65536], columns[start : start + 65536]
        squared[i, j] = np.square(X[i] - Y[j]).sum(axis=1)
    return squared


def scaled_squares(X: Points, Y: Points, lengthscale: float | list[float]) -> Floats:
    """Squared distances r² after division by the lengthscale(s), one or one per dimension."""
    check_rows("RBF and Matern need", X, Y)
    if isinstance(lengthscale, list):
        if X.shape[1] != len(lengthscale):
            raise ValueError(
                f"lengthscale has {len(lengthscale)} entries but points have "
                f"{X.shape[1]} dimensions"
            )
        scales = np.asarray(lengthscale)
        return squared_distances(X / scales, Y / scales)
    squared = squared_distances(X, Y)
    squared /= lengthscale**2
    return squared


def own_squares(X: Points, lengthscale: float | list[float]) -> Floats:
    """r² of all pairs of rows of X (n × d), each pair once: n(n − 1)/2, in SciPy's order."""
    from scipy.spatial.distance import pdist, squareform

    direct = X.ndim == 2 and X.shape[1] <= _DIRECT_DIMENSIONS
    if direct and (not isinstance(lengthscale, list) or len(lengthscale) == X.shape[1]):
        return np.asarray(pdist(X / np.asarray(lengthscale), "sqeuclidean"))
    return np.asarray(squareform(scaled_squares(X, X, lengthscale), checks=False))


def gradient(kernel: OfDistance, X: Points, Y: Points) -> Floats:
    """∂k(x, y)/∂x (n × m × d) by dk/d(r²)."""
    slope = 2.0 * kernel.slope(scaled_squares(X, Y, kernel.lengthscale))
    return np.asarray(slope[:, :, None] * (X[:, None] - Y[None]) / np.square(kernel.lengthscale))


def pullback(kernel: OfDistance, X: Points, Y: Points, weights: Floats) -> Floats:
    """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d): two matrix products."""
    slope = 2.0 * weights * kernel.slope(scaled_squares(X, Y, kernel.lengthscale))
    total = X * slope.sum(axis=1)[:, None] - slope @ Y
    return np.asarray(total / np.square(kernel.lengthscale))


def by_strips(change: Callable[[Floats], None], values: Floats) -> Floats:
    """Let a function change numbers in place, a strip of them at a time."""
    if values.size <= _STRIP:
        change(values)
        return values
    if not values.flags.forc:
        values = np.ascontiguousarray(values)
    flat = values.ravel(order="K")  # a view, whether rows or columns lie together
    for start in range(0, len(flat), _STRIP):
        change(flat[start : start + _STRIP])
    return values
