"""The posterior anywhere in a box: mean, leverage and their gradients, O(m²) a point."""

import numpy as np
from scipy.linalg import qr, solve_triangular

from noregret._types import Floats, Ints, Points
from noregret.models.sparse import SparseGP
from noregret.models.view import PosteriorView


class Surface(PosteriorView):
    """Mean and leverage of any points given told, pending and picked evaluations.

    Everything is a function of z(x) = L⁻¹k_S(x), and of e(x) for arms outside the dictionary's
    span, so gradients go back through two triangular solves to the kernel's own.

    Parameters
    ----------
    model, pending, frozen
        As for :class:`~noregret.models.view.PosteriorView`.
    """

    def __init__(self, model: SparseGP, pending: Ints, frozen: bool = False) -> None:
        super().__init__(model, pending, frozen)
        self._inducing = model.arms.points[model.dictionary]
        self._factor = model.arms.features(model.dictionary)  # L
        self._picked: list[tuple[Floats, Floats]] = []  # points and features

    def evaluate(self, X: Points) -> tuple[Floats, Floats]:
        """Mean and leverage (n each) of points (n × d)."""
        Z = self.model.embed(X)
        return np.asarray(Z @ self.model.theta), self.at_points(Z, X, self.residual(Z, X))

    def note(self, point: Floats) -> tuple[float, float]:
        """Take down a pick (d); its leverage from what has been told only, and now."""
        X = point[None]
        Z = self.model.embed(X)
        self._picked.append((point, Z[0]))
        residual = self.residual(Z, X)
        told = residual / self.model.lam + np.square(Z @ self.model.root.matrix).sum(axis=1)
        return float(told[0]), float(self.at_points(Z, X, residual)[0])

    def told_covariance(self, id_: int) -> Floats:
        """k̃ of BBKB eq. 2 between pick ``id_`` and the picks before it and itself (id_ + 1)."""
        points, features = (np.array(part) for part in zip(*self._picked[: id_ + 1], strict=True))
        z, model = features[-1], self.model
        outside = model.kernel(points, points[-1:])[:, 0] - features @ z
        return np.asarray(outside / model.lam + features @ model.root.solve(z))

    def drawn(self, X: Points, theta: Floats, outside: float) -> tuple[Floats, Floats]:
        """z(x)ᵀθ + outside·√residual(x) (n) and its gradients (n × d)."""
        model = self.model
        Z = model.embed(X)
        root = np.sqrt(self.residual(Z, X))
        values = Z @ theta + outside * root
        half = outside * (0.5 / np.maximum(root, 1e-12)) * (root > 1e-12)
        gradients = half[:, None] * model.kernel.diag_gradient(X)
        if model.size:
            on_z = theta - 2.0 * half[:, None] * Z
            gradients = gradients + self._through_features(X, on_z)
        return np.asarray(values), np.asarray(gradients)

    def _through_features(self, X: Points, on_z: Floats) -> Floats:
        """Derivatives by z (n × m) as gradients by x (n × d)."""
        on_k = solve_triangular(self._factor, on_z.T, lower=True, trans=1, check_finite=False).T
        return self.model.kernel.pullback(X, self._inducing, on_k)

    def bound(self, X: Points, width: float, mean: float = 1.0) -> tuple[Floats, Floats]:
        """``mean``·mean(x) + ``width``·√leverage(x) (n) and its gradients (n × d)."""
        model, m = self.model, self.model.size
        Z = model.embed(X)
        b = self._coordinates(Z, X)
        leverage = self.at_points(Z, X, self.residual(Z, X), b)
        root = np.sqrt(leverage)
        values = mean * (Z @ model.theta) + width * root
        # d√leverage = dleverage / (2√leverage), flat where nothing is left to learn.
        half = width * (0.5 / np.maximum(root, 1e-12)) * (root > 1e-12)
        falling = (b @ self._fall.T) @ self._fall
        on_z = (b[:, :m] - falling[:, :m]) @ model.root.matrix.T - Z / model.lam
        on_z *= 2.0 * half[:, None]
        on_z += mean * model.theta
        gradients = (half / model.lam)[:, None] * model.kernel.diag_gradient(X)
        if len(self._points):
            on_e = -2.0 * half[:, None] * falling[:, m:] / np.sqrt(model.lam)
            on_k = solve_triangular(self._lower, on_e.T, lower=True, trans=1, check_finite=False).T
            on_z -= on_k @ self._features
            gradients = gradients + model.kernel.pullback(X, self._points, on_k)
        if m:
            gradients = gradients + self._through_features(X, on_z)
        return np.asarray(values), np.asarray(gradients)

    def add(self, point: Floats) -> None:
        """Count one more evaluation of a point (d), picked in this batch."""
        X = point[None]
        Z = self.model.embed(X)
        if not self.frozen:
            self._span(X, Z)
        b = self._coordinates(Z, X)[0]
        left = b - (b @ self._fall.T) @ self._fall
        row = left / np.sqrt(1.0 + max(float(b @ left), 0.0))
        self._fall = np.concatenate([self._fall, row[None]])
        if len(self._fall) > 2 * max(len(row), 8):  # only GᵀG matters
            self._fall = np.asarray(qr(self._fall, mode="r", check_finite=False)[0][: len(row)])

    def _span(self, X: Points, Z: Floats) -> None:
        """Give a point a feature of its own where it lies outside the span."""
        outside = self._outside(Z, X)[0] * np.sqrt(self.model.lam) if len(self._points) else []
        residual = float(self.residual(Z, X)[0]) - float(np.square(outside).sum())
        if residual <= self.model.tolerance:
            return
        k = len(self._points)
        lower = np.zeros((k + 1, k + 1))
        lower[:k, :k] = self._lower
        lower[k, :k] = outside
        lower[k, k] = np.sqrt(residual)
        self._lower = lower
        self._points = np.concatenate([self._points, X])
        self._features = np.concatenate([self._features, Z])
        self._fall = np.concatenate([self._fall, np.zeros((len(self._fall), 1))], axis=1)

    def residual(self, Z: Floats, X: Points) -> Floats:
        """k(x, x) − ‖z‖²: the prior variance outside the span (n)."""
        prior = self.model.kernel.diag(X)
        return np.asarray(np.maximum(prior - np.einsum("ij,ij->i", Z, Z), 0.0))
