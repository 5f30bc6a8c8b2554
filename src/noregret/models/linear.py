"""Bayesian linear regression on features: the posterior whose draws are functions."""

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from noregret._types import Floats, Ints
from noregret.linalg.root import safe_cholesky


class LinearPosterior:
    """θ | data ~ N(A⁻¹Φᵀy, λA⁻¹), A = ΦᵀΦ + λI (ξ-greedy TS eq. 5), by unique arms.

    Parameters
    ----------
    features
        Φ of the arms (u × m).
    counts, sums
        Evaluations and sums of rewards of each arm (u).
    lam
        λ = σ².
    """

    def __init__(self, features: Floats, counts: Ints, sums: Floats, lam: float) -> None:
        gram = features.T @ (features * counts[:, None])
        gram[np.diag_indices_from(gram)] += lam
        self._lower = safe_cholesky(gram)
        self._lam = lam
        self.mean: Floats = np.asarray(
            cho_solve((self._lower, True), features.T @ sums, check_finite=False)
        )

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """n draws of θ (m × n)."""
        noise = rng.standard_normal((len(self.mean), n))
        spread = solve_triangular(self._lower, noise, lower=True, trans=1, check_finite=False)
        return np.asarray(self.mean[:, None] + np.sqrt(self._lam) * spread)
