"""A kernel that looks at some columns of the points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel


class Columns(Kernel):
    """A kernel of some of the columns: ``Columns(Matern(0.3), [0, 2])``.

    Products of such kernels describe points whose columns mean different things.

    Parameters
    ----------
    kernel
        The kernel; it sees points that have only these columns, in this order.
    columns
        The numbers of the columns, counted from 0.
    """

    def __init__(self, kernel: Kernel, columns: Sequence[int]) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a kernel, got {kernel!r}")
        given = np.asarray(columns)
        if given.ndim != 1 or given.dtype.kind not in "iu" or not len(given) or given.min() < 0:
            raise ValueError(f"columns must be numbers of columns from 0, got {columns!r}")
        if len(set(given.tolist())) < len(given):
            raise ValueError(f"columns must all be different, got {columns!r}")
        self.kernel = kernel
        self.columns: list[int] = given.tolist()

    def of(self, X: Points) -> Any:
        """The columns of points (n × d) that the kernel looks at."""
        if X.ndim != 2 or X.shape[1] <= max(self.columns):
            raise ValueError(
                f"columns are up to {max(self.columns)}, but points have shape {X.shape}"
            )
        return X[:, self.columns]

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        return self.kernel(self.of(X), self.of(Y))

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x)."""
        return self.kernel.diag(self.of(X))

    @property
    def constant(self) -> float | None:
        """k(x, x) where it is known to be the same for every x, else ``None``."""
        return self.kernel.constant

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d): zero in other columns."""
        out = np.zeros((len(X), len(Y), X.shape[1]))
        out[:, :, self.columns] = self.kernel.gradient(self.of(X), self.of(Y))
        return out

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        out = np.zeros(X.shape)
        out[:, self.columns] = self.kernel.pullback(self.of(X), self.of(Y), weights)
        return out

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        out = np.zeros(X.shape)
        out[:, self.columns] = self.kernel.diag_gradient(self.of(X))
        return out
