"""The kernel for categories: it counts the columns in which two points differ."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel, check_rows


class Hamming(Kernel):
    """exp(−Σ w_j [x_j ≠ y_j]): every column in which two points differ costs its weight.

    A weight near 0 means that the column does not matter. A large weight means that points with
    different categories have nothing in common.

    Parameters
    ----------
    weight
        One number above 0 for all columns, or one per column.
    """

    def __init__(self, weight: Any = 1.0) -> None:
        self.weight = _checks.one_or_more("weight", weight, "column")

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        check_rows("Hamming needs", X, Y)
        cost = np.zeros((len(X), len(Y)))
        for column, weight in enumerate(self._weights(X)):
            cost += weight * self.differ(X, Y, column)
        return np.asarray(np.exp(-cost))

    def _weights(self, X: Points) -> list[float]:
        """One weight per column."""
        if X.ndim != 2:
            raise TypeError("Hamming needs an n × d array of numbers, not objects")
        if not isinstance(self.weight, list):
            return [self.weight] * X.shape[1]
        if X.shape[1] != len(self.weight):
            raise ValueError(
                f"weight has {len(self.weight)} entries but points have {X.shape[1]} columns"
            )
        return self.weight

    @staticmethod
    def differ(X: Points, Y: Points, column: int) -> Floats:
        """1 where two points differ in a column, else 0 (n × m)."""
        return np.not_equal.outer(X[:, column], Y[:, column]).astype(np.float64)

    @property
    def constant(self) -> float:
        """k(x, x) = 1."""
        return 1.0

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d): zero, categories do not move."""
        return np.zeros((len(X), len(Y), X.shape[1]))

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d): zero."""
        return np.zeros(X.shape)

    def contractions(self, X: Points, weighted: Floats) -> list[float]:
        """Σ_ij W_ij ∂k(x_i, x_j)/∂log w for every weight w.

        ``weighted`` is W_ij k(x_i, x_j) (n × n, symmetric).
        """
        own = [
            -weight * float(np.sum(weighted * self.differ(X, X, column)))
            for column, weight in enumerate(self._weights(X))
        ]
        return own if isinstance(self.weight, list) else [sum(own)]
