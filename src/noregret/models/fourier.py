"""Quadrature Fourier features of the RBF kernel (Mutný & Krause 2018; ATA-GP-UCB eq. 1).

The spectral measure of exp(−r²/2l²) is Gaussian, so Gauss–Hermite quadrature with m̄ nodes ω and
weights ν per dimension gives k(x, y) ≈ Σ ν cos(√2 ω (x − y)/l) = φ(x)ᵀφ(y), with 2m̄ᵈ features
√ν cos(√2 ωᵀx/l) and √ν sin(√2 ωᵀx/l).
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels import RBF, Kernel

#: in more dimensions than this m̄ᵈ is too large
LARGEST_DIMENSION = 4
#: the largest number of features that is built
LARGEST_FEATURES = 8192
#: up to this many, Gauss–Hermite nodes are accurate and useful
_LARGEST_NODES = 512


class QuadratureFourier(Kernel):
    """φ(x)ᵀφ(y), the RBF kernel approximated by m̄-node Gauss–Hermite quadrature.

    The nodes lie symmetrically, so that the sum over their d-fold products is a product of d sums:
    an entry of the kernel matrix costs 2m̄d multiplications, instead of 2m̄ᵈ features.

    Parameters
    ----------
    lengthscale, variance
        Lengthscale and variance of the :class:`~noregret.RBF` kernel.
    nodes
        m̄ per dimension.
    corners
        Points (k × d) that span the box in which its error bound is known.
    """

    def __init__(self, lengthscale: Any, variance: float, nodes: int, corners: Any = None) -> None:
        exact = RBF(lengthscale, variance)
        self.lengthscale, self.variance = exact.lengthscale, exact.variance
        self.nodes = _checks.count("nodes", nodes)
        self.corners = None if corners is None else np.asarray(corners, dtype=np.float64)

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of φ(x)ᵀφ(y)."""
        product = np.full((len(X), len(Y)), self.variance)
        for left, right in zip(self._axes(X), self._axes(Y), strict=True):
            product *= left.real @ right.real.T + left.imag @ right.imag.T
        return product

    def diag(self, X: Points) -> Floats:
        """The n values φ(x)ᵀφ(x) = variance: the weights sum to one."""
        return np.full(len(X), self.variance)

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂(φ(x)ᵀφ(y))/∂x (n × m × d), by the product rule."""
        sums, slopes = [], []
        rates = self._rates(X.shape[1])
        for left, right, rate in zip(self._axes(X), self._axes(Y), rates, strict=True):
            sums.append(left.real @ right.real.T + left.imag @ right.imag.T)
            # d exp(iωx) = iω exp(iωx)
            slopes.append((left.real * rate) @ right.imag.T - (left.imag * rate) @ right.real.T)
        out = np.empty((len(X), len(Y), X.shape[1]))
        for j, slope in enumerate(slopes):
            others = [one for i, one in enumerate(sums) if i != j]
            out[:, :, j] = self.variance * np.prod([slope, *others], axis=0)
        return out

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of φ(x)ᵀφ(x) (n × d): zero."""
        return np.zeros(X.shape)

    def features(self, X: Points) -> Floats:
        """φ of n points (n × 2m̄ᵈ): all cosines, then all sines."""
        waves = np.full((len(X), 1), math.sqrt(self.variance), dtype=np.complex128)
        for axis in self._axes(X):
            waves = (waves[:, :, None] * axis[:, None, :]).reshape(len(X), -1)
        return np.concatenate([waves.real, waves.imag], axis=1)

    def _axes(self, X: Points) -> list[np.ndarray[Any, np.dtype[np.complex128]]]:
        """√ν exp(i√2 ω x/l) of every dimension (n × m̄ each)."""
        omega, weights = _quadrature(self.nodes)
        root = np.sqrt(weights)
        scaled = X * (math.sqrt(2.0) / np.asarray(self.lengthscale))
        return [root * np.exp(1j * scaled[:, j : j + 1] * omega) for j in range(X.shape[1])]

    def _rates(self, dimension: int) -> Floats:
        """√2 ω/l of every dimension (d × m̄)."""
        omega, _ = _quadrature(self.nodes)
        scales = np.broadcast_to(np.asarray(self.lengthscale), (dimension,))
        return np.asarray(math.sqrt(2.0) * omega / scales[:, None])


@lru_cache(maxsize=64)
def _quadrature(nodes: int) -> tuple[Floats, Floats]:
    """Gauss–Hermite nodes ω and weights ν that sum to one (m̄ each)."""
    from scipy.special import roots_hermite  # not needed to import the package

    omega, weights = roots_hermite(nodes)
    return omega, weights / math.sqrt(math.pi)


class QuadratureFeatures:
    """φ of :class:`QuadratureFourier` with half as many features, and their gradients.

    Nodes ω and −ω have the same cosine, and sines that differ in sign. So one node of each pair is
    enough, with both weights. Features with the smallest weights are left out while
    these weights add up to at most ``tol`` of k(x, x), which bounds the change of the kernel.

    Parameters
    ----------
    kernel
        The RBF kernel by quadrature.
    dimension
        d.
    tol
        The largest sum of the weights left out, as a fraction of k(x, x).
    """

    def __init__(self, kernel: QuadratureFourier, dimension: int, tol: float) -> None:
        omega, weights = _quadrature(kernel.nodes)
        frequencies, products = np.zeros((1, 0)), np.ones(1)
        for _ in range(dimension):
            rows, columns = np.divmod(np.arange(len(products) * len(omega)), len(omega))
            frequencies = np.column_stack([frequencies[rows], omega[columns]])
            products = products[rows] * weights[columns]
        # The nodes rise symmetrically about zero: the last half mirrors the first. In the middle of
        # an odd number lies ω = 0, alone.
        half = len(products) // 2
        pairs = 2.0 * products[half:]
        if len(products) % 2:
            pairs[0] = products[half]
        order = np.argsort(-pairs, kind="stable")
        count = int(np.searchsorted(np.cumsum(pairs[order]), 1.0 - tol)) + 1
        kept = order[:count]
        scale = math.sqrt(2.0) / np.asarray(kernel.lengthscale)
        self._frequencies: Floats = frequencies[half:][kept] * scale
        self._amplitudes: Floats = np.sqrt(kernel.variance * pairs[kept])
        self.size = 2 * len(kept)

    def __call__(self, X: Points) -> Floats:
        """φ of points (n × d): n × m, all cosines, then all sines."""
        angles = X @ self._frequencies.T
        waves = [self._amplitudes * np.cos(angles), self._amplitudes * np.sin(angles)]
        return np.concatenate(waves, axis=1)

    def evaluate(self, X: Points, theta: Floats) -> tuple[Floats, Floats]:
        """φ(x)ᵀθ with a θ for each point (n × m): values (n) and gradients (n × d)."""
        angles = X @ self._frequencies.T
        cosines, sines = self._amplitudes * np.cos(angles), self._amplitudes * np.sin(angles)
        of_cosines, of_sines = np.split(theta, 2, axis=1)
        values = np.einsum("ij,ij->i", of_cosines, cosines)
        values += np.einsum("ij,ij->i", of_sines, sines)
        slopes = of_sines * cosines - of_cosines * sines
        return values, np.asarray(slopes @ self._frequencies)


def error_bound(nodes: int, spans: Floats) -> float:
    """A bound on |k(x, y) − φ(x)ᵀφ(y)| / k(x, x) over a box; ``spans``: side / lengthscale (d).

    The remainder of Gauss–Hermite quadrature in one dimension is at most m̄!/(2m̄)! (r/l)^(2m̄).
    Factors of both products are at most 1, so the errors of the dimensions add up. ATA-GP-UCB
    Lemma 14 has d·2^(d−1)/√2 · (e/(4 l² m̄))^m̄ for r = 1: it uses Stirling's formula for the
    factorials (low by 1/(24m̄)), and a larger factor for d > 1.
    """
    with np.errstate(divide="ignore"):
        logs = 2.0 * nodes * np.log(spans) + math.lgamma(nodes + 1) - math.lgamma(2 * nodes + 1)
    # Both kernels lie in [−1, 1].
    return float(min(np.exp(np.minimum(logs, 1.0)).sum(), 2.0))


def nodes_for(error: float, spans: Floats) -> int:
    """The smallest m̄ whose error bound is at most ``error``; ``spans``: side / lengthscale (d)."""
    nodes = 1
    while error_bound(nodes, spans) > error and nodes < _LARGEST_NODES:
        nodes += 1
    return nodes


def spans_of(kernel: Kernel, points: Points) -> Floats:
    """The sides of the points' bounding box, divided by the lengthscales (d)."""
    if not isinstance(kernel, RBF):
        raise ValueError(
            "features='qff' needs an RBF kernel, whose Fourier transform factorises and for which "
            f"the error bound is known; got {kernel!r}. features='nystrom' takes any kernel."
        )
    if points.ndim != 2:
        raise TypeError("features='qff' needs candidates of numbers, not objects")
    return np.asarray(np.ptp(points, axis=0) / np.asarray(kernel.lengthscale))


def quadrature_for(
    kernel: Kernel, points: Points, nodes: int | None, error: float
) -> QuadratureFourier:
    """The features for points (k × d) that span a space; an error says if they are too many.

    By default m̄ is the smallest whose error bound is at most ``error``.
    """
    spans = spans_of(kernel, points)
    assert isinstance(kernel, RBF)
    d = len(spans)
    chosen = nodes_for(error, spans) if nodes is None else nodes
    if nodes is None and error_bound(chosen, spans) > error:
        raise ValueError(
            f"features='qff' would need more than {2 * chosen**d} features: the candidates span "
            f"{spans.max():.3g} lengthscales; use features='nystrom'"
        )
    count = 2 * chosen**d
    if d > LARGEST_DIMENSION or count > LARGEST_FEATURES:
        raise ValueError(
            f"features='qff' would need 2·{chosen}^{d} = {count} features in {d} dimensions; at "
            f"most {LARGEST_FEATURES} and {LARGEST_DIMENSION} dimensions are possible. Give a "
            "smaller nodes=, or use features='nystrom'."
        )
    return QuadratureFourier(kernel.lengthscale, kernel.variance, chosen, points)


def check_within(kernel: Kernel, corners: Points) -> None:
    """Refuse points (k × d) outside the box in which a quadrature kernel's error is bounded."""
    if not isinstance(kernel, QuadratureFourier) or kernel.corners is None:
        return
    low, high = kernel.corners.min(axis=0), kernel.corners.max(axis=0)
    if np.any(corners < low) or np.any(corners > high):
        raise ValueError(
            "candidates must lie in the box spanned by the old ones: the error of the quadrature "
            "features is bounded there only"
        )
