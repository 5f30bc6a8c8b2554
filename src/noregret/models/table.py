"""Features of many points, kept up to date by one pass over them per batch."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.root import with_capacity
from noregret.linalg.threads import for_each

#: rows of a block: the unit of allocation and of work for a thread
_BLOCK_ROWS = 2048
#: OpenBLAS multiplies without packing up to this many multiplications
_UNPACKED_WORK = 990_000
#: beyond this many vectors packing pays
_FEW_VECTORS = 32
#: below this many multiplications threads cost more than they give
_PARALLEL_WORK = 20_000_000

_COLUMNS = ("prior", "residual", "quadratic", "mean")


def _empty() -> Floats:
    return np.empty((0, 0))


@dataclass
class Update:
    """What happens to every row of a table in one pass.

    With z the old features (m) of a row and k its kernel values with the Δ new inducing points:

    - zᵀV⁻¹z falls by ‖rank z‖² (evaluations told since),
    - the new features are e = border_inverse k − border z,
    - zᵀV⁻¹z then grows by ‖columns_inverse e − columns z‖²,
    - the mean is thetaᵀ(z, e).
    """

    theta: Floats
    rank: Floats | None = None
    new_points: Points | None = None
    border: Floats = field(default_factory=_empty)
    border_inverse: Floats = field(default_factory=_empty)
    columns: Floats = field(default_factory=_empty)
    columns_inverse: Floats = field(default_factory=_empty)


class FeatureTable:
    """n points with their features Z (n × m) and what the posterior says of them.

    Attributes
    ----------
    residual
        k(x, x) − ‖z‖²: the prior variance outside the features' span (n).
    quadratic
        zᵀV⁻¹z (n).
    mean
        The posterior mean (n).
    """

    def __init__(self, points: Points, prior: Floats, block_rows: int = _BLOCK_ROWS) -> None:
        self.points = points
        self.prior = prior
        self.features_count = 0
        self.residual: Floats = prior.copy()
        self.quadratic: Floats = np.zeros(len(points))
        self.mean: Floats = np.zeros(len(points))
        count = max(1, -(-len(points) // block_rows))
        self._edges = np.linspace(0, len(points), count + 1).astype(np.int64)
        self._buffers: list[Floats] = [np.empty((size, 0)) for size in np.diff(self._edges)]

    def __len__(self) -> int:
        return len(self.points)

    def features(self, rows: Ints) -> Floats:
        """Z of some rows (k × m), copied."""
        if len(self._buffers) == 1:
            return self._view(0)[rows]
        out = np.empty((len(rows), self.features_count))
        block_of = np.searchsorted(self._edges, rows, side="right") - 1
        for block in np.unique(block_of):
            chosen = block_of == block
            out[chosen] = self._view(block)[rows[chosen] - self._edges[block]]
        return out

    def all_features(self) -> Floats:
        """Z (n × m): a view where there is one block, else a copy."""
        if len(self._buffers) == 1:
            return self._view(0)
        return np.concatenate([self._view(block) for block in range(len(self._buffers))])

    def leverage(self, lam: float) -> Floats:
        """σ̃² of BBKB eq. 3: variance / λ = (k − ‖z‖²)/λ + zᵀV⁻¹z, never negative (n)."""
        values = self.residual / lam
        values += self.quadratic
        return np.maximum(values, 0.0, out=values)

    def new_features(self, kernel: Kernel, update: Update) -> Floats:
        """The features an update would add (n × Δ); for tables of one block."""
        assert update.new_points is not None
        fresh = kernel(self.points, update.new_points) @ update.border_inverse.T
        return np.asarray(fresh - row_products(self.all_features(), update.border))

    def apply(self, kernel: Kernel, update: Update) -> None:
        """Bring features, residuals, quadratic forms and means up to date: one pass over Z."""
        m = self.features_count
        parts = [update.theta[None, :m]]
        if update.rank is not None:
            parts.append(update.rank)
        if update.new_points is not None:
            parts += [update.border, update.columns]
        stack = np.concatenate(parts)
        work = len(self) * max(m, 8) * len(stack)

        def apply_to(block: int) -> None:
            self._apply_to_block(block, kernel, update, stack)

        for_each(apply_to, range(len(self._buffers)), parallel=work > _PARALLEL_WORK)
        if update.new_points is not None:
            self.features_count = m + len(update.new_points)

    def _apply_to_block(self, block: int, kernel: Kernel, update: Update, stack: Floats) -> None:
        span = self._span(block)
        products = row_products(self._view(block), stack)
        self.mean[span] = products[:, 0]
        at = 1
        quadratic = self.quadratic[span]
        if update.rank is not None:
            quadratic -= _row_norms(products[:, at : at + len(update.rank)])
            at += len(update.rank)
        if update.new_points is None:
            return
        m, k = self.features_count, len(update.new_points)
        fresh = kernel(self.points[span], update.new_points) @ update.border_inverse.T
        fresh -= products[:, at : at + k]
        quadratic += _row_norms(fresh @ update.columns_inverse.T - products[:, at + k :])
        residual = self.residual[span]
        residual -= _row_norms(fresh)
        np.maximum(residual, 0.0, out=residual)
        self.mean[span] += fresh @ update.theta[m:]
        self._reserve(block, m, m + k)
        self._buffers[block][: len(fresh), m : m + k] = fresh

    def refill(self, embed: Callable[[Points], Floats], size: int) -> None:
        """New features for every row: ``embed`` maps points (r × d) to Z (r × ``size``)."""

        def work(block: int) -> None:
            span = self._span(block)
            self._reserve(block, 0, size)
            features = embed(self.points[span])
            self._buffers[block][: len(features), :size] = features
            self.residual[span] = np.maximum(self.prior[span] - _row_norms(features), 0.0)

        heavy = len(self) * size**2 > _PARALLEL_WORK
        for_each(work, range(len(self._buffers)), parallel=heavy)
        self.features_count = size

    def recompute(self, root: Floats, theta: Floats) -> None:
        """Quadratic forms (from a root F of V⁻¹ = FFᵀ) and means, from scratch."""

        def work(block: int) -> None:
            span, Z = self._span(block), self._view(block)
            projected = Z @ root
            self.mean[span] = Z @ theta
            self.quadratic[span] = _row_norms(projected)

        heavy = len(self) * self.features_count**2 > _PARALLEL_WORK
        for_each(work, range(len(self._buffers)), parallel=heavy)

    def map_rows(self, function: Callable[[Floats, Points], Floats], work: int) -> Floats:
        """``function(Z, points)`` → r values, for every block of rows, joined (n).

        ``work`` is the number of multiplications it makes per row.
        """
        out = np.empty(len(self))

        def evaluate(block: int) -> None:
            span = self._span(block)
            out[span] = function(self._view(block), self.points[span])

        heavy = len(self) * work > _PARALLEL_WORK
        for_each(evaluate, range(len(self._buffers)), parallel=heavy)
        return out

    def append(self, other: "FeatureTable", rows: Ints) -> None:
        """Take over some rows of another table with the same features; for tables of one block."""
        m, n, k = self.features_count, len(self), len(rows)
        self.points = np.concatenate([self.points, other.points[rows]])
        for name in _COLUMNS:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)[rows]]))
        buffer = self._buffers[0]
        if n + k > len(buffer) or buffer.shape[1] < m:
            grown = np.empty((max(n + k, int(1.5 * n)), max(m, buffer.shape[1])))
            grown[:n, :m] = buffer[:n, :m]
            self._buffers[0] = buffer = grown
        buffer[n : n + k, :m] = other.features(rows)
        self._edges = np.array([0, n + k], dtype=np.int64)

    def state(self) -> dict[str, Floats]:
        """Arrays that :meth:`restore` takes (the points excluded)."""
        arrays = {name: getattr(self, name) for name in _COLUMNS}
        arrays["capacity"] = np.array([buffer.shape for buffer in self._buffers])
        return arrays | {f"Z{block}": self._view(block) for block in range(len(self._buffers))}

    def restore(self, arrays: dict[str, Floats]) -> None:
        """Take over a saved state."""
        for name in _COLUMNS:
            setattr(self, name, arrays[name])
        views = [arrays[f"Z{block}"] for block in range(len(self._buffers))]
        self.features_count = views[0].shape[1]
        self._edges = np.cumsum([0] + [len(view) for view in views])
        for block, view in enumerate(views):
            self._buffers[block] = with_capacity(view, arrays["capacity"][block])

    def _span(self, block: int) -> slice:
        return slice(int(self._edges[block]), int(self._edges[block + 1]))

    def _view(self, block: int) -> Floats:
        rows = self._edges[block + 1] - self._edges[block]
        return self._buffers[block][:rows, : self.features_count]

    def _reserve(self, block: int, used: int, size: int) -> None:
        buffer = self._buffers[block]
        if size > buffer.shape[1]:
            grown = np.empty((len(buffer), max(size + 8, int(1.25 * size))))
            grown[:, :used] = buffer[:, :used]
            self._buffers[block] = grown


def _row_norms(matrix: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", matrix, matrix))


def row_products(Z: Floats, vectors: Floats) -> Floats:
    """Z (r × m) times vectorsᵀ (m × k), one read of Z at memory speed for a few vectors.

    A large BLAS product re-packs Z, which costs more than the product where k is small. OpenBLAS
    multiplies small matrices without packing, so Z is taken in pieces below its limit, and the
    vectors are filled up to the eight its kernel takes at a time.
    """
    k, m = vectors.shape
    rows = len(Z)
    if m == 0:
        return np.zeros((rows, k))
    if k == 1 or k > _FEW_VECTORS:
        return np.asarray(Z @ vectors.T)
    padded = -(-k // 8) * 8
    right = np.zeros((m, padded))
    right[:, :k] = vectors.T
    out = np.empty((rows, padded))
    step = max(8, _UNPACKED_WORK // (m * padded))
    for start in range(0, rows, step):
        np.matmul(Z[start : start + step], right, out=out[start : start + step])
    return out[:, :k]
