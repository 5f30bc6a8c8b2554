"""The Gaussian kernel."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel
from noregret.kernels.distances import by_strips, gradient, pullback, scaled_squares


class RBF(Kernel):
    """The Gaussian kernel, variance · exp(−r²/2), r the distance divided by the lengthscale(s).

    Parameters
    ----------
    lengthscale
        One number, or one per dimension.
    variance
        k(x, x).
    """

    def __init__(self, lengthscale: Any = 1.0, variance: float = 1.0) -> None:
        self.lengthscale = _checks.one_or_more("lengthscale", lengthscale, "dimension")
        self.variance = _checks.positive("variance", variance)

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        return self.of_squared(scaled_squares(X, Y, self.lengthscale))

    @property
    def constant(self) -> float:
        """k(x, x), the same for every x."""
        return self.variance

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d)."""
        return gradient(self, X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return pullback(self, X, Y, weights)

    def of_squared(self, squared: Floats) -> Floats:
        """k at squared scaled distances r², which are overwritten."""
        return by_strips(self._in_place, squared)

    def _in_place(self, squared: Floats) -> None:
        """variance · exp(−r²/2) in place of r²."""
        squared *= -0.5
        np.exp(squared, out=squared)
        if self.variance != 1.0:
            squared *= self.variance

    def slope(self, squared: Floats) -> Floats:
        """dk/d(r²) = −k/2."""
        return -0.5 * self.of_squared(squared.copy())

    def with_slope(self, squared: Floats) -> tuple[Floats, Floats]:
        """k and dk/d(r²) at squared scaled distances r²."""
        values = self.of_squared(squared.copy())
        return values, -0.5 * values
