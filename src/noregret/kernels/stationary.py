"""Kernels of the distance between two points: RBF and Matérn."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel

#: up to this many dimensions exact differences are as fast as a matrix product
_DIRECT_DIMENSIONS = 16
#: from this ν on the Matérn kernel is computed by an expansion: Bessel functions overflow
_SMOOTH = 50.0
#: numbers that are worked on at a time, so that they and what is computed of them stay in cache
_STRIP = 8192


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
    if X.ndim != 2 or Y.ndim != 2:
        raise TypeError("RBF and Matern need points of numbers, not objects")
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


def _gradient(kernel: "Stationary", X: Points, Y: Points) -> Floats:
    """∂k(x, y)/∂x (n × m × d) by dk/d(r²)."""
    slope = 2.0 * kernel.slope(scaled_squares(X, Y, kernel.lengthscale))
    return np.asarray(slope[:, :, None] * (X[:, None] - Y[None]) / np.square(kernel.lengthscale))


def _pullback(kernel: "Stationary", X: Points, Y: Points, weights: Floats) -> Floats:
    """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d): two matrix products."""
    slope = 2.0 * weights * kernel.slope(scaled_squares(X, Y, kernel.lengthscale))
    total = X * slope.sum(axis=1)[:, None] - slope @ Y
    return np.asarray(total / np.square(kernel.lengthscale))


def _by_strips(change: Callable[[Floats], None], values: Floats) -> Floats:
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
        return _gradient(self, X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return _pullback(self, X, Y, weights)

    def of_squared(self, squared: Floats) -> Floats:
        """k at squared scaled distances r², which are overwritten."""
        return _by_strips(self._in_place, squared)

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


class Matern(Kernel):
    """The Matérn kernel of smoothness ``nu`` (any ν > 0; closed forms for 1/2, 3/2 and 5/2).

    Parameters
    ----------
    lengthscale
        One number, or one per dimension.
    nu
        ν: a drawn function has ⌈ν⌉ − 1 derivatives.
    variance
        k(x, x).
    """

    def __init__(self, lengthscale: Any = 1.0, nu: float = 2.5, variance: float = 1.0) -> None:
        self.lengthscale = _checks.one_or_more("lengthscale", lengthscale, "dimension")
        self.variance = _checks.positive("variance", variance)
        self.nu = _checks.positive("nu", nu)

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        return self.of_squared(scaled_squares(X, Y, self.lengthscale))

    @property
    def constant(self) -> float:
        """k(x, x), the same for every x."""
        return self.variance

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x (n × m × d)."""
        return _gradient(self, X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return _pullback(self, X, Y, weights)

    def of_squared(self, squared: Floats) -> Floats:
        """k at squared scaled distances r², which are overwritten."""
        if self.nu in (0.5, 1.5, 2.5):
            return _by_strips(self._in_place, squared)
        return self.variance * _matern(self.nu, np.sqrt(2.0 * self.nu * squared))

    def _in_place(self, r: Floats) -> None:
        """The closed form in place of r²."""
        np.sqrt(r, out=r)
        r *= math.sqrt(2.0 * self.nu)
        decay = np.exp(-r)
        factor = 1.0 + r if self.nu > 0.5 else 1.0
        if self.nu == 2.5:
            r *= r
            r /= 3.0
            factor += r
        np.multiply(decay, factor, out=r)
        if self.variance != 1.0:
            r *= self.variance

    def slope(self, squared: Floats) -> Floats:
        """dk/d(r²), from d/ds s^ν K_ν(s) = −s^ν K_{ν−1}(s); 0 where it is infinite."""
        r = np.sqrt(squared)
        if self.nu == 0.5:
            apart = r > 1e-12
            values = -0.5 * np.exp(-r) * apart / np.where(apart, r, 1.0)
        elif self.nu == 1.5:
            values = -1.5 * np.exp(-math.sqrt(3.0) * r)
        elif self.nu == 2.5:
            s = math.sqrt(5.0) * r
            values = (-5.0 / 6.0) * (1.0 + s) * np.exp(-s)
        else:
            values = self._general_slope(math.sqrt(2.0 * self.nu) * r)
        return np.asarray(self.variance * values)

    def with_slope(self, squared: Floats) -> tuple[Floats, Floats]:
        """k and dk/d(r²) at squared scaled distances r²."""
        if self.nu != 2.5:
            return self.of_squared(squared.copy()), self.slope(squared)
        s = np.sqrt(squared)
        s *= math.sqrt(5.0)
        decay = np.exp(-s)
        decay *= self.variance
        s += 1.0
        slope = decay * s
        # k = variance · (1 + s + s²/3) e^(−s), with s² = 5r²
        values = (5.0 / 3.0) * squared
        values += s
        values *= decay
        slope *= -5.0 / 6.0
        return values, slope

    def _general_slope(self, s: Floats) -> Floats:
        """−ν 2^(1−ν)/Γ(ν) s^(ν−1) K_{ν−1}(s), which tends to −ν/(2(ν−1)) as s → 0 for ν > 1."""
        if self.nu > 1.0:
            return -0.5 * self.nu / (self.nu - 1.0) * _matern(self.nu - 1.0, s)
        apart = s >= 1e-10
        s = np.where(apart, s, 1.0)
        from scipy.special import gamma, kv

        scale = self.nu * 2.0 ** (1.0 - self.nu) / gamma(self.nu)
        return np.asarray(-scale * s ** (self.nu - 1.0) * kv(1.0 - self.nu, s) * apart)


#: kernels of the distance alone
Stationary = RBF | Matern


def _matern(nu: float, s: Floats) -> Floats:
    """2^(1−ν)/Γ(ν) s^ν K_ν(s), which tends to 1 as s → 0 (where K_ν overflows)."""
    if nu > _SMOOTH:
        return _smooth_matern(nu, s)
    from scipy.special import gammaln, kve  # slow to import, and few kernels need it

    apart = s >= 1e-10
    s = np.where(apart, s, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        logs = (1.0 - nu) * math.log(2.0) - gammaln(nu) + nu * np.log(s) - s
        values = np.exp(logs) * kve(nu, s)
    return np.asarray(np.where(np.isfinite(values) & apart, np.minimum(values, 1.0), 1.0))


def _smooth_matern(nu: float, s: Floats) -> Floats:
    """The same for a large ν, by an expansion that holds for all s (DLMF 10.41.4, Stirling's)."""
    z = s / nu
    q = np.sqrt(1.0 + z * z)
    above = z * z / (1.0 + q)  # q − 1 without cancellation
    logs = nu * (np.log1p(0.5 * above) - above) - 0.5 * np.log(q)
    logs += 1.0 / (360.0 * nu**3) - 1.0 / (12.0 * nu)
    p = 1.0 / q
    u1 = p * (3.0 - 5.0 * p**2) / 24.0
    u2 = p**2 * (81.0 - 462.0 * p**2 + 385.0 * p**4) / 1152.0
    u3 = p**3 * (30375.0 - 369603.0 * p**2 + 765765.0 * p**4 - 425425.0 * p**6) / 414720.0
    series = 1.0 - u1 / nu + u2 / nu**2 - u3 / nu**3
    return np.asarray(np.minimum(np.exp(logs) * series, 1.0))
