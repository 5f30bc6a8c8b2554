"""Functions drawn from the posterior, by pathwise conditioning (Wilson et al. 2020).

A function drawn from the prior by features, g(x) = φ(x)ᵀw with w ~ N(0, I), is moved to the
posterior. With z(x) = L⁻¹k_S(x) for the dictionary S, and g_S the values of g at S,

    f(x) = g(x) + z(x)ᵀ(θ − L⁻¹g_S),    θ ~ N(V⁻¹Zᵀy, λV⁻¹).

If φ(x)ᵀφ(y) = k(x, y), the part of g outside the span of z has the covariance k − zᵀz, so that f
has the posterior's law. What the features leave out of the prior is missing only at points far from
the inducing points: at inducing points f is zᵀθ, whatever the features.
"""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.linalg.factors import lower_solve, row_norms, safe_cholesky
from noregret.models.features import Features
from noregret.models.posterior import Posterior

#: functions are evaluated at this many points at a time, whose features stay in the cache
_PIECE = 128


class Paths:
    """n functions drawn from the posterior.

    Parameters
    ----------
    posterior
        The posterior of the function.
    features
        φ with φ(x)ᵀφ(y) ≈ k(x, y).
    n
        How many functions.
    rng
        Source of randomness.
    """

    def __init__(
        self, posterior: Posterior, features: Features, n: int, rng: np.random.Generator
    ) -> None:
        self._posterior, self._features = posterior, features
        self._weights: Floats = rng.standard_normal((features.size, n))
        theta = posterior.draw(n, rng)
        self._inducing: Floats = np.empty((0, features.size))  # L⁻¹φ(S)
        if posterior.size:
            self._inducing = lower_solve(posterior.tall, features(posterior.inducing))
        self._change: Floats = theta - self._inducing @ self._weights
        # f(x) = φ(x)ᵀw + k_S(x)ᵀ L⁻ᵀ(θ − L⁻¹g_S): no linear system is solved for each x
        self._on_kernel = lower_solve(posterior.tall, self._change, transposed=True)

    def values(self, X: Points) -> Floats:
        """The functions at points (k × d): k × n."""
        values = np.empty((len(X), self._weights.shape[1]))
        for start in range(0, len(X), _PIECE):
            piece = slice(start, start + _PIECE)
            values[piece] = self._features(X[piece]) @ self._weights
            if self._posterior.size:
                similar = self._posterior.kernel(X[piece], self._posterior.inducing)
                values[piece] += similar @ self._on_kernel
        return values

    def evaluate(self, X: Points, which: Ints) -> tuple[Floats, Floats]:
        """Values (k) and gradients (k × d) at points (k × d), each of its own function (k)."""
        values, gradients = self._features.evaluate(X, self._weights.T[which])
        posterior = self._posterior
        if posterior.size:
            on_kernel = self._on_kernel.T[which]
            values += np.einsum("ij,ij->i", posterior.kernel(X, posterior.inducing), on_kernel)
            gradients = gradients + posterior.kernel.pullback(X, posterior.inducing, on_kernel)
        return np.asarray(values), np.asarray(gradients)

    def missing(self, X: Points) -> Floats:
        """The posterior variance at points (k × d) that the features leave out (k)."""
        Z = self._posterior.embed(X)
        drawn = self._features(X) - Z @ self._inducing
        return np.asarray(np.maximum(self._posterior.residual(Z, X) - row_norms(drawn), 0.0))


def joint_values(posterior: Posterior, X: Points, n: int, rng: np.random.Generator) -> Floats:
    """The values of n functions at points (k × d), drawn jointly without features: k × n."""
    mean, _ = posterior.evaluate(X)
    lower = safe_cholesky(posterior.lam * posterior.covariance(X, X))
    return np.asarray(mean[:, None] + lower @ rng.standard_normal((len(X), n)))
