"""Kernels made of others: multiples, sums and products."""

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel


class Scaled(Kernel):
    """``variance`` times a kernel."""

    def __init__(self, kernel: Kernel, variance: float) -> None:
        self.kernel = kernel
        self.variance = _checks.positive("variance", variance)

    @property
    def takes_bits(self) -> bool:
        """Whether points may be packed bits."""
        return self.kernel.takes_bits

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix."""
        return self.variance * self.kernel(X, Y)

    def diag(self, X: Points) -> Floats:
        """The n values on the diagonal."""
        return self.variance * self.kernel.diag(X)

    @property
    def constant(self) -> float | None:
        """k(x, x) where it is known to be the same for every x, else ``None``."""
        one = self.kernel.constant
        return None if one is None else self.variance * one

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d)."""
        return self.variance * self.kernel.gradient(X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return self.variance * self.kernel.pullback(X, Y, weights)

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        return self.variance * self.kernel.diag_gradient(X)


class Sum(Kernel):
    """k1(x, y) + k2(x, y)."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def takes_bits(self) -> bool:
        """Whether points may be packed bits."""
        return self.left.takes_bits and self.right.takes_bits

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix."""
        return self.left(X, Y) + self.right(X, Y)

    def diag(self, X: Points) -> Floats:
        """The n values on the diagonal."""
        return self.left.diag(X) + self.right.diag(X)

    @property
    def constant(self) -> float | None:
        """k(x, x) where it is known to be the same for every x, else ``None``."""
        one, two = self.left.constant, self.right.constant
        return None if one is None or two is None else one + two

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d)."""
        return self.left.gradient(X, Y) + self.right.gradient(X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return self.left.pullback(X, Y, weights) + self.right.pullback(X, Y, weights)

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        return self.left.diag_gradient(X) + self.right.diag_gradient(X)


class Product(Kernel):
    """k1(x, y) · k2(x, y)."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def takes_bits(self) -> bool:
        """Whether points may be packed bits."""
        return self.left.takes_bits and self.right.takes_bits

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix."""
        return self.left(X, Y) * self.right(X, Y)

    def diag(self, X: Points) -> Floats:
        """The n values on the diagonal."""
        return self.left.diag(X) * self.right.diag(X)

    @property
    def constant(self) -> float | None:
        """k(x, x) where it is known to be the same for every x, else ``None``."""
        one, two = self.left.constant, self.right.constant
        return None if one is None or two is None else one * two

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d)."""
        one = self.left.gradient(X, Y) * self.right(X, Y)[:, :, None]
        return np.asarray(one + self.right.gradient(X, Y) * self.left(X, Y)[:, :, None])

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        one = self.left.pullback(X, Y, weights * self.right(X, Y))
        return one + self.right.pullback(X, Y, weights * self.left(X, Y))

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        one = self.left.diag_gradient(X) * self.right.diag(X)[:, None]
        return np.asarray(one + self.right.diag_gradient(X) * self.left.diag(X)[:, None])
