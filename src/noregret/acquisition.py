"""Who is next? The exact argmax of the upper confidence bounds over a list, lazily.

Inside a batch bounds only fall (BBKB A.3), so bounds of an earlier moment still bound the current
ones. A small pool of the candidates on top is kept exact through its joint covariance, O(pool²) a
pick whatever A and m are; everyone else's stale bound is below a known floor. When the best of the
pool falls under the floor, the pool is widened, and in the end refreshed by one pass over the list.
"""

from collections import Counter

import numpy as np
from scipy.linalg import solve_triangular

from noregret._types import Floats, Ints
from noregret.batching import BatchRule
from noregret.models.root import safe_cholesky
from noregret.models.view import PosteriorView

_POOL = 64
_LARGEST_POOL = 1024


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
    picked = Counter(ids)
    pool = _Pool(view, mean, width, leverage, upper, picked, _POOL)
    while len(ids) < limit:
        position, bound = pool.best()
        if bound < pool.floor:
            size = 4 * len(pool.ids)
            if size > _LARGEST_POOL:
                chosen = np.fromiter(picked, dtype=np.int64)
                counts = np.fromiter(picked.values(), dtype=np.int64)
                leverage = view.after(chosen, counts)
                upper = mean + width * np.sqrt(leverage)
                pool = _Pool(view, mean, width, leverage, upper, picked, _POOL, fresh=True)
            else:
                pool = _Pool(view, mean, width, leverage, upper, picked, size)
            continue
        id_ = int(pool.ids[position])
        now = float(pool.leverage[position])
        ids.append(id_)
        bounds.append(bound)
        picked[id_] += 1
        if rule.add(id_, view.told[id_], now):
            break
        pool.pick(position)
    return np.array(ids), np.array(bounds)


class _Pool:
    """The candidates with the largest stale bounds, exact given the picks so far.

    ``leverage`` and ``upper`` are the stale values (A); ``fresh`` says that they already count the
    picks made before the pool was built.
    """

    def __init__(
        self,
        view: PosteriorView,
        mean: Floats,
        width: float,
        leverage: Floats,
        upper: Floats,
        picked: Counter[int],
        size: int,
        fresh: bool = False,
    ) -> None:
        self.ids, self.floor = top(upper, size)
        self._mean = mean[self.ids]
        self._width = width
        self.leverage = leverage[self.ids]
        before = np.setdiff1d(np.fromiter(picked, dtype=np.int64), self.ids)
        known = np.concatenate([self.ids, before])
        covariance = view.pool(known)
        position = {int(id_): i for i, id_ in enumerate(known)}
        chosen = [position[id_] for id_ in picked]
        times = np.fromiter(picked.values(), dtype=np.float64)
        # Condition on the picks: S − S_U (D⁻¹ + S_UU)⁻¹ S_Uᵀ.
        inner = covariance[np.ix_(chosen, chosen)] + np.diag(1.0 / times)
        part = solve_triangular(
            safe_cholesky(inner), covariance[chosen], lower=True, check_finite=False
        )
        n = len(self.ids)
        part = part[:, :n]
        if not fresh:
            self.leverage = self.leverage - np.einsum("ij,ij->j", part, part)
        self._covariance = covariance[:n, :n] - part.T @ part
        self._scratch = np.empty(n)

    def best(self) -> tuple[int, float]:
        """The position and bound of the best of the pool."""
        values = self._scratch
        np.maximum(self.leverage, 0.0, out=values)
        np.sqrt(values, out=values)
        values *= self._width
        values += self._mean
        position = int(values.argmax())
        return position, float(values[position])

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
