"""The posterior at any points: mean, leverage, covariances, gradients, drawn functions.

Features are those of a dictionary S of inducing points, z(x) = L⁻¹k_S(x) with K_S = L Lᵀ. With
V = Σ z zᵀ + λI over all evaluations told (BKB eq. 4, BBKB eqs. 1 to 3)

    mean(x) = zᵀV⁻¹ Zᵀy,    variance(x) = k(x, x) − ‖z‖² + λ zᵀV⁻¹z,    leverage = variance / λ.

A dictionary that holds every evaluated arm makes this the exact GP. The features do not depend on
λ, so one posterior serves several λ at once. Users see the first one.

Evaluations whose rewards are not known yet make a :class:`Fantasy`: variances fall, means stay. The
dictionary stays as it is until rewards come. So a pending arm outside the span of the dictionary
gets features of its own: with e(x) = L⁻¹(k_P(x) − Z_P z(x)) for those arms P, (z, e) spans them as
well.
"""

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import (
    lower_solve,
    pivoted_cholesky,
    row_factor,
    row_norms,
    safe_cholesky,
    with_room,
)
from noregret.models.ridge import Ridge

#: how many coordinates of points, for all λ together, are computed at a time
_NUMBERS = 1 << 18


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
        return np.asarray(self.ridge.coordinates(Z, slice(1))[0])

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
        return lower_solve(self.tall, self.kernel(self.inducing, X)).T

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
        lams = np.array(self.lams[which])
        leverage = residual / lams[:, None]
        step = max(_NUMBERS // max(len(lams) * self.size, 1), 1)
        for start in range(0, len(Z), step):
            b = self.ridge.coordinates(Z[start : start + step], which)
            leverage[:, start : start + step] += np.vecdot(b, b)
        return np.asarray(leverage)

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


@dataclass
class Block:
    """Points with their posterior in a :class:`Fantasy`.

    Attributes
    ----------
    points
        n × d, or n objects.
    Z
        Their features (n × m).
    b
        Coordinates (n × (m + |P|)): the leverage inside the span is ‖b‖².
    mean
        The posterior mean (n).
    residual
        The prior variance outside the dictionary's span (n).
    told
        The leverage from what has been told only (n).
    leverage
        The leverage with the pending evaluations (n).
    """

    points: Points
    Z: Floats
    b: Floats
    mean: Floats
    residual: Floats
    told: Floats
    leverage: Floats

    def joined(self, other: "Block") -> "Block":
        """One block with the rows of both, the other's below."""
        pairs = ((getattr(self, part.name), getattr(other, part.name)) for part in fields(self))
        return Block(*(np.concatenate(pair) for pair in pairs))

    def rows(self, which: Ints) -> "Block":
        """A block with some of the rows."""
        return Block(*(getattr(self, part.name)[which] for part in fields(self)))


class Fantasy:
    """Mean and leverage of any points given told, pending and picked evaluations.

    Parameters
    ----------
    posterior
        The posterior given the evaluations told.
    points, counts
        Pending arms (k × d) and how many evaluations of each are pending (k).
    frozen
        Whether picks made from here on shrink variances only inside the dictionary's span, as in a
        batch of BBKB; otherwise variances shrink exactly.
    """

    def __init__(
        self, posterior: Posterior, points: Points, counts: Ints, *, frozen: bool = False
    ) -> None:
        self.posterior = posterior
        self.frozen = frozen
        m = posterior.size
        self._points: Points = points[:0]
        self._lower: Floats = np.empty((0, 0))
        self._features: Floats = np.empty((0, m))
        self._rows: Floats = np.empty((0, m))  # the rows of _fall, with room for more
        self._used = 0
        self.pending = 0.0  # Σ leverage of the pending evaluations, at the batch start
        if len(points):
            self._condition(points, counts)

    @property
    def _fall(self) -> Floats:
        """Leverages fall by ‖_fall b(x)‖² (a view)."""
        return self._rows[: self._used]

    @_fall.setter
    def _fall(self, rows: Floats) -> None:
        self._rows, self._used = rows, len(rows)

    def _condition(self, points: Points, counts: Ints) -> None:
        Z = self.posterior.embed(points)
        gram = self.posterior.kernel(points, points) - Z @ Z.T
        self._lower, kept = pivoted_cholesky(gram, self.posterior.tolerance)
        self._points, self._features = points[kept], Z[kept]
        b = self._coordinates(Z, points)
        told = self._told_leverage(self.posterior.residual(Z, points), b)
        self.pending = float(counts @ told)
        b = b * np.sqrt(counts)[:, None]
        self._fall = lower_solve(safe_cholesky(b @ b.T + np.eye(len(b))), b)

    def block(self, X: Points, Z: Floats | None = None) -> Block:
        """What is known of points (n × d); Z are their features (n × m), if they are known."""
        if Z is None:
            Z = self.posterior.embed(X)
        b, residual = self._coordinates(Z, X), self.posterior.residual(Z, X)
        told = self._told_leverage(residual, b)
        leverage = np.maximum(told - self._falls(b), 0.0) if len(self._fall) else told.copy()
        return Block(X, Z, b, Z @ self.posterior.theta, residual, told, leverage)

    def evaluate(self, X: Points) -> tuple[Floats, Floats]:
        """Mean and leverage (n each) of points (n × d)."""
        block = self.block(X)
        return block.mean, block.leverage

    def _told_leverage(self, residual: Floats, b: Floats) -> Floats:
        return residual / self.posterior.lam + row_norms(b[:, : self.posterior.size])

    def _falls(self, b: Floats) -> Floats:
        return row_norms(b @ self._fall.T)

    def _coordinates(self, Z: Floats, X: Points) -> Floats:
        inside = self.posterior.coordinates(Z)
        if not len(self._points):
            return inside
        return np.concatenate([inside, self._outside(Z, X)], axis=1)

    def _outside(self, Z: Floats, X: Points) -> Floats:
        """e/√λ (n × |P|)."""
        cross = self.posterior.kernel(self._points, X) - self._features @ Z.T
        return np.asarray(lower_solve(self._lower, cross).T / np.sqrt(self.posterior.lam))

    def add(self, block: Block, position: int) -> None:
        """Count one more evaluation of a point of a block, and lower the block's leverages.

        Other blocks are not updated: they have fewer coordinates than the fantasy from here on.
        """
        self.add_along(block, *self.direction(block, position), 1)

    def direction(self, block: Block, position: int) -> tuple[Floats, float]:
        """How evaluations of a point of a block lower leverages: a vector of coordinates, and s.

        After n evaluations the leverage of the point itself is lower by n·s²/(1 + n·s).
        """
        if not self.frozen:
            self._span(block, np.array([position]))
        b = block.b[position]
        if not self._used:
            return b, max(float(b @ b), 0.0)
        fall = self._fall
        left = b - (fall @ b) @ fall
        return left, max(float(b @ left), 0.0)

    def add_along(self, block: Block, left: Floats, s: float, times: int) -> None:
        """As :meth:`add`, for ``times`` evaluations of a point with this :meth:`direction`."""
        row = left * math.sqrt(times / (1.0 + times * s))
        if self._used >= 4 * max(len(row), 8):  # only _fallᵀ _fall matters
            self._fall = row_factor(self._fall)
        if self._used == len(self._rows):
            self._rows = with_room(self._rows, 2 * self._used + 16, len(row))
        self._rows[self._used] = row
        self._used += 1
        falls = block.b @ row
        falls *= falls
        np.subtract(block.leverage, falls, out=falls)
        block.leverage = np.maximum(falls, 0.0, out=falls)

    def add_all(self, block: Block, positions: Ints) -> None:
        """Count one more evaluation of each of some points of a block, by matrix products.

        Equal to adding them one at a time, up to round-off. Only this block is updated.
        """
        if not self.frozen:
            self._span(block, positions)
        b = block.b[positions]
        left = b - (b @ self._fall.T) @ self._fall
        rows = lower_solve(safe_cholesky(b @ left.T + np.eye(len(b))), left)
        self._fall = np.concatenate([self._fall, rows])
        block.leverage = np.maximum(block.leverage - row_norms(block.b @ rows.T), 0.0)

    def _span(self, block: Block, positions: Ints) -> None:
        """Give a feature of its own to each of these points that lies outside the span."""
        posterior, m, k = self.posterior, self.posterior.size, len(self._points)
        scale = math.sqrt(posterior.lam)
        outside = block.b[positions, m:] * scale
        residual = block.residual[positions] - row_norms(outside)
        if residual.max(initial=0.0) <= posterior.tolerance:
            return
        X, Z = block.points[positions], block.Z[positions]
        if len(X) == 1:
            gram = residual[:, None]
        else:
            gram = posterior.kernel(X, X) - Z @ Z.T - outside @ outside.T
        own, kept = pivoted_cholesky(gram, posterior.tolerance)
        X, Z, outside = X[kept], Z[kept], outside[kept]
        lower = np.zeros((k + len(kept), k + len(kept)))
        lower[:k, :k], lower[k:, :k], lower[k:, k:] = self._lower, outside, own
        # Only the last rows of a triangular solve: the other coordinates of the block stay.
        cross = posterior.kernel(X, block.points) - Z @ block.Z.T
        cross -= outside @ (block.b[:, m:].T * scale)
        fresh = lower_solve(own, cross).T / scale
        self._lower = lower
        self._points = np.concatenate([self._points, X])
        self._features = np.concatenate([self._features, Z])
        zeros = np.zeros((len(self._fall), len(kept)))
        self._fall = np.concatenate([self._fall, zeros], axis=1)
        block.b = np.concatenate([block.b, fresh], axis=1)

    def bound(self, X: Points, width: float, mean: float = 1.0) -> tuple[Floats, Floats]:
        """``mean``·mean(x) + ``width``·√leverage(x) (n) and its gradients (n × d)."""
        posterior, m = self.posterior, self.posterior.size
        block = self.block(X)
        root = np.sqrt(block.leverage)
        values = mean * block.mean + width * root
        # d√leverage = dleverage / (2√leverage); zero if the leverage is zero.
        half = width * (0.5 / np.maximum(root, 1e-12)) * (root > 1e-12)
        falling = (block.b @ self._fall.T) @ self._fall
        on_z = (block.b[:, :m] - falling[:, :m]) @ posterior.root.T - block.Z / posterior.lam
        on_z *= 2.0 * half[:, None]
        on_z += mean * posterior.theta
        gradients = (half / posterior.lam)[:, None] * posterior.kernel.diag_gradient(X)
        if len(self._points):
            on_e = -2.0 * half[:, None] * falling[:, m:] / np.sqrt(posterior.lam)
            on_k = lower_solve(self._lower, on_e.T, transposed=True).T
            on_z -= on_k @ self._features
            gradients = gradients + posterior.kernel.pullback(X, self._points, on_k)
        if m:
            gradients = gradients + posterior.through_features(X, on_z)
        return np.asarray(values), np.asarray(gradients)
