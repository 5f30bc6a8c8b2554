"""A kernel that looks at columns and at the logarithms of some of them."""

from collections.abc import Sequence

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel


class WithLogs(Kernel):
    """A kernel of points to which the logarithms of some columns are added.

    It is for columns that span decades. A function may follow the values or their logarithms, and
    the lengthscales that a fit finds say which.

    Parameters
    ----------
    kernel
        The kernel; it sees the d columns of a point and then the logarithms.
    columns
        The numbers of the columns whose logarithms are added, counted from 0.
    floors
        For each of these columns a number above 0: smaller values count as this one.
    """

    def __init__(self, kernel: Kernel, columns: Sequence[int], floors: Sequence[float]) -> None:
        if len(columns) != len(floors) or not all(floor > 0.0 for floor in floors):
            raise ValueError(
                f"floors must be a number above 0 for each column of {columns!r}, got {floors!r}"
            )
        self.kernel = kernel
        self.columns = list(columns)
        self.floors = list(floors)

    def of(self, X: Points) -> Points:
        """The points that the kernel sees (n × (d + k)), for points (n × d)."""
        return np.column_stack([X, np.log(np.maximum(X[:, self.columns], self.floors))])

    def back(self, X: Points, gradient: Floats) -> Floats:
        """The gradient by points (… × d), from the one by what the kernel sees (… × (d + k)).

        X has a point (n × d) for each row of the gradient's first axis.
        """
        values = X[:, self.columns]
        slopes = np.where(values > self.floors, 1.0 / np.maximum(values, self.floors), 0.0)
        d = X.shape[1]
        out = gradient[..., :d].copy()
        between = (1,) * (gradient.ndim - 2)
        out[..., self.columns] += gradient[..., d:] * slopes.reshape(len(X), *between, -1)
        return out

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
        """∂k(x, y)/∂x (n × m × d)."""
        return self.back(X, self.kernel.gradient(self.of(X), self.of(Y)))

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return self.back(X, self.kernel.pullback(self.of(X), self.of(Y), weights))

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        return self.back(X, self.kernel.diag_gradient(self.of(X)))


def seen_by(kernel: Kernel, X: Points) -> Points:
    """The points whose columns the lengthscales of a kernel belong to (n × d, or more columns)."""
    return kernel.of(X) if isinstance(kernel, WithLogs) else X


def names_seen_by(kernel: Kernel, names: Sequence[str]) -> list[str]:
    """What these columns are called, for the names of the points' columns (d)."""
    logs = kernel.columns if isinstance(kernel, WithLogs) else []
    return [*names, *(f"log {names[i]}" for i in logs)]
