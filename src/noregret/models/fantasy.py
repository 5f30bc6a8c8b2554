"""The posterior with evaluations whose rewards are not known yet: variances fall, means stay.

The dictionary stays as it is until rewards come. So a pending arm outside the span of the
dictionary gets features of its own: with e(x) = L⁻¹(k_P(x) − Z_P z(x)) for those arms P, (z, e)
spans them as well.
"""

import math
from dataclasses import dataclass, fields

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.linalg.factors import (
    lower_solve,
    pivoted_cholesky,
    row_factor,
    row_norms,
    safe_cholesky,
    with_room,
)
from noregret.models.posterior import Posterior


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
