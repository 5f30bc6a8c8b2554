"""Who is next? The exact argmax of the upper confidence bounds over a list, lazily.

Inside a batch bounds only fall (BBKB A.3), so bounds of an earlier moment still bound the current
ones. A small pool of the candidates on top is kept exact through its joint covariance, O(pool²) a
pick whatever A and m are; everyone else's stale bound is below a known floor. When the best of the
pool falls under the floor, the pool's bounds are noted and the next candidates on top take its
place, so only those whose stale bound ever came out on top are computed again.
"""

import numpy as np
from scipy.linalg import solve_triangular

from noregret._types import Floats, Ints
from noregret.batching import BatchRule
from noregret.linalg.root import safe_cholesky
from noregret.models.view import Block, PosteriorView

_POOL = 64
_LARGEST_POOL = 256


def lazy_batch(
    view: PosteriorView, mean: Floats, width: float, rule: BatchRule, limit: int
) -> tuple[Ints, Floats]:
    """Pick the candidates of mean + width·√leverage one after another until the rule ends it.

    Parameters
    ----------
    view
        The posterior variances at the batch start.
    mean
        Posterior means (A), fixed within the batch.
    width
        Multiplies √leverage.
    rule
        Ends the batch; the pick it ends with is included.
    limit
        At most this many picks.

    Returns
    -------
    ids, upper
        The picks, and the bound of each when it was picked.
    """
    leverage = view.leverage
    upper = mean + width * np.sqrt(leverage)
    best = int(np.argmax(upper))
    ids, bounds = [best], [float(upper[best])]
    if rule.add(best, view.told[best], leverage[best]) or limit == 1:
        return np.array(ids), np.array(bounds)
    picks = _Picks(view)
    picks.add(best)
    size = _POOL
    pool = _Pool(view, mean, width, upper, picks, size)
    while len(ids) < limit:
        position, bound = pool.best()
        if bound < pool.floor:
            upper[pool.ids] = pool.upper
            size = min(2 * size, _LARGEST_POOL)
            pool = _Pool(view, mean, width, upper, picks, size)
            continue
        best = int(pool.ids[position])
        ids.append(best)
        bounds.append(bound)
        if rule.add(best, view.told[best], float(pool.leverage[position])):
            break
        picks.add(best)
        pool.pick(position)
    return np.array(ids), np.array(bounds)


class _Picks:
    """The arms picked in this batch so far, and how often each."""

    def __init__(self, view: PosteriorView) -> None:
        self._view = view
        self._counts: dict[int, int] = {}
        self._block: Block | None = None
        self._blocked = 0  # arms that the block holds

    def add(self, id_: int) -> None:
        self._counts[id_] = self._counts.get(id_, 0) + 1

    def shrink(self, block: Block) -> Floats:
        """P (|picks| × k): evaluating the picks takes PᵀP from the block's covariances.

        Σ − Σ_U (D⁻¹ + Σ_UU)⁻¹ Σ_Uᵀ for unique arms U picked D times each.
        """
        fresh = np.fromiter(self._counts, dtype=np.int64)[self._blocked :]
        if len(fresh):
            more = self._view.block(fresh)
            self._block = more if self._block is None else self._block.joined(more)
            self._blocked += len(fresh)
        assert self._block is not None
        times = np.fromiter(self._counts.values(), dtype=np.float64)
        inner = self._view.covariance(self._block, self._block)
        inner[np.diag_indices_from(inner)] += 1.0 / times
        cross = self._view.covariance(self._block, block)
        lower = safe_cholesky(inner)
        return np.asarray(solve_triangular(lower, cross, lower=True, check_finite=False))


class _Pool:
    """The candidates with the largest stale bounds ``upper`` (A), exact given the picks so far."""

    def __init__(
        self,
        view: PosteriorView,
        mean: Floats,
        width: float,
        upper: Floats,
        picks: _Picks,
        size: int,
    ) -> None:
        self.ids, self.floor = top(upper, size)
        self._mean = mean[self.ids]
        self._width = width
        block = view.block(self.ids)
        part = picks.shrink(block)
        self._covariance = view.covariance(block, block) - part.T @ part
        self.leverage = view.leverage[self.ids] - np.einsum("ij,ij->j", part, part)
        self.upper = np.empty(len(self.ids))

    def best(self) -> tuple[int, float]:
        """The position and bound of the best of the pool."""
        upper = self.upper
        np.maximum(self.leverage, 0.0, out=upper)
        np.sqrt(upper, out=upper)
        upper *= self._width
        upper += self._mean
        position = int(upper.argmax())
        return position, float(upper[position])

    def pick(self, position: int) -> None:
        """Evaluate a candidate of the pool: a rank-one step."""
        column = self._covariance[position].copy()
        column /= np.sqrt(1.0 + max(column[position], 0.0))
        self._covariance -= np.outer(column, column)
        self.leverage -= np.square(column)


def top(upper: Floats, size: int) -> tuple[Ints, float]:
    """The ids of the ``size`` largest bounds, ascending, and the largest of the others.

    Among equal bounds the smaller ids come first, as in a full argmax.
    """
    if size >= len(upper):
        return np.arange(len(upper)), -np.inf
    cut = np.partition(upper, len(upper) - size)[len(upper) - size]
    above = np.flatnonzero(upper > cut)
    level = np.flatnonzero(upper == cut)
    inside = level[: size - len(above)]
    ids = np.sort(np.concatenate([above, inside]))
    if len(inside) < len(level):
        return ids, float(cut)
    rest = upper[upper < cut]
    return ids, float(rest.max()) if len(rest) else -np.inf
