"""Finitely many features φ with φ(x)ᵀφ(y) ≈ k(x, y): Mercer, random Fourier, Nyström."""

import math
from typing import Protocol

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels import RBF, Kernel, Matern, WithLogs
from noregret.kernels.profile import Stationary
from noregret.linalg.factors import lower_solve, pivoted_cholesky, row_norms
from noregret.spaces import Space

#: Gauss–Legendre nodes of one axis: enough for lengthscales down to a hundredth of the side
_NODES = 200
#: points at which features are compared with the kernel
_TRIED = 64
#: eigenvalues below this fraction of the largest are round-off
_ROUND_OFF = 1e-15
#: no more features are kept once they leave out at most this part of ∫k(x, x)
_LEFT_OUT = 1e-12


class Features(Protocol):
    """A map from points to features."""

    size: int

    def __call__(self, X: Points) -> Floats:
        """φ of points (n × d): n × m."""

    def evaluate(self, X: Points, theta: Floats) -> tuple[Floats, Floats]:
        """φ(x)ᵀθ with a θ for each point (n × m): values (n) and gradients (n × d)."""


class MercerFeatures:
    """√λ_i ψ_i of the kernel's eigenfunctions on a box, under the uniform measure.

    One-dimensional eigenproblems are solved by Gauss–Legendre quadrature; an RBF kernel is a
    product over the axes, so its eigenfunctions are products; the leading ones are kept.

    Parameters
    ----------
    kernel, box
        RBF on any box; RBF or Matern in one dimension.
    most
        At most this many features are kept; fewer, if they leave out at most 10⁻¹² of ∫k(x, x).

    Attributes
    ----------
    eigenvalues
        Eigenvalues of the features kept (m).
    missing
        The part of ∫k(x, x) that the features leave out.
    """

    def __init__(self, kernel: Kernel, box: Space, most: int = 1000) -> None:
        if not mercer_is_available(kernel, box):
            raise ValueError(
                f"features 'mercer' need an RBF kernel, or Matern in one dimension, got {kernel!r} "
                f"in {box.dimension}: use 'rff' or 'nystrom'"
            )
        assert isinstance(kernel, Stationary)
        scales = np.broadcast_to(np.asarray(kernel.lengthscale), (box.dimension,))
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        roots = np.sqrt(0.5 * weights)  # of the uniform measure
        self._axes: list[tuple[Kernel, Floats, Floats]] = []  # kernel, nodes, coefficients
        spectra = []
        for (low, high), scale in zip(box.corners.T, scales, strict=True):
            own: Kernel = Matern(scale, kernel.nu) if isinstance(kernel, Matern) else RBF(scale)
            x = (low + (high - low) * 0.5 * (nodes + 1.0))[:, None]
            values, vectors = np.linalg.eigh(roots[:, None] * own(x, x) * roots)
            values, vectors = values[::-1], vectors[:, ::-1]
            kept = values > _ROUND_OFF * values[0]
            spectra.append(values[kept])
            # √λ ψ(x) = λ^(-1/2) Σ_q √w_q u_q k(x, x_q)
            coefficients = roots[:, None] * vectors[:, kept] / np.sqrt(values[kept])
            self._axes.append((own, x, coefficients))
        self._which, self.eigenvalues = _leading_products(spectra, most)
        self.eigenvalues = kernel.variance * self.eigenvalues
        self._amplitude = math.sqrt(kernel.variance)
        self.size = len(self._which)
        _, tried = box.sample(_TRIED, np.random.default_rng(0))
        self.missing = max(1.0 - float(row_norms(self(tried)).mean()) / kernel.variance, 0.0)

    def __call__(self, X: Points) -> Floats:
        """φ of points (n × d): n × m."""
        out = np.full((len(X), self.size), self._amplitude)
        for a, (kernel, nodes, coefficients) in enumerate(self._axes):
            out *= (kernel(X[:, a : a + 1], nodes) @ coefficients)[:, self._which[:, a]]
        return out

    def evaluate(self, X: Points, theta: Floats) -> tuple[Floats, Floats]:
        """φ(x)ᵀθ with a θ for each point (n × m): values (n) and gradients (n × d)."""
        values, slopes = [], []
        for a, (kernel, nodes, coefficients) in enumerate(self._axes):
            column, which = X[:, a : a + 1], self._which[:, a]
            values.append((kernel(column, nodes) @ coefficients)[:, which])
            slopes.append((kernel.gradient(column, nodes)[:, :, 0] @ coefficients)[:, which])
        theta = self._amplitude * theta
        gradients = np.empty(X.shape)
        for a, slope in enumerate(slopes):  # by the product rule
            others = values[:a] + values[a + 1 :]
            gradients[:, a] = _sums_of_products(theta, slope, *others)
        return _sums_of_products(theta, *values), gradients


def _sums_of_products(*factors: Floats) -> Floats:
    """Products of matrices (n × m each), entry by entry, added up over each row (n)."""
    product = factors[0]
    for factor in factors[1:-1]:
        product = product * factor
    return np.asarray(np.einsum("ij,ij->i", product, factors[-1]))


def mercer_is_available(kernel: Kernel, box: Space) -> bool:
    """Whether :class:`MercerFeatures` can be computed."""
    return isinstance(kernel, RBF) or (isinstance(kernel, Matern) and box.dimension == 1)


def _leading_products(
    spectra: list[Floats], most: int
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], Floats]:
    """The largest products of one eigenvalue per axis: their indices (m × d) and values (m)."""
    which, values = np.zeros((1, 0), dtype=np.int64), np.ones(1)
    for spectrum in spectra:
        products = np.outer(values, spectrum).ravel()
        # A product that is not among the leading ones cannot be a factor of a leading one.
        order = np.argsort(-products, kind="stable")[: max(most, 1)]
        rows, columns = np.divmod(order, len(spectrum))
        which = np.column_stack([which[rows], columns])
        values = products[order]
    # Each axis integrates to k(x, x) = 1.
    count = int(np.searchsorted(-(1.0 - np.cumsum(values)), -_LEFT_OUT)) + 1
    return which[:count], values[:count]


class FourierFeatures:
    """Random Fourier features (Rahimi & Recht 2007) of RBF and Matern kernels, in any dimension.

    √(k(x, x)/m) times the cosines and sines of m angles ωᵀx, ω from the kernel's spectral density:
    Gaussian for RBF, Student's t with 2ν degrees of freedom for Matérn. A cosine and a sine for
    each ω make φ(x)ᵀφ(x) = k(x, x) without error.

    Parameters
    ----------
    kernel, dimension
        The kernel, of points with d numbers.
    rng
        Draws the frequencies.
    frequencies
        m: there are 2m features.
    """

    def __init__(
        self, kernel: Kernel, dimension: int, rng: np.random.Generator, frequencies: int = 500
    ) -> None:
        if not fourier_is_available(kernel):
            raise ValueError(f"features 'rff' need an RBF or Matern kernel, got {kernel!r}")
        self._logs = kernel if isinstance(kernel, WithLogs) else None
        if self._logs is not None:
            kernel, dimension = self._logs.kernel, dimension + len(self._logs.columns)
        assert isinstance(kernel, Stationary)
        self.size = 2 * frequencies
        omega = rng.standard_normal((frequencies, dimension))
        if isinstance(kernel, Matern):
            chi = rng.chisquare(2.0 * kernel.nu, size=frequencies) / (2.0 * kernel.nu)
            omega /= np.sqrt(chi)[:, None]
        self._omega: Floats = omega / np.asarray(kernel.lengthscale)
        self._amplitude = math.sqrt(kernel.variance / frequencies)

    def __call__(self, X: Points) -> Floats:
        """φ of points (n × d): n × 2m, all cosines, then all sines."""
        return self._amplitude * np.concatenate(_cosines_sines(self._angles(X)), axis=1)

    def _angles(self, X: Points) -> Floats:
        return np.asarray((X if self._logs is None else self._logs.of(X)) @ self._omega.T)

    def evaluate(self, X: Points, theta: Floats) -> tuple[Floats, Floats]:
        """φ(x)ᵀθ with a θ for each point (n × 2m): values (n) and gradients (n × d)."""
        of_cosines, of_sines = np.split(self._amplitude * theta, 2, axis=1)
        cosines, sines = _cosines_sines(self._angles(X))
        values = np.einsum("ij,ij->i", of_cosines, cosines)
        values += np.einsum("ij,ij->i", of_sines, sines)
        slopes = np.asarray((of_sines * cosines - of_cosines * sines) @ self._omega)
        return values, slopes if self._logs is None else self._logs.back(X, slopes)


def fourier_is_available(kernel: Kernel) -> bool:
    """Whether :class:`FourierFeatures` can be drawn."""
    return isinstance(kernel.kernel if isinstance(kernel, WithLogs) else kernel, (RBF, Matern))


def _cosines_sines(angles: Floats) -> tuple[Floats, Floats]:
    """Cosines and sines (the shape of ``angles`` each), by the tangents of the half angles.

    With t = tan(angle/2), cos = 2/(1 + t²) − 1 and sin = 2t/(1 + t²). One tangent replaces a cosine
    and a sine, and NumPy computes it several times as fast.
    """
    tangents = np.tan(0.5 * angles)
    halves = 2.0 / (1.0 + np.square(tangents))
    return halves - 1.0, tangents * halves


class NystromFeatures:
    """L⁻¹k_S(x) for a set S of points (k × d, or k objects) with K_S = LLᵀ, for any kernel."""

    def __init__(self, kernel: Kernel, points: Points) -> None:
        self._kernel = kernel
        gram = kernel(points, points)
        self._lower, kept = pivoted_cholesky(gram, 1e-10 * float(gram.diagonal().max()))
        self._points = points[kept]
        self.size = len(kept)

    def __call__(self, X: Points) -> Floats:
        """φ of points (n × d): n × m."""
        return lower_solve(self._lower, self._kernel(self._points, X)).T

    def evaluate(self, X: Points, theta: Floats) -> tuple[Floats, Floats]:
        """φ(x)ᵀθ with a θ for each point (n × m): values (n) and gradients (n × d)."""
        weights = lower_solve(self._lower, theta.T, transposed=True).T
        values = np.einsum("ij,ij->i", self._kernel(X, self._points), weights)
        return values, self._kernel.pullback(X, self._points, weights)
