"""The posterior at any points: mean, leverage, covariances, gradients, drawn functions.

Features are those of a dictionary S of inducing points, z(x) = L⁻¹k_S(x) with K_S = L Lᵀ. With
V = Σ z zᵀ + λI over all evaluations told (BKB eq. 4, BBKB eqs. 1 to 3)

    mean(x) = zᵀV⁻¹ Zᵀy,    variance(x) = k(x, x) − ‖z‖² + λ zᵀV⁻¹z,    leverage = variance / λ.

A dictionary that holds every evaluated arm makes this the exact GP. The features do not depend on
λ, so one posterior serves several λ at once. Users see the first one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import lower_solve, row_norms
from noregret.linalg.threads import by_rows
from noregret.models.ridge import Ridge

#: how many coordinates of points, for all λ together, are computed at a time
_NUMBERS = 1 << 18
#: for this many times m points, an eigendecomposition of G costs less than a product for every λ
_MANY = 4
#: what is computed last of so many points at most is kept: those picked are told next
_FEW = 8
#: the largest eigenvalue of G over λ up to which its eigenvalues are precise enough
_WELL = 1e7


@dataclass(frozen=True)
class Posterior:
    """The posterior of a function, given the evaluations told.

    Attributes
    ----------
    kernel
        The prior covariance.
    inducing
        The inducing points (m × d, or m objects).
    tall
        L (m × m, lower), K_S = LLᵀ, with any number of rows below it that mean nothing.
    lams
        The values of λ (g).
    ridge
        V = Σ z zᵀ + λI over the evaluations, and roots of V⁻¹, for every λ.
    thetas
        For every λ, the weights of the mean (g × m).
    tolerance
        Prior variance outside the span up to this value is round-off.
    """

    kernel: Kernel
    inducing: Points
    tall: Floats
    lams: tuple[float, ...]
    ridge: Ridge
    thetas: Floats
    tolerance: float
    _last: dict[str, tuple[Points, Floats]] = field(default_factory=dict, repr=False)

    @property
    def lam(self) -> float:
        """The first λ."""
        return self.lams[0]

    @cached_property
    def roots(self) -> Floats:
        """For every λ, F with V⁻¹ = FFᵀ (g × m × m); :meth:`coordinates` often need not make it."""
        return self.ridge.roots

    @property
    def root(self) -> Floats:
        """F of the first λ (m × m)."""
        return np.asarray(self.roots[0])

    def coordinates(self, Z: Floats) -> Floats:
        """ZF for the first λ (n × m), for features Z (n × m): zᵀV⁻¹z is the squared norm."""

        def coordinates(Z: Floats) -> Floats:
            return np.asarray(self.ridge.coordinates(Z, slice(1))[0])

        return self._once("coordinates", coordinates, Z)

    @property
    def theta(self) -> Floats:
        """The weights of the first λ's mean (m)."""
        return np.asarray(self.thetas[0])

    @property
    def gram(self) -> Floats:
        """G = Σ z zᵀ over the evaluations (m × m)."""
        return self.ridge.gram()

    @property
    def size(self) -> int:
        """m, the number of inducing points."""
        return int(self.tall.shape[1])

    @property
    def factor(self) -> Floats:
        """L (m × m)."""
        return self.tall[: self.size]

    def solve(self, target: Floats) -> Floats:
        """V⁻¹ times a vector (m) for every λ (g × m)."""
        return self.ridge.solved(target)

    def embed(self, X: Points) -> Floats:
        """z of points (n × d): n × m."""
        if not self.size:
            return np.empty((len(X), 0))

        def embed(X: Points) -> Floats:
            return lower_solve(self.tall, self.kernel(self.inducing, X)).T

        return self._once("features", embed, X)

    def _once(self, what: str, compute: Callable[[Any], Floats], rows: Any) -> Floats:
        """``compute(rows)`` (n × m): O(n m²), unless ``what`` was computed last for the same rows.

        Only a few rows are kept, and what is kept cannot be written to.
        """
        if len(rows) > _FEW or rows.dtype == object:
            return by_rows(compute, rows, self.size, self.size**2)
        last = self._last.get(what)
        if last is None or not np.array_equal(last[0], rows):
            last = self._last[what] = rows.copy(), compute(rows)
            last[1].flags.writeable = False
        return last[1]

    def residual(self, Z: Floats, X: Points) -> Floats:
        """k(x, x) − ‖z‖²: the prior variance outside the dictionary's span (n)."""
        return np.asarray(np.maximum(self.kernel.diag(X) - row_norms(Z), 0.0))

    def evaluate(self, X: Points) -> tuple[Floats, Floats]:
        """Mean and leverage of points (n each), for the first λ."""
        Z = self.embed(X)
        inside = row_norms(self.coordinates(Z))
        return np.asarray(Z @ self.theta), self.residual(Z, X) / self.lam + inside

    def leverages(self, Z: Floats, residual: Floats, which: slice = slice(None)) -> Floats:
        """The leverages of points with these features and residuals, for some λ (g × n)."""
        m, lams = self.size, np.array(self.lams[which])
        count, rows = len(lams), max(_NUMBERS // max(len(lams) * m, 1), 1)
        many = count > 1 and len(Z) >= _MANY * m
        if many and self._spectrum[0].max(initial=0.0) <= _WELL * lams.min():
            values, vectors = self._spectrum
            weights = 1.0 / (values[:, None] + lams)

            def inside(Z: Floats) -> Floats:  # zᵀV⁻¹z = Σ (vᵀz)² / (eigenvalue + λ)
                return np.asarray(np.square(Z @ vectors) @ weights)

            found = by_rows(inside, Z, count, m**2)
        else:

            def inside(Z: Floats) -> Floats:
                b = self.ridge.coordinates(Z, which)
                return np.asarray(np.vecdot(b, b).T)

            found = by_rows(inside, Z, count, count * m**2, rows)
        return np.asarray(residual / lams[:, None] + found.T)

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        """The eigenvalues (m) and eigenvectors (m × m) of G."""
        values, vectors = np.linalg.eigh(self.gram)
        return np.maximum(values, 0.0), vectors

    def apart(self, X: Points, Z: Floats, one: Points, z: Floats) -> tuple[Floats, Floats]:
        """φ(x) − φ(y) as one point, for points x (n × d) and a point y (1 × d).

        Z (n × m) and z (m) are their features. Gives the features (n × m) and the residuals (n) of
        the differences: mean and leverage from these are those of f(x) − f(y).
        """
        prior = self.kernel.diag(X) + self.kernel.diag(one) - 2.0 * self.kernel(X, one)[:, 0]
        Z = Z - z
        return Z, np.asarray(np.maximum(prior - row_norms(Z), 0.0))

    def covariance(self, X: Points, Y: Points) -> Floats:
        """Posterior covariances of two blocks of points, divided by λ (n × k): BBKB eq. 2."""
        left, right = self.embed(X), self.embed(Y)
        outside = (self.kernel(X, Y) - left @ right.T) / self.lam
        return np.asarray(outside + self.coordinates(left) @ self.coordinates(right).T)

    def distances(self, thetas: list[Floats]) -> Floats:
        """‖θ − θ_s‖ in the norm of V for older weights θ_s, padded with zeros (k)."""
        change = np.tile(self.theta[:, None], (1, len(thetas)))
        for i, theta in enumerate(thetas):
            change[: len(theta), i] -= theta
        squares = np.einsum("ij,ij->j", change, self.gram @ change + self.lam * change)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """θ of n functions zᵀθ drawn from the posterior on the span (m × n)."""
        noise = rng.standard_normal((self.size, n))
        return np.asarray(self.theta[:, None] + np.sqrt(self.lam) * (self.root @ noise))

    def drawn(self, X: Points, theta: Floats, outside: float) -> tuple[Floats, Floats]:
        """z(x)ᵀθ + outside·√residual(x) (n) and its gradients (n × d)."""
        Z = self.embed(X)
        root = np.sqrt(self.residual(Z, X))
        values = Z @ theta + outside * root
        half = outside * (0.5 / np.maximum(root, 1e-12)) * (root > 1e-12)
        gradients = half[:, None] * self.kernel.diag_gradient(X)
        if self.size:
            gradients = gradients + self.through_features(X, theta - 2.0 * half[:, None] * Z)
        return np.asarray(values), np.asarray(gradients)

    def through_features(self, X: Points, on_z: Floats) -> Floats:
        """Gradients in x (n × d) from derivatives with respect to z (n × m), by the chain rule."""
        on_k = lower_solve(self.tall, on_z.T, transposed=True).T
        return self.kernel.pullback(X, self.inducing, on_k)
