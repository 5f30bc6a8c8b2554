"""Factors of matrices: a Cholesky factor safe from round-off, and roots of V⁻¹ that are updated."""

import copy
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dgeqrf, dpotrf, dpotri, dpstrf, dtrtrs

from noregret._types import Floats, Ints

#: masks of triangles up to this size are kept
_SMALL = 64


def safe_cholesky(matrix: Floats) -> Floats:
    """The lower Cholesky factor; jitter if needed, at least 1e-14 of the largest diagonal entry.

    The matrices here are positive definite by construction (I or λI is added). Jitter is needed
    only where round-off makes them indefinite.
    """
    if len(matrix) == 1 and matrix[0, 0] > 0.0:  # by far the most frequent case
        return np.sqrt(matrix)
    # LAPACK is called directly: SciPy's checks cost more than small matrices do.
    lower, failed = dpotrf(matrix, lower=1)
    if not failed:
        return np.asarray(lower)
    scale = max(float(matrix.diagonal().max()), np.finfo(float).tiny)
    for power in range(-14, 1):
        jittered = matrix + (10.0**power * scale) * np.eye(len(matrix))
        lower, failed = dpotrf(jittered, lower=1)
        if not failed:
            return np.asarray(lower)
    raise np.linalg.LinAlgError("matrix is not positive definite, even with jitter")


def pivoted_cholesky(matrix: Floats, tolerance: float) -> tuple[Floats, Ints]:
    """The lower factor of the leading rows and columns in pivot order, and the rows' numbers.

    Pivots below ``tolerance`` (dependent points, duplicates) are dropped.
    """
    if len(matrix) <= 1:  # by far the most frequent case
        kept = (matrix.diagonal() > tolerance).nonzero()[0]
        return np.sqrt(matrix[: len(kept), : len(kept)]), kept
    factor, pivots, rank, _ = dpstrf(np.asfortranarray(matrix), tol=tolerance, lower=1)
    return _lower_part(factor[:rank, :rank]), (pivots[:rank] - 1).astype(np.int64)


def _lower_part(matrix: Floats) -> Floats:
    """A matrix with zeros above its diagonal; for small ones NumPy's own mask takes longest."""
    if len(matrix) > _SMALL:
        return np.tril(matrix)
    return np.where(_lower_mask(len(matrix)), matrix, 0.0)


@lru_cache(maxsize=_SMALL)
def _lower_mask(size: int) -> NDArray[np.bool_]:
    """Which entries of a matrix are not above its diagonal (n × n)."""
    return np.tri(size, dtype=np.bool_)


def lower_solve(lower: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """L⁻¹X, or L⁻ᵀX, for a lower triangular L (m × m) and X (m × k).

    ``lower`` may have more rows than columns: only the first m are read.
    """
    size = lower.shape[1]
    if not size:
        return np.empty((0, *right.shape[1:]))
    if size == 1:
        return np.asarray(right / lower[0, 0])
    # LAPACK is called directly, as above.
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
    return np.asarray(np.vecdot(matrix, matrix))


def column_norms(matrix: Floats) -> Floats:
    """‖column‖² of every column (n)."""
    if len(matrix) == 1:  # by far the most frequent case
        return np.asarray(matrix[0] * matrix[0])
    return np.asarray(np.einsum("ij,ij->j", matrix, matrix))


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


def with_square_room(buffer: Floats, size: int) -> Floats:
    """The buffer itself (… × M × M) if M is at least ``size``, else a larger one."""
    have = buffer.shape[-1]
    if size <= have:
        return buffer
    capacity = max(size + 16, int(1.25 * size))
    grown = np.zeros((*buffer.shape[:-2], capacity, capacity))
    grown[..., :have, :have] = buffer
    return grown


def add_product(matrix: Floats, left: Floats, right: Floats) -> None:
    """Add leftᵀ right to a matrix (M × M), in place, for k rows of each (k × M).

    NumPy alone takes ten times as long.
    """
    if right.size:
        assert matrix.flags.c_contiguous  # otherwise BLAS would work on a copy
        dgemm(1.0, right.T, left.T, trans_b=True, beta=1.0, c=matrix.T, overwrite_c=1)


#: roots are tested at every update if G is above _WELL·λ, after _FEW updates if it is as large, and
#: after more if it is smaller, up to _MANY
_WELL, _FEW, _MANY = 1e6, 16, 256
#: a root is computed afresh when V·V⁻¹x differs from x by more than this
_DRIFT = 1e-9
#: how many rank-one steps are kept beside a root before it takes them in, if it has more than this
#: many columns: smaller ones stay in the cache
_LATE, _IN_CACHE = 32, 256


@lru_cache(maxsize=8)
def _probe(size: int) -> Floats:
    """A vector whose entries change sign, so that it is not close to any feature vector (m)."""
    return np.cos(np.arange(1, size + 1) ** 2)


class InverseRoots:
    """F with V⁻¹ = F Fᵀ, V = G + λI, for one or more λ, without factorising V at every step.

    A rank-one step changes all of F, which takes longer than reading it if it is large. So the last
    steps are kept beside it, F = F₀ − AᵀB, and F₀ takes in many of them at once.

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
        self._buffer: Floats = np.empty((len(lams), 0, 0))  # F₀ in a corner
        self._late = 0  # how many rows of A and B are in use
        self._steps: Floats = np.empty((2, len(lams), 0, 0))  # A and B, zero beyond m

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies leave out rows of A and B that are not in use."""
        return {**vars(self), "_steps": self._steps[:, :, : self._late]}

    @property
    def matrices(self) -> Floats:
        """F for every λ (g × m × m, possibly a view)."""
        F, (A, B) = self._first, self._last
        return np.asarray(F - A.transpose(0, 2, 1) @ B) if self._late else F

    @property
    def _first(self) -> Floats:
        """F₀ for every λ (g × m × m, a view)."""
        return self._buffer[:, : self.size, : self.size]

    @property
    def _last(self) -> Floats:
        """A and B for every λ (2 × g × k × m, a view)."""
        return self._steps[:, :, : self._late, : self.size]

    def copy(self) -> "InverseRoots":
        """Other roots with the same content."""
        made = copy.copy(self)
        made._buffer, made._steps = self._buffer.copy(), self._steps.copy()
        return made

    def coordinates(self, Z: Floats, which: slice = slice(None)) -> Floats:
        """ZF for Z (k × m) and every λ, or some: g × k × m. zᵀV⁻¹z is the squared norm of a row."""
        found = Z @ self._first[which]
        if self._late:
            A, B = self._last[:, which]
            found -= (Z @ A.transpose(0, 2, 1)) @ B
        return np.asarray(found)

    def _back(self, N: Floats) -> Floats:
        """NFᵀ for every λ (g × k × m), for coordinates N (g × k × m)."""
        found = N @ self._first.transpose(0, 2, 1)
        if self._late:
            A, B = self._last
            found -= (N @ B.transpose(0, 2, 1)) @ A
        return np.asarray(found)

    def solve(self, X: Floats) -> Floats:
        """V⁻¹X for every λ (g × m × k), for X (m × k); or g × m, for one column (m)."""
        solved = self._back(self.coordinates(X[None] if X.ndim == 1 else X.T))
        return solved[:, 0] if X.ndim == 1 else solved.transpose(0, 2, 1)

    def compute(self, gram: Floats) -> None:
        """Start from a whole G (m × m): O(g m³), and no drift."""
        m = len(gram)
        self.size, self._updates, self._tested = m, 0, 0
        self._late, self._steps = 0, np.empty((2, len(self._lams), 0, 0))
        self._buffer = with_square_room(self._buffer[:, :0, :0], m)
        self._factorise(gram, range(len(self._lams)))

    def _factorise(self, gram: Floats, which: Iterable[int]) -> None:
        """Compute the roots of some λ from the whole G."""
        m, log_dets = len(gram), self.log_dets.copy()
        for i in which if m else ():
            V = gram.copy()
            V.flat[:: m + 1] += self._lams[i]
            lower = safe_cholesky(V)
            self._buffer[i, :m, :m] = lower_solve(lower, np.eye(m)).T
            log_dets[i] = 2.0 * np.log(lower.diagonal()).sum() - m * np.log(self._lams[i])
        self.log_dets = log_dets

    def add_rows(self, rows: Floats, N: Floats) -> tuple[Floats, Floats, Floats]:
        """G += rowsᵀ rows for rows (k × m), each already times the square root of its weight.

        N are their :meth:`coordinates` (g × k × m). Returns the matrix M (k × m) for which zᵀV⁻¹z
        of the first λ falls by ‖Mz‖²; rows V⁻¹ of the new V for every λ (g × k × m); and the C
        (k × k) with C M = rows V⁻¹ for the first λ.
        """
        back, grams = self._back(N), N @ N.transpose(0, 2, 1)
        # F ← F (I + Nᵀ N)^(-1/2) = F − (F Nᵀ) C N, C from the eigenpairs of N Nᵀ.
        if len(rows) == 1:  # by far the most frequent case
            values = grams[:, 0]
            grown = 1.0 + grams
            lower = np.sqrt(grown)
            falls, across_falls = back[0] / lower[0], 1.0 / lower[0]
            left, gains = back / (grown + lower), back / grown
        else:
            lower = safe_cholesky(grams[0] + np.eye(len(rows)))
            falls = lower_solve(lower, back[0])
            across_falls = lower_solve(lower, np.eye(len(rows))).T
            values, vectors = np.linalg.eigh(grams)
            values, across = np.maximum(values, 0.0), vectors.transpose(0, 2, 1)
            left = ((vectors * _shrinking(values)[:, None]) @ across) @ back
            gains = ((vectors / (1.0 + values)[:, None]) @ across) @ back
        self._step(left, N)
        self.log_dets = self.log_dets + np.log1p(values).sum(axis=1)
        self._updates += len(rows)
        return np.asarray(falls), np.asarray(gains), np.asarray(across_falls)

    def _step(self, left: Floats, right: Floats) -> None:
        """F −= leftᵀ right, for k rows of each (g × k × m)."""
        late, k = self._late, left.shape[1]
        self._steps = _with_steps(self._steps, max(_LATE, late + k), self._buffer.shape[-1])
        self._steps[0, :, late : late + k, : self.size] = left
        self._steps[1, :, late : late + k, : self.size] = right
        self._late = late + k
        if self._late >= _LATE or self.size <= _IN_CACHE:
            self._take_steps()

    def _take_steps(self) -> None:
        """Let F₀ take in the steps beside it."""
        late, self._late = self._late, 0
        for F, A, B in zip(self._buffer, *self._steps[:, :, :late], strict=True):
            add_product(F, -A, B)
        if self._steps.shape[2] > _LATE:
            self._steps = self._steps[:, :, :_LATE].copy()

    def add_columns(self, cross: Floats, corner: Floats, solved: Floats) -> Floats:
        """Border G with ``cross`` (m × k) and ``corner`` (k × k).

        ``solved`` is V⁻¹·cross of the old V for every λ (g × m × k). Returns, for every λ, the
        inverse of the lower Cholesky factor of the Schur complement (g × k × k).
        """
        k, m = len(corner), self.size
        schurs = corner - cross.T @ solved + self._lams[:, None, None] * np.eye(k)
        if k == 1 and schurs.min() > 0.0:  # by far the most frequent case
            inverses = 1.0 / np.sqrt(schurs)
        else:
            inverses = np.array([lower_solve(safe_cholesky(one), np.eye(k)) for one in schurs])
        self._buffer = with_square_room(self._buffer, m + k)
        self._steps = _with_steps(self._steps, self._steps.shape[2], self._buffer.shape[-1])
        across = inverses.transpose(0, 2, 1)
        self._buffer[:, :m, m : m + k] = -solved @ across
        self._buffer[:, m : m + k, :m] = 0.0
        self._buffer[:, m : m + k, m : m + k] = across
        self.size = m + k
        logs = np.log(inverses.diagonal(axis1=1, axis2=2)).sum(axis=1)
        self.log_dets = self.log_dets - 2.0 * logs - k * np.log(self._lams)
        self._updates += k
        return inverses

    def are_due(self, largest: float) -> bool:
        """Whether the roots should be tested, if this is the largest diagonal entry of G.

        Where λ is small and G is large, every update loses digits. Otherwise a test now and then is
        enough.
        """
        condition = largest / float(self._lams.min())
        since = self._updates - self._tested
        return self._updates > 0 and (
            condition >= _WELL or since > _MANY or since * condition > _FEW * _WELL
        )

    def repair(self, gram: Floats) -> bool:
        """Compute the roots again that have lost digits; whether the first λ's had not.

        How many digits updates lose depends on the run. So roots are tested with one vector,
        O(g m²), rather than computed again after a fixed number of steps.
        """
        if self._updates > 4 * self.size + 256:
            self.compute(gram)
            return False
        self._tested = self._updates
        x = _probe(self.size)
        y = self.solve(x)
        off = y @ gram + self._lams[:, None] * y - x
        lost = np.flatnonzero(row_norms(off) > _DRIFT**2 * (x @ x))
        if len(lost):
            self._take_steps()
            self._factorise(gram, lost.tolist())
        return 0 not in lost


def _with_steps(buffer: Floats, rows: int, size: int) -> Floats:
    """The buffer itself (2 × g × K × M) if it has so many rows and this M, else a larger one."""
    have = buffer.shape
    if rows <= have[2] and size == have[3]:
        return buffer
    grown = np.zeros((*have[:2], max(rows, have[2]), size))
    grown[:, :, : have[2], : have[3]] = buffer
    return grown


def _shrinking(values: Floats) -> Floats:
    """(1 − 1/√(1 + v)) / v, without cancellation."""
    roots = np.sqrt(1.0 + values)
    return np.asarray(1.0 / (roots * (1.0 + roots)))
