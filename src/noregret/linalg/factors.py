"""Factors of matrices: a Cholesky factor safe from round-off, and roots of V⁻¹ that are updated."""

import copy
from collections.abc import Iterable
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
    found, _ = dpotri(lower, lower=1)  # zeros above the diagonal stay as they are
    whole = found + found.T
    whole[np.diag_indices_from(whole)] *= 0.5
    return np.asarray(whole)


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


def solve_by_roots(roots: Floats, X: Floats) -> Floats:
    """F Fᵀ X for every root F (g × m × k), for X (m × k); or g × m, for one column (m)."""
    solved = roots @ (roots.transpose(0, 2, 1) @ (X[:, None] if X.ndim == 1 else X))
    return np.asarray(solved.reshape(len(roots), *X.shape))


#: numbers of the roots updated at a time, so that the temporary stays in cache
_STRIP = 1 << 16
#: roots of m columns are tested after m / _RARELY updates, if G is below _WELL·λ
_RARELY, _WELL = 64, 1e6
#: a root is computed afresh when V·V⁻¹x differs from x by more than this
_DRIFT = 1e-9


@lru_cache(maxsize=8)
def _probe(size: int) -> Floats:
    """A vector whose entries change sign, so that it is not close to any feature vector (m)."""
    return np.cos(np.arange(1, size + 1) ** 2)


class InverseRoots:
    """F with V⁻¹ = F Fᵀ, V = G + λI, for one or more λ, without factorising V at every step.

    Parameters
    ----------
    lams
        The values of λ (g).

    Attributes
    ----------
    size
        m.
    log_dets
        log det(V/λ) for every λ (g).
    """

    def __init__(self, lams: Floats) -> None:
        self._lams = lams
        self.size = 0
        self.log_dets: Floats = np.zeros(len(lams))
        self._updates = 0  # rank-one steps since the roots were computed from scratch
        self._tested = 0  # how many of them the roots were tested after
        self._buffer: Floats = np.empty((len(lams), 0, 0))

    @property
    def matrices(self) -> Floats:
        """F for every λ (g × m × m, a view)."""
        return self._buffer[:, : self.size, : self.size]

    def copy(self) -> "InverseRoots":
        """Other roots with the same content."""
        made = copy.copy(self)
        made._buffer = self._buffer.copy()
        return made

    def solve(self, X: Floats) -> Floats:
        """V⁻¹X for every λ (g × m × k), for X (m × k); or g × m, for one column (m)."""
        return solve_by_roots(self.matrices, X)

    def compute(self, gram: Floats) -> None:
        """Start from a whole G (m × m): O(g m³), and no drift."""
        m = len(gram)
        self.size, self._updates, self._tested = m, 0, 0
        self._reserve(m, keep=0)
        self._factorise(gram, range(len(self._lams)))

    def _factorise(self, gram: Floats, which: Iterable[int]) -> None:
        """Compute the roots of some λ from the whole G."""
        m = len(gram)
        log_dets = self.log_dets.copy()
        for i in which:
            V = gram.copy()
            V[np.diag_indices(m)] += self._lams[i]
            lower = safe_cholesky(V) if m else V
            self._buffer[i, :m, :m] = lower_solve(lower, np.eye(m)).T
            log_dets[i] = 2.0 * np.log(lower.diagonal()).sum() - m * np.log(self._lams[i])
        self.log_dets = log_dets

    def add_rows(self, rows: Floats) -> Floats:
        """G += rowsᵀ rows for rows (k × m), each already times the square root of its weight.

        Returns the matrix M (k × m) for which zᵀV⁻¹z of the first λ falls by ‖Mz‖².
        """
        F = self.matrices
        N = F.transpose(0, 2, 1) @ rows.T
        FN, right = F @ N, N.transpose(0, 2, 1)
        grams = right @ N
        # F ← F (I + N Nᵀ)^(-1/2) = F − (F N) C Nᵀ, C from the eigenpairs of NᵀN.
        if len(rows) == 1:  # by far the most frequent case
            values = grams[:, 0]
            falls = FN[0].T / np.sqrt(1.0 + grams[0])
            left = FN * _shrinking(values)[:, None]
        else:
            falls = lower_solve(safe_cholesky(grams[0] + np.eye(len(rows))), FN[0].T)
            values, vectors = np.linalg.eigh(grams)
            values = np.maximum(values, 0.0)
            turned = vectors * _shrinking(values)[:, None]
            left = FN @ (turned @ vectors.transpose(0, 2, 1))
        right = np.ascontiguousarray(right)
        strip = max(_STRIP // max(len(F) * self.size, 1), 1)
        for start in range(0, self.size, strip):
            F[:, start : start + strip] -= left[:, start : start + strip] @ right
        self.log_dets = self.log_dets + np.log1p(values).sum(axis=1)
        self._updates += len(rows)
        return np.asarray(falls)

    def add_columns(self, cross: Floats, corner: Floats) -> tuple[Floats, Floats]:
        """Border G with ``cross`` (m × k) and ``corner`` (k × k).

        Returns, for the first λ, V⁻¹·cross (m × k, of the old V) and the inverse of the lower
        Cholesky factor of the Schur complement (k × k).
        """
        k, m = len(corner), self.size
        solved = self.solve(cross)
        schurs = corner - cross.T @ solved
        diagonal = np.arange(k)
        schurs[:, diagonal, diagonal] += self._lams[:, None]
        lowers = np.array([safe_cholesky(schur) for schur in schurs])
        inverses = np.array([lower_solve(lower, np.eye(k)) for lower in lowers])
        self._reserve(m + k, keep=m)
        across = inverses.transpose(0, 2, 1)
        self._buffer[:, :m, m : m + k] = -solved @ across
        self._buffer[:, m : m + k, :m] = 0.0
        self._buffer[:, m : m + k, m : m + k] = across
        self.size = m + k
        logs = 2.0 * np.log(lowers[:, diagonal, diagonal]).sum(axis=1) - k * np.log(self._lams)
        self.log_dets = self.log_dets + logs
        self._updates += k
        return solved[0], inverses[0]

    def repair(self, gram: Floats) -> bool:
        """Compute the roots again that have lost digits; whether the first λ's had not.

        Where λ is small and G is large, every update loses digits. How many depends on the run, so
        roots are tested with one vector, O(g m²), rather than computed again after a fixed number
        of steps. Large roots of matrices that are not ill conditioned are tested only now and then.
        """
        if not self._updates:
            return True
        if self._updates > 4 * self.size + 256:
            self.compute(gram)
            return False
        fresh = self._updates - self._tested <= self.size // _RARELY
        if fresh and float(gram.diagonal().max()) < _WELL * float(self._lams.min()):
            return True
        self._tested = self._updates
        x = _probe(self.size)
        y = self.solve(x)
        off = y @ gram + self._lams[:, None] * y - x
        lost = np.flatnonzero(row_norms(off) > _DRIFT**2 * (x @ x))
        self._factorise(gram, lost.tolist())
        return 0 not in lost

    def _reserve(self, size: int, keep: int) -> None:
        if size > self._buffer.shape[1]:
            capacity = max(size + 16, int(1.25 * size))
            grown = np.zeros((len(self._lams), capacity, capacity))
            grown[:, :keep, :keep] = self._buffer[:, :keep, :keep]
            self._buffer = grown


def _shrinking(values: Floats) -> Floats:
    """(1 − 1/√(1 + v)) / v, without cancellation."""
    roots = np.sqrt(1.0 + values)
    return np.asarray(1.0 / (roots * (1.0 + roots)))
