"""Factors of matrices: a Cholesky factor safe from round-off, and a root of V⁻¹ that is updated."""

import copy
from functools import lru_cache

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dgeqrf, dpotri, dpstrf, dtrtrs

from noregret._types import Floats, Ints


def safe_cholesky(matrix: Floats) -> Floats:
    """The lower Cholesky factor; jitter if needed, at least 1e-14 of the largest diagonal entry.

    The matrices here are positive definite by construction (I or λI is added). Jitter is needed
    only where round-off makes them indefinite.
    """
    if len(matrix) == 1 and matrix[0, 0] > 0.0:  # by far the most frequent case
        return np.sqrt(matrix)
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
    raise np.linalg.LinAlgError("matrix is not positive definite, even with jitter")


def pivoted_cholesky(matrix: Floats, tolerance: float) -> tuple[Floats, Ints]:
    """The lower factor of the leading rows and columns in pivot order, and the rows' numbers.

    Pivots below ``tolerance`` (dependent points, duplicates) are dropped.
    """
    if len(matrix) <= 1:
        kept = np.flatnonzero(matrix.diagonal() > tolerance)
        return np.sqrt(matrix[np.ix_(kept, kept)]), kept
    factor, pivots, rank, _ = dpstrf(np.asfortranarray(matrix), tol=tolerance, lower=1)
    return np.tril(factor[:rank, :rank]), (pivots[:rank] - 1).astype(np.int64)


def lower_solve(lower: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """L⁻¹X, or L⁻ᵀX, for a lower triangular L (m × m) and X (m × k)."""
    if not len(lower):
        return np.empty((0, *right.shape[1:]))
    if len(lower) == 1:
        return np.asarray(right / lower[0, 0])
    # LAPACK is called directly: SciPy's checks cost more than small systems do.
    solved, _ = dtrtrs(lower, right, lower=1, trans=1 if transposed else 0)
    return np.asarray(solved)


def inverse_from(lower: Floats) -> Floats:
    """(LLᵀ)⁻¹ for a lower triangular L (n × n)."""
    found, _ = dpotri(lower, lower=1)
    half = np.tril(found)
    return np.asarray(half + np.tril(half, -1).T)


def row_norms(matrix: Floats) -> Floats:
    """‖row‖² of every row (n)."""
    return np.asarray(np.einsum("ij,ij->i", matrix, matrix))


def row_factor(matrix: Floats) -> Floats:
    """An upper triangular R (k × k) with RᵀR = MᵀM, for a matrix M (n × k) with n ≥ k."""
    factored, *_ = dgeqrf(matrix)
    return np.triu(factored[: matrix.shape[1]])


def with_room(buffer: Floats, rows: int, columns: int) -> Floats:
    """The buffer itself if it has this shape, else a larger one with the same content."""
    have = buffer.shape
    if rows <= have[0] and columns <= have[1]:
        return buffer
    shape = (
        max(rows, int(1.5 * have[0])) if rows > have[0] else have[0],
        max(columns + 8, int(1.25 * columns)) if columns > have[1] else have[1],
    )
    grown = np.zeros(shape)
    grown[: have[0], : have[1]] = buffer
    return grown


#: rows of the root updated at a time, so that the temporary stays in cache
_STRIP = 256
#: roots of m columns are tested after m / _RARELY updates, if G is below _WELL·λ
_RARELY, _WELL = 64, 1e6
#: a root is computed afresh when V·V⁻¹x differs from x by more than this
_DRIFT = 1e-9


@lru_cache(maxsize=8)
def _probe(size: int) -> Floats:
    """A vector whose entries change sign, so that it is not close to any feature vector (m)."""
    return np.cos(np.arange(1, size + 1) ** 2)


class InverseRoot:
    """F with V⁻¹ = F Fᵀ (m × m), kept without factorising V at every step.

    Attributes
    ----------
    lam
        λ.
    size
        m.
    log_det
        log det(V/λ).
    """

    def __init__(self, lam: float) -> None:
        self.lam = lam
        self.size = 0
        self.log_det = 0.0
        self._updates = 0  # rank-one steps since F was computed from scratch
        self._tested = 0  # how many of them F was tested after
        self._buffer: Floats = np.empty((0, 0))

    @property
    def matrix(self) -> Floats:
        """F (m × m, a view)."""
        return self._buffer[: self.size, : self.size]

    def copy(self) -> "InverseRoot":
        """Another root with the same content."""
        made = copy.copy(self)
        made._buffer = self._buffer.copy()
        return made

    def solve(self, X: Floats) -> Floats:
        """V⁻¹X for X (m × k)."""
        F = self.matrix
        return np.asarray(F @ (F.T @ X))

    def compute(self, gram: Floats) -> None:
        """Start from a whole G (m × m): O(m³), and no drift."""
        m = len(gram)
        V = gram.copy()
        V[np.diag_indices(m)] += self.lam
        lower = safe_cholesky(V) if m else V
        self.size, self._updates, self._tested = m, 0, 0
        self._reserve(m, keep=0)
        self._buffer[:m, :m] = lower_solve(lower, np.eye(m)).T
        self.log_det = float(2.0 * np.log(lower.diagonal()).sum() - m * np.log(self.lam))

    def add_rows(self, rows: Floats) -> Floats:
        """G += rowsᵀ rows for rows (k × m), each already times the square root of its weight.

        Returns the matrix M (k × m) for which zᵀV⁻¹z falls by ‖Mz‖².
        """
        F = self.matrix
        N = F.T @ rows.T
        FN = F @ N
        gram = N.T @ N
        # F ← F (I + N Nᵀ)^(-1/2) = F − (F N) C Nᵀ, C from the eigenpairs of NᵀN.
        if len(gram) == 1:  # by far the most frequent case
            values, vectors = gram[0], None
            falls = FN.T / np.sqrt(1.0 + gram)
        else:
            falls = lower_solve(safe_cholesky(gram + np.eye(len(gram))), FN.T)
            values, vectors = np.linalg.eigh(gram)
            values = np.maximum(values, 0.0)
        roots = np.sqrt(1.0 + values)
        shrink = 1.0 / (roots * (1.0 + roots))  # (1 − 1/√(1+v)) / v without cancellation
        left = FN * shrink if vectors is None else FN @ ((vectors * shrink) @ vectors.T)
        right = np.ascontiguousarray(N.T)
        for start in range(0, self.size, _STRIP):
            F[start : start + _STRIP] -= left[start : start + _STRIP] @ right
        self.log_det += float(np.log1p(values).sum())
        self._updates += len(rows)
        return falls

    def add_columns(self, cross: Floats, corner: Floats) -> tuple[Floats, Floats]:
        """Border G with ``cross`` (m × k) and ``corner`` (k × k).

        Returns V⁻¹·cross (m × k, of the old V) and the inverse of the lower Cholesky factor of the
        Schur complement (k × k).
        """
        k, m = len(corner), self.size
        solved = self.solve(cross)
        schur = corner - cross.T @ solved
        schur[np.diag_indices(k)] += self.lam
        lower = safe_cholesky(schur)
        inverse = lower_solve(lower, np.eye(k))
        self._reserve(m + k, keep=m)
        self._buffer[:m, m : m + k] = -solved @ inverse.T
        self._buffer[m : m + k, :m] = 0.0
        self._buffer[m : m + k, m : m + k] = inverse.T
        self.size = m + k
        self.log_det += float(2.0 * np.log(lower.diagonal()).sum() - k * np.log(self.lam))
        self._updates += k
        return solved, inverse

    def is_accurate(self, gram: Floats) -> bool:
        """Whether F is still the root of (G + λI)⁻¹, tested with one vector: O(m²).

        Where λ is small and G is large, every update loses digits. How many depends on the run, so
        the root is tested, rather than computed again after a fixed number of steps. A large root
        of a matrix that is not ill conditioned is tested only now and then.
        """
        if not self._updates:
            return True
        if self._updates > 4 * self.size + 256:
            return False
        fresh = self._updates - self._tested <= self.size // _RARELY
        if fresh and float(gram.diagonal().max()) < _WELL * self.lam:
            return True
        self._tested = self._updates
        x = _probe(self.size)
        F = self.matrix
        y = F @ (F.T @ x)
        off = gram @ y + self.lam * y - x
        return bool(off @ off <= _DRIFT**2 * (x @ x))

    def _reserve(self, size: int, keep: int) -> None:
        if size > len(self._buffer):
            capacity = max(size + 16, int(1.25 * size))
            grown = np.zeros((capacity, capacity))
            grown[:keep, :keep] = self._buffer[:keep, :keep]
            self._buffer = grown
