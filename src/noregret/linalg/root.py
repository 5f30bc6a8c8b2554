"""A square root of V⁻¹ that follows V = Σ w·z zᵀ + λI as rows and columns are added."""

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from noregret._types import Floats

#: rows of the root updated at a time, so that the temporary stays in cache
_STRIP = 256


class InverseRoot:
    """F with V⁻¹ = F Fᵀ (m × m), kept without ever factorising V again.

    Attributes
    ----------
    log_det
        log det(V/λ).
    updates
        Rank-one steps since F was computed from scratch: the measure of possible drift.
    """

    def __init__(self, lam: float) -> None:
        self.lam = lam
        self.size = 0
        self.log_det = 0.0
        self.updates = 0
        self._buffer: Floats = np.empty((0, 0))

    @classmethod
    def from_gram(cls, V: Floats, lam: float) -> "InverseRoot":
        """The root of a full V (m × m)."""
        root = cls(lam)
        if len(V):
            lower = safe_cholesky(V)
            root.size = len(V)
            root._buffer = np.ascontiguousarray(
                solve_triangular(lower, np.eye(len(V)), lower=True, check_finite=False).T
            )
            root.log_det = float(2.0 * np.log(lower.diagonal()).sum() - len(V) * np.log(lam))
        return root

    def state(self) -> dict[str, Floats]:
        """Arrays that :meth:`restore` takes."""
        numbers = np.array([self.log_det, self.updates, len(self._buffer)])
        return {"matrix": self.matrix, "numbers": numbers}

    @classmethod
    def restore(cls, arrays: dict[str, Floats], lam: float) -> "InverseRoot":
        """The root with a saved state."""
        root = cls(lam)
        log_det, updates, capacity = arrays["numbers"]
        root.size, root.log_det, root.updates = len(arrays["matrix"]), float(log_det), int(updates)
        root._buffer = with_capacity(arrays["matrix"], (capacity, capacity))
        return root

    @property
    def matrix(self) -> Floats:
        """F (m × m, a view)."""
        return self._buffer[: self.size, : self.size]

    def solve(self, X: Floats) -> Floats:
        """V⁻¹X for X (m × k)."""
        F = self.matrix
        return np.asarray(F @ (F.T @ X))

    def add_rows(self, rows: Floats) -> Floats:
        """V += rowsᵀ rows for rows (k × m), each already times the square root of its weight.

        Returns G (k × m) such that zᵀV⁻¹z falls by ‖G z‖² for every z.
        """
        F = self.matrix
        N = F.T @ rows.T
        FN = F @ N
        gram = N.T @ N
        lower = safe_cholesky(gram + np.eye(len(gram)))
        G = solve_triangular(lower, FN.T, lower=True, check_finite=False)
        # F ← F (I + N Nᵀ)^(-1/2) = F − (F N) C Nᵀ, C from the eigenpairs of NᵀN.
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        roots = np.sqrt(1.0 + values)
        shrink = 1.0 / (roots * (1.0 + roots))  # (1 − 1/√(1+v)) / v without cancellation
        left = FN @ ((vectors * shrink) @ vectors.T)
        right = np.ascontiguousarray(N.T)
        for start in range(0, self.size, _STRIP):
            F[start : start + _STRIP] -= left[start : start + _STRIP] @ right
        self.log_det += float(2.0 * np.log(lower.diagonal()).sum())
        self.updates += len(rows)
        return np.asarray(G)

    def add_columns(self, cross: Floats, corner: Floats) -> tuple[Floats, Floats]:
        """Border V with ``cross`` (m × k) and ``corner`` (k × k, λI included).

        Returns V⁻¹·cross (m × k, of the old V) and the lower Cholesky factor of the Schur
        complement (k × k).
        """
        solved = self.solve(cross)
        lower = safe_cholesky(corner - cross.T @ solved)
        k, m = len(corner), self.size
        inverse = solve_triangular(lower, np.eye(k), lower=True, check_finite=False)
        self._reserve(m + k)
        self._buffer[:m, m : m + k] = -solved @ inverse.T
        self._buffer[m : m + k, :m] = 0.0
        self._buffer[m : m + k, m : m + k] = inverse.T
        self.size = m + k
        self.log_det += float(2.0 * np.log(lower.diagonal()).sum() - k * np.log(self.lam))
        self.updates += k
        return solved, lower

    def _reserve(self, size: int) -> None:
        if size > len(self._buffer):
            capacity = max(size + 16, int(1.25 * size))
            grown = np.empty((capacity, capacity))
            grown[: self.size, : self.size] = self.matrix
            self._buffer = grown


def safe_cholesky(matrix: Floats) -> Floats:
    """The lower Cholesky factor; jitter from 1e-14 of the largest diagonal entry on, if needed.

    The matrices here are positive definite by construction (I or λI is added), so jitter is used
    only where round-off has eaten that.
    """
    try:
        return np.asarray(cholesky(matrix, lower=True, check_finite=False))
    except np.linalg.LinAlgError:
        pass
    scale = max(float(matrix.diagonal().max()), np.finfo(float).tiny)
    for power in range(-14, 1):
        try:
            jittered = matrix + (10.0**power * scale) * np.eye(len(matrix))
            return np.asarray(cholesky(jittered, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("matrix is not positive definite, whatever the jitter")


def with_capacity(matrix: Floats, shape: Any) -> Floats:
    """The matrix in the corner of a larger buffer, so that BLAS sees (and rounds) what it did."""
    buffer = np.empty(tuple(int(n) for n in shape))
    buffer[: matrix.shape[0], : matrix.shape[1]] = matrix
    return buffer
