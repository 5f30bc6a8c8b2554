"""Points whose posterior is kept up to date, by one pass over their features per batch.

A point that is looked at again and again need not be embedded again: its features stay as they are
when the dictionary grows, and each update says how its mean and leverage change.
"""

from collections.abc import Callable, Iterator

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import row_norms, with_room
from noregret.linalg.threads import for_rows
from noregret.models.posterior import Posterior
from noregret.models.update import Update, Updates

#: rows of one array of features: when features are added, only one array is copied at a time. It
#: is a multiple of the rows that a thread works on at a time
_CHUNK = 1 << 15
#: up to this many numbers of a chunk are copied, so that they lie in one block of columns
_COPIED = 1 << 20
#: up to this many vectors a matrix is multiplied by one at a time
_FEW_VECTORS = 3
#: how many updates may wait
_LATE = 32
#: a block of so many numbers stays in the cache
_CACHED = 1 << 20


class Followed:
    """n points with their features Z (n × m) and their posterior.

    Attributes
    ----------
    points
        n × d, or n objects.
    residual
        k(x, x) − ‖z‖²: the prior variance outside the features' span (n).
    quadratic
        zᵀV⁻¹z (n), or upper bounds of it.
    exact
        Whether ``quadratic`` was exact for all points before the late updates.
    mean
        The posterior mean (n).
    late
        Updates that wait: all of the above is from before them.
    """

    def __init__(self, nothing: Points) -> None:
        self.points = nothing
        self.residual: Floats = np.empty(0)
        self.quadratic: Floats = np.empty(0)
        self.exact = True
        self.mean: Floats = np.empty(0)
        self.late: list[Update] = []
        self._waiting: Updates | None = None  # the late updates, once they are needed
        self._size = 0
        #: features: for each chunk of rows its blocks of columns, side by side
        self._chunks: list[list[Floats]] = []

    @classmethod
    def all_of(cls, points: Points, posterior: Posterior) -> "Followed":
        """Follow these points (n × d) from here on; their features are computed."""
        made, n, m = cls(points), len(points), posterior.size
        made._size = m
        made.residual, made.quadratic, made.mean = np.empty(n), np.empty(n), np.empty(n)
        made._chunks = [[np.empty((min(_CHUNK, n - at), m))] for at in range(0, n, _CHUNK)]

        def embed(own: slice) -> None:
            Z = made._chunks[own.start // _CHUNK][0][own.start % _CHUNK :][: own.stop - own.start]
            Z[:] = posterior.embed(points[own])
            made.residual[own] = posterior.residual(Z, points[own])
            made.quadratic[own] = row_norms(posterior.coordinates(Z))
            made.mean[own] = Z @ posterior.theta

        made._each(embed, 2 * m)
        return made

    def __len__(self) -> int:
        return len(self.points)

    @property
    def numbers(self) -> int:
        """How many numbers the features take."""
        return len(self) * self._size

    def features(self, rows: Ints) -> Floats:
        """Z of some points (k × m)."""
        if len(self._chunks) == 1 and len(self._chunks[0]) == 1:  # a short list
            return self._chunks[0][0][rows, : self._size]
        found = np.empty((len(rows), self._size))
        chunks = rows // _CHUNK
        for chunk in set(chunks.tolist()):
            own = chunks == chunk
            for block, columns in _placed(self._chunks[chunk], 0, self._size):
                found[own, columns] = block[rows[own] - chunk * _CHUNK]
        return found

    def leverage(self, lam: float, rows: Ints | slice = slice(None)) -> Floats:
        """σ̃² of BBKB eq. 3: variance / λ = (k − ‖z‖²)/λ + zᵀV⁻¹z, never negative (n).

        Of some points, or of all; an upper bound if ``quadratic`` is one.
        """
        values = self.residual[rows] / lam
        values += self.quadratic[rows]
        return np.maximum(values, 0.0, out=values)

    def append(self, points: Points, Z: Floats, posterior: Posterior) -> None:
        """Follow more points (k × d) with these features of the posterior (k × m) from here on."""
        self.settle(posterior.kernel)
        n, k, m = len(self), len(points), posterior.size
        self._size = m
        self.points = np.concatenate([self.points, points])
        self.residual = np.concatenate([self.residual, posterior.residual(Z, points)])
        self.quadratic = np.concatenate([self.quadratic, row_norms(posterior.coordinates(Z))])
        self.mean = np.concatenate([self.mean, Z @ posterior.theta])
        done = 0
        while done < k:
            chunk, start = divmod(n + done, _CHUNK)
            rows = slice(start, min(start + k - done, _CHUNK))
            if chunk == len(self._chunks):
                self._chunks.append([])
            blocks = self._chunks[chunk]
            blocks[:] = [with_room(block, rows.stop, 0) for block in blocks]
            _add_room(blocks, rows.stop, m)
            for block, columns in _placed(blocks, 0, m):
                block[rows] = Z[done : done + rows.stop - start, columns]
            done += rows.stop - start

    def keep(self, rows: Ints) -> None:
        """Follow only these points, in rising order, from here on."""
        kept = np.split(rows, np.arange(_CHUNK, len(rows), _CHUNK))
        for chunk, own in enumerate(kept):  # each chunk is filled with rows at or after its own
            self._chunks[chunk] = [self.features(own)]
        del self._chunks[len(kept) :]
        self.points = self.points[rows]
        self.residual, self.quadratic = self.residual[rows], self.quadratic[rows]
        self.mean = self.mean[rows]

    def put_off(self, update: Update) -> bool:
        """Let an update wait, if :attr:`growth` says how much it can matter; else return ``False``.

        Several updates at once take far less time than one after the other.
        """
        can_wait = update.growth is not None and update.falls_cost_nothing
        if not (self.exact and can_wait and len(self.late) < _LATE):
            return False
        self.late, self._waiting = [*self.late, update], None
        return True

    @property
    def growth(self) -> float:
        """mean + w·√leverage is at most mean + √(w² + growth)·√leverage without late updates."""
        return sum(update.growth or 0.0 for update in self.late)

    def ahead(self, kernel: Kernel, lam: float, rows: Ints) -> tuple[Floats, Floats]:
        """Means and leverages of some points (k each) with the late updates."""
        if self._waiting is None:
            self._waiting = Updates(self.late, self._size)
        Z, points = self.features(rows), self.points[rows]
        mean, quadratic, residual = self.mean[rows], self.quadratic[rows], self.residual[rows]
        products = row_products(Z, self._waiting.matrix)
        self._waiting.apply(kernel, points, products, mean, quadratic, residual)
        return mean, np.maximum(residual / lam + quadratic, 0.0)

    def settle(self, kernel: Kernel) -> None:
        """Apply the late updates."""
        if self.late:
            self._apply(kernel, self.late, falls=True)

    def apply(self, kernel: Kernel, update: Update, *, falls: bool = True) -> None:
        """Bring features, residuals, quadratic forms and means up to date: one pass over Z.

        Without ``falls`` the effect of new evaluations on quadratic forms is left out, which is
        most of the work. As they can only fall by it, what is kept are upper bounds.
        """
        self._apply(kernel, [*self.late, update], falls=falls)
        if (root := update.root) is not None:
            self._make_all_exact(lambda Z: Z @ root)
        elif update.rank is not None and not falls:
            self.exact = False

    def _apply(self, kernel: Kernel, updates: list[Update], *, falls: bool) -> None:
        m, several = self._size, Updates(updates, self._size, falls=falls)
        self.late, self._waiting = [], None
        size = m + several.grown
        for blocks in self._chunks if size > m else ():
            _add_room(blocks, max(map(len, blocks), default=_CHUNK), size)

        def apply(own: slice) -> None:
            count, (chunk, start) = own.stop - own.start, divmod(own.start, _CHUNK)
            blocks = [one[start : start + count] for one in self._chunks[chunk]]
            now = self.mean[own], self.quadratic[own], self.residual[own]
            products = self._products(blocks, several.matrix, count)
            fresh = several.apply(kernel, self.points[own], products, *now)
            for block, columns in _placed(blocks, m, size) if size > m else ():
                block[:] = fresh[columns.start - m : columns.stop - m].T

        self._each(apply, len(several.matrix))
        self._size = size

    def make_exact(self, posterior: Posterior, rows: Ints | None = None) -> None:
        """Make sure that the quadratic forms of some points, or of all, are exact."""
        self.settle(posterior.kernel)
        if self.exact:
            return
        if rows is None:
            self._make_all_exact(posterior.coordinates)
        else:
            self.quadratic[rows] = row_norms(posterior.coordinates(self.features(rows)))

    def _make_all_exact(self, coordinates: Callable[[Floats], Floats]) -> None:
        def compute(part: slice) -> None:
            own = np.arange(part.start, part.stop)
            self.quadratic[own] = row_norms(coordinates(self.features(own)))

        self._each(compute, self._size)
        self.exact = True

    def _each(self, work: Callable[[slice], None], vectors: int) -> None:
        """Call ``work`` on every piece, which multiplies Z by so many vectors."""
        for_rows(work, len(self), max(self._size, 8) * vectors)

    def _products(self, blocks: list[Floats], stack: Floats, rows: int) -> Floats:
        """A matrix (k × m) times the features of a piece: k × rows."""
        if len(blocks) == 1:
            return row_products(blocks[0][:, : self._size], stack)
        products = np.zeros((len(stack), rows))
        for block, columns in _placed(blocks, 0, self._size):
            products += row_products(block, stack[:, columns])
        return products


def _placed(blocks: list[Floats], first: int, last: int) -> Iterator[tuple[Floats, slice]]:
    """Where columns of a matrix in blocks lie: parts of blocks, and which columns each holds."""
    start = 0
    for block in blocks:
        columns = slice(max(first, start), min(last, start + block.shape[1]))
        if columns.start < columns.stop:
            yield block[:, columns.start - start : columns.stop - start], columns
        start += block.shape[1]


def _add_room(blocks: list[Floats], rows: int, columns: int) -> None:
    """Make room for more columns: small blocks are copied into one, else one is added."""
    have = sum(block.shape[1] for block in blocks)
    if columns <= have:
        return
    width = columns - have if not have else max(columns - have, 8, have // 4)
    if rows * (have + width) > _COPIED:
        blocks.append(np.zeros((rows, width)))
        return
    joined = np.zeros((rows, have + width))
    for block, at in _placed(blocks, 0, have):
        joined[: len(block), at] = block
    blocks[:] = [joined]


def row_products(Z: Floats, vectors: Floats) -> Floats:
    """vectors (k × m) times Zᵀ (m × r): a few of them one at a time, which OpenBLAS does faster."""
    if len(vectors) > _FEW_VECTORS:
        return np.asarray(vectors @ Z.T)
    found = np.empty((len(vectors), len(Z)))
    # Between two vectors the same rows stay in the cache.
    step = max(_CACHED // max(Z.shape[1], 1), 1) if len(vectors) > 1 else max(len(Z), 1)
    for start in range(0, len(Z), step):
        rows = Z[start : start + step]
        for one, vector in zip(found, vectors, strict=True):
            np.matmul(rows, vector, out=one[start : start + step])
    return found
