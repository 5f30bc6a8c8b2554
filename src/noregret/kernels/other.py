"""Linear and precomputed kernels."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel, check_rows


class Linear(Kernel):
    """variance · (xᵀy + offset): linear bandits."""

    def __init__(self, variance: float = 1.0, offset: float = 0.0) -> None:
        self.variance = _checks.positive("variance", variance)
        self.offset = _checks.not_negative("offset", offset)

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        check_rows("Linear needs", X, Y)
        return np.asarray(self.variance * (X @ Y.T + self.offset))

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x)."""
        return np.asarray(self.variance * (np.einsum("ij,ij->i", X, X) + self.offset))

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d)."""
        return np.repeat(self.variance * Y[None], len(X), axis=0)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return np.asarray(self.variance * (weights @ Y))

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        return 2.0 * self.variance * X


class Precomputed(Kernel):
    """A kernel given by its matrix: points are row numbers, ``Candidates(range(n))``.

    Parameters
    ----------
    matrix
        n × n, symmetric and positive semi-definite (an empirical covariance, say).
    """

    def __init__(self, matrix: Any) -> None:
        array = np.array(matrix, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ValueError(f"matrix must be square, got shape {array.shape}")
        if not np.all(np.isfinite(array)):
            raise ValueError("matrix must be finite")
        if not np.allclose(array, array.T, rtol=1e-8, atol=1e-10 * np.abs(array).max(initial=0.0)):
            raise ValueError("matrix must be symmetric")
        self.matrix: Floats = (array + array.T) / 2

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        return np.asarray(self.matrix[np.ix_(self._index(X), self._index(Y))])

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x)."""
        return np.asarray(self.matrix.diagonal()[self._index(X)])

    def _index(self, X: Points) -> Any:
        if X.ndim != 2 or X.shape[1] != 1:
            raise ValueError(
                "Precomputed needs points that are row numbers of its matrix: Candidates(range(n))"
            )
        index = X[:, 0].astype(np.int64)
        if np.any(index != X[:, 0]) or np.any(index < 0) or np.any(index >= len(self.matrix)):
            raise ValueError(f"points must be row numbers 0..{len(self.matrix) - 1} of the matrix")
        return index

    def __repr__(self) -> str:
        return f"Precomputed({len(self.matrix)} × {len(self.matrix)})"
