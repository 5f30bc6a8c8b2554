"""Points whose posterior is kept up to date, by one pass over their features per batch.

A point that is looked at again and again need not be embedded again: its features stay as they are
when the dictionary grows, and each update says how its mean and leverage change.
"""

from collections.abc import Callable, Iterator

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import column_norms, row_norms, with_room
from noregret.linalg.threads import for_rows
from noregret.models.posterior import Posterior
from noregret.models.update import Update

#: rows of one array of features: when features are added, only one array is copied at a time. It
#: is a multiple of the rows that a thread works on at a time
_CHUNK = 1 << 15
#: up to this many numbers of a chunk are copied, so that they lie in one block of columns
_COPIED = 1 << 20
#: up to this many vectors a matrix is multiplied by one at a time
_FEW_VECTORS = 3
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
        Whether ``quadratic`` is exact for all points.
    mean
        The posterior mean (n).
    """

    def __init__(self, nothing: Points) -> None:
        self.points = nothing
        self.residual: Floats = np.empty(0)
        self.quadratic: Floats = np.empty(0)
        self.exact = True
        self.mean: Floats = np.empty(0)
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

    def apply(self, kernel: Kernel, update: Update, *, falls: bool = True) -> None:
        """Bring features, residuals, quadratic forms and means up to date: one pass over Z.

        Without ``falls`` the effect of new evaluations on quadratic forms is left out, which is
        most of the work. As they can only fall by it, what is kept are upper bounds.
        """
        m, new = self._size, update.new_points
        parts: dict[str, Floats] = {}
        if update.rank is not None and update.root is None:
            if falls:
                parts["rank"] = update.rank
            else:
                self.exact = False
        if update.moves is None or not (falls or update.rank is None):
            parts["theta"] = update.theta[None, :m]
        if new is not None:
            parts["border"] = update.border
            if update.root is None and not ("rank" in parts and update.columns_by_rank is not None):
                parts["columns"] = update.columns
            for blocks in self._chunks:
                _add_room(blocks, max(map(len, blocks), default=_CHUNK), m + len(new))
        stack, rows = _stacked(parts, m)
        self._each(lambda own: self._apply(own, kernel, update, stack, rows), len(stack))
        if new is not None:
            self._size = m + len(new)
        if (root := update.root) is not None:
            self._make_all_exact(lambda Z: Z @ root)

    def make_exact(self, posterior: Posterior, rows: Ints | None = None) -> None:
        """Compute the quadratic forms of some points, or of all, by the posterior."""
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

    def _apply(
        self, span: slice, kernel: Kernel, update: Update, stack: Floats, rows: dict[str, slice]
    ) -> None:
        """Apply an update to a piece; ``rows`` says where its matrices are in ``stack``."""
        m, count, (chunk, start) = self._size, span.stop - span.start, divmod(span.start, _CHUNK)
        blocks = [one[start : start + count] for one in self._chunks[chunk]]
        products = self._products(blocks, stack, count)
        found = {name: products[own] for name, own in rows.items()}
        mean, quadratic, residual = self.mean[span], self.quadratic[span], self.residual[span]
        if "theta" in found:
            mean[:] = found["theta"][0]
        elif "rank" in found and update.moves is not None:
            mean += update.moves[0] @ found["rank"]
        if "rank" in found:
            quadratic -= column_norms(found["rank"])
        if update.new_points is None:
            return
        fresh = update.border_inverse @ kernel(update.new_points, self.points[span])
        fresh -= found["border"]
        if "theta" in found:
            mean += update.theta[m:] @ fresh
        if update.root is None:
            grown = update.columns_inverse @ fresh
            if "columns" in found:
                grown -= found["columns"]
            elif update.columns_by_rank is not None:
                grown -= update.columns_by_rank @ found["rank"]
            quadratic += column_norms(grown)
            if "theta" not in found and update.moves is not None:
                mean += update.moves[1] @ grown
        residual -= column_norms(fresh)
        np.maximum(residual, 0.0, out=residual)
        for block, columns in _placed(blocks, m, m + len(fresh)):
            block[:] = fresh[columns.start - m : columns.stop - m].T

    def _products(self, blocks: list[Floats], stack: Floats, rows: int) -> Floats:
        """A matrix (k × m) times the features of a piece: k × rows."""
        if len(blocks) == 1:
            return row_products(blocks[0][:, : self._size], stack)
        products = np.zeros((len(stack), rows))
        for block, columns in _placed(blocks, 0, self._size):
            products += row_products(block, stack[:, columns])
        return products


def _stacked(parts: dict[str, Floats], size: int) -> tuple[Floats, dict[str, slice]]:
    """Matrices (k × m each) on top of each other, and the rows of each."""
    rows, start = {}, 0
    for name, part in parts.items():
        rows[name] = slice(start, start + len(part))
        start += len(part)
    return np.concatenate([np.empty((0, size)), *parts.values()]), rows


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
