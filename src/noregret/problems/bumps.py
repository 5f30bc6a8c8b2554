"""The hard instances of heavy-tailed bandits: shifted bumps whose rewards are rare and large.

Ray Chowdhury & Gopalan (2019), Theorem 2 and Appendix C: no algorithm has less regret on all of
them than the theorem's lower bound.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from noregret import _checks
from noregret._types import Floats
from noregret.kernels import RBF, Kernel, Matern
from noregret.problems.noise import Noise
from noregret.problems.problem import Problem
from noregret.spaces import Box

#: nodes of the Gauss–Legendre quadratures
_NODES = 400
#: widths of bumps that are tried, in units of the lengthscale
_WIDTHS = np.geomspace(1e-3, 1e3, 121)


@dataclass(frozen=True, eq=False)
class Bump:
    """g(x) = 2Δ h(x/s)/h(0), h the inverse Fourier transform of exp(−1/(1 − ‖ω‖²)), ‖ω‖ < 1.

    Attributes
    ----------
    dimension
        d, at most 3.
    gap
        Δ: g has its maximum 2Δ at 0.
    scale
        s.
    """

    dimension: int
    gap: float
    scale: float

    def __call__(self, X: Floats) -> Floats:
        """The values at points (n × d): n."""
        return self.at(np.sqrt(np.square(X).sum(axis=1)))

    def at(self, distances: Floats) -> Floats:
        """The values at these distances from 0 (n)."""
        frequencies, weights = _marginal(self.dimension)
        waves = np.cos(2.0 * math.pi / self.scale * np.outer(distances, frequencies))
        return np.asarray(2.0 * self.gap * (waves @ weights) / weights.sum())

    @property
    def half_width(self) -> float:
        """w: g is below Δ at all points further than this from 0."""
        radii = np.linspace(0.0, 20.0 * self.scale, 4001)
        last = int(np.flatnonzero(self.at(radii) >= self.gap)[-1])
        return float(radii[last + 1])

    def norm(self, kernel: Kernel) -> float:
        """The norm in the RKHS of an RBF or Matérn kernel on all of Rᵈ.

        ‖g‖² = ∫ |G(ω)|²/K(ω) dω, G the Fourier transform of g and K that of the kernel.
        """
        return math.exp(0.5 * _log_norm(kernel, self.dimension, self.gap, self.scale))


def hard_instance(
    kernel: Kernel,
    rng: np.random.Generator,
    *,
    dimension: int = 1,
    norm: float = 1.0,
    gap: float = 0.05,
    alpha: float = 1.0,
    v: float = 1.0,
) -> Problem:
    """One of M bumps on [0, 1]ᵈ, drawn uniformly; they differ only in the place of the maximum.

    The bump is as narrow as its norm allows. The paper shifts it over a grid with step w; the step
    is at least 2w here, so that no point is within Δ of the maximum for two of the functions.

    Parameters
    ----------
    kernel
        RBF or Matérn, with one lengthscale.
    rng
        Draws which of the M functions it is.
    dimension
        d, at most 3.
    norm
        B, the bump's norm in the kernel's RKHS on Rᵈ.
    gap
        Δ: the maximum is 2Δ. Points further than w from the maximiser have a regret above Δ.
    alpha, v
        E|y|^(1+α) is at most v: a reward is ±(v/2Δ)^(1/α), or mostly 0.
    """
    if not isinstance(kernel, (RBF, Matern)) or isinstance(kernel.lengthscale, list):
        raise ValueError(f"kernel must be RBF or Matern with one lengthscale, got {kernel!r}")
    if (dimension := _checks.count("dimension", dimension)) > 3:
        raise ValueError(f"dimension must be at most 3, got {dimension}")
    norm, gap = _checks.positive("norm", norm), _checks.positive("gap", gap)
    if not 0 < (alpha := _checks.finite("alpha", alpha)) <= 1:
        raise ValueError(f"alpha must lie in (0, 1], got {alpha!r}")
    largest = 0.5 * _checks.positive("v", v) ** (1.0 / (1.0 + alpha))
    if gap > largest:
        raise ValueError(f"gap must be at most v^(1/(1+alpha))/2 = {largest:.4g}, got {gap!r}")
    bump = Bump(dimension, gap, _narrowest(kernel, dimension, norm, gap))
    count = int(1.0 / (2.0 * bump.half_width))
    if count < 2:
        raise ValueError(
            f"gap must be smaller for norm {norm:.4g}: the bump is {bump.half_width:.3g} wide on "
            "either side, so that two do not fit in"
        )
    centre = (rng.integers(count, size=(1, dimension)) + 0.5) / count
    return Problem(
        f"one of {count**dimension} bumps",
        Box([(0.0, 1.0)] * dimension),
        lambda X: bump(X - centre),
        2.0 * gap,
        centre,
        Noise("two-point", (v / (2.0 * gap)) ** (1.0 / alpha)),
        norm,
    )


def _narrowest(kernel: RBF | Matern, dimension: int, norm: float, gap: float) -> float:
    """The smallest s whose bump has at most this norm."""
    assert isinstance(kernel.lengthscale, float)
    target = 2.0 * math.log(norm)
    widths = kernel.lengthscale * _WIDTHS
    fits = [_log_norm(kernel, dimension, gap, float(s)) <= target for s in widths]
    if not any(fits) or fits[0]:
        raise ValueError(f"gap must be smaller beside norm {norm:.4g}, got {gap!r}")
    first = fits.index(True)
    low, high = float(widths[first - 1]), float(widths[first])
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _log_norm(kernel, dimension, gap, middle) <= target:
            high = middle
        else:
            low = middle
    return high


def _log_norm(kernel: Kernel, dimension: int, gap: float, scale: float) -> float:
    """log ‖g‖² = log ((2Δ/h(0))² sᵈ ∫ H(u)²/K(u/s) du), an integral over radii."""
    u, weights = _legendre()
    _, marginal = _marginal(dimension)
    shell = math.log(_sphere(dimension)) + (dimension - 1) * np.log(u)
    logs = (
        np.log(weights) + shell - 2.0 / (1.0 - u * u) - _log_spectrum(kernel, dimension, u / scale)
    )
    height = 2.0 * math.log(2.0 * gap / float(marginal.sum()))
    return float(height + dimension * math.log(scale) + logsumexp(logs))


def _log_spectrum(kernel: Kernel, dimension: int, frequencies: Floats) -> Floats:
    """log K(ω) with K(ω) = ∫ k(x, 0) exp(−2πi ωᵀx) dx, at these ‖ω‖ (n)."""
    assert isinstance(kernel, (RBF, Matern))
    length, squares = float(kernel.lengthscale), np.square(2.0 * math.pi * frequencies)  # type: ignore[arg-type]
    if isinstance(kernel, RBF):
        top = 0.5 * dimension * math.log(2.0 * math.pi * length**2)
        return np.asarray(math.log(kernel.variance) + top - 0.5 * length**2 * squares)
    nu, half = kernel.nu, 0.5 * dimension
    top = dimension * math.log(2.0) + half * math.log(math.pi) + math.lgamma(nu + half)
    top += nu * math.log(2.0 * nu) - math.lgamma(nu) - 2.0 * nu * math.log(length)
    fall = (nu + half) * np.log(2.0 * nu / length**2 + squares)
    return np.asarray(math.log(kernel.variance) + top - fall)


@lru_cache(maxsize=3)
def _marginal(dimension: int) -> tuple[Floats, Floats]:
    """Frequencies u in (0, 1) and weights c with h(r) = Σ c cos(2πur) (m each).

    h is radial, so it is the transform of H integrated over all but one coordinate.
    """
    u, weights = _legendre()
    if dimension == 1:
        return u, 2.0 * weights * np.exp(-1.0 / (1.0 - u * u))
    rest = 1.0 - u * u
    across = np.sqrt(rest)[:, None] * u  # within the ball, by the same quadrature
    inner = np.exp(-1.0 / (rest[:, None] - across * across)) * across ** (dimension - 2)
    return u, 2.0 * weights * _sphere(dimension - 1) * np.sqrt(rest) * (inner @ weights)


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def _sphere(dimension: int) -> float:
    """The surface of the unit ball in Rᵏ; 2 for k = 1."""
    return 2.0 * float(math.pi ** (0.5 * dimension)) / math.gamma(0.5 * dimension)
