"""The Matérn kernel of any smoothness."""

import math
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel
from noregret.kernels.distances import by_strips, gradient, pullback, scaled_squares

#: from this ν on the Matérn kernel is computed by an expansion: Bessel functions overflow
_SMOOTH = 50.0


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
        return gradient(self, X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d)."""
        return pullback(self, X, Y, weights)

    def of_squared(self, squared: Floats) -> Floats:
        """k at squared scaled distances r², which are overwritten."""
        if self.nu in (0.5, 1.5, 2.5):
            return by_strips(self._in_place, squared)
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
