"""How fast features change with distance, for kernels of the scaled distance alone.

Such a kernel is k(x, y) = κ(r²), r the distance divided by the lengthscale(s). With φ(x) = k(x, ·):

- ‖φ(x + h) − φ(x)‖² = 2κ(0) − 2κ(r²),
- ⟨Dφ(x)h, Dφ(x)g⟩ = −2κ′(0) Σ h_i g_i / lengthscale_i²,
- ‖φ(x + h) − φ(x) − Dφ(x)h‖² = 2κ(0) − 2κ(r²) − 2κ′(0)r² + 4r²κ′(r²).

All three grow with r, because κ is convex and its slope rises.
"""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats
from noregret.kernels.base import Kernel
from noregret.kernels.composed import Scaled
from noregret.kernels.matern import Matern
from noregret.kernels.rbf import RBF

#: kernels of the scaled distance alone
Stationary = RBF | Matern

#: round-off of the differences above, as a share of κ(0)
_ROUND_OFF = 1e-14


@dataclass(frozen=True)
class Profile:
    """κ of a kernel of the scaled distance alone.

    Attributes
    ----------
    kernel, factor
        κ is that of this kernel times the factor.
    """

    kernel: Stationary
    factor: float = 1.0

    @property
    def lengthscale(self) -> Floats:
        """One number, or one per dimension."""
        return np.asarray(self.kernel.lengthscale, dtype=np.float64)

    @property
    def smooth(self) -> bool:
        """Whether φ has a derivative: κ′(0) is finite."""
        return isinstance(self.kernel, RBF) or self.kernel.nu > 1.0

    @property
    def first_slope(self) -> float:
        """κ′(0), for smooth kernels."""
        return self.factor * float(self.kernel.slope(np.zeros(1))[0])

    def moved(self, squares: Floats) -> Floats:
        """‖φ(x + h) − φ(x)‖ at these r² (n)."""
        return self._root(2.0 * (self._value(np.zeros(1)) - self._value(squares)))

    def bent(self, squares: Floats) -> Floats:
        """‖φ(x + h) − φ(x) − Dφ(x)h‖ at these r² (n), for smooth kernels."""
        slopes = self.factor * self.kernel.slope(squares)
        fallen = 2.0 * (self._value(np.zeros(1)) - self._value(squares))
        return self._root(fallen + squares * (4.0 * slopes - 2.0 * self.first_slope))

    def _value(self, squares: Floats) -> Floats:
        return self.factor * self.kernel.of_squared(squares.copy())

    def _root(self, squares: Floats) -> Floats:
        """The square root, with room for round-off."""
        return np.sqrt(np.maximum(squares, 0.0) + _ROUND_OFF * float(self._value(np.zeros(1))[0]))


def profile_of(kernel: Kernel) -> Profile | None:
    """The profile of RBF, Matérn and their multiples; ``None`` for other kernels."""
    if isinstance(kernel, Scaled):
        inner = profile_of(kernel.kernel)
        return inner and Profile(inner.kernel, kernel.variance * inner.factor)
    return Profile(kernel) if isinstance(kernel, (RBF, Matern)) else None
