"""The exact GP of one cell of a cover, followed on the cell's own points.

Every evaluation told adds a row to W (n × P), the whitened covariance of its arm with the cell's P
points, so that mean = Wᵀz and variance = k(x, x) − ‖w(x)‖² with whitened rewards z. One more costs
O(nP). Evaluations of one arm are joined now and then, so that n stays below 2P + 64.

A large W is read from memory for one product w(x)ᵀW at every evaluation, which takes far longer
than the multiplications. So the products of the points that are likely to be next are computed
together, and completed by the few rows added since when their turn comes.
"""

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.root import safe_cholesky
from noregret.linalg.threads import for_each

#: rows of W beyond twice the points before evaluations of the same arm are joined
_SPARE = 64
#: rows of room that a large W grows by
_LARGEST_STEP = 1024
#: a W of this many numbers does not stay in the cache
_LARGE = 2_000_000
#: products computed ahead, at most
_LARGEST_LOOK = 32
#: columns of W for a thread, and multiplications below which threads cost more than they give
_BLOCK = 4096
_PARALLEL_WORK = 20_000_000

_WHOLE = ("prior", "mean", "variance", "counts", "sums")
_AHEAD = ("_scores", "_ahead", "_ahead_products", "_ahead_numbers")


class LocalGP:
    """Exact posterior of a few points given evaluations of some of them.

    Parameters
    ----------
    kernel, lam
        The prior covariance and the regularisation λ.
    points, prior
        P × d (or P objects), and k(x, x) of each.

    Attributes
    ----------
    mean, variance
        The posterior at the points (P each).
    counts, sums
        Evaluations told of each point and the sums of their rewards (P each).
    gain
        γ = ½ log det(I + K/λ) over all evaluations told.
    """

    def __init__(self, kernel: Kernel, lam: float, points: Points, prior: Floats) -> None:
        self.kernel = kernel
        self.lam = lam
        self.points = points
        self.prior = prior
        self.mean: Floats = np.zeros(len(points))
        self.variance: Floats = prior.copy()
        self.counts: Floats = np.zeros(len(points))
        self.sums: Floats = np.zeros(len(points))
        self.gain = 0.0
        self._clear()

    def _clear(self) -> None:
        self._n = 0
        self._W: Floats = np.empty((0, len(self.points)))  # n × P in the leading rows
        # The Cholesky factor of the arms' K + noise, kept once points off the list ask for it.
        self._lower: Floats | None = None
        self._noise: Floats = np.empty(0)  # λ / count of each column
        self._arms: Ints = np.empty(0, dtype=np.int64)  # the point each column evaluates
        self._rewards: Floats = np.empty(0)  # whitened
        self._look_nowhere()

    def _look_nowhere(self) -> None:
        self._scores: Floats = np.empty(0)  # the larger, the likelier to be evaluated next
        self._ahead: Ints = np.empty(0, dtype=np.int64)  # points whose products are known
        self._ahead_products: Floats = np.empty((0, len(self.points)))
        self._ahead_numbers: Ints = np.array([0, 1])  # rows of W they hold, and times one was used

    def condition(self, index: Ints, counts: Floats, sums: Floats) -> None:
        """Take in evaluations of some points (positions, each once): how many, and their sums."""
        self.counts[index] += counts
        self.sums[index] += sums
        if self._n + len(index) > 2 * len(self.points) + _SPARE:
            self._join()
            return
        self._extend(index, counts, sums / counts)

    def _extend(self, index: Ints, counts: Floats, averages: Floats) -> None:
        """Columns for averages of some evaluations of each arm, which have noise λ/count."""
        n, k = self._n, len(index)
        noise = self.lam / counts
        known, lower, new = self._columns(index, noise)
        surprise = averages - self.mean[index]
        if k == 1:  # by far the most frequent case
            innovation = surprise / lower[0]
            self.gain += math.log(lower[0, 0]) - 0.5 * math.log(noise[0])
            shrunk = self.variance - new[0] * new[0]
        else:
            innovation = solve_triangular(lower, surprise, lower=True, check_finite=False)
            self.gain += float((np.log(lower.diagonal()) - 0.5 * np.log(noise)).sum())
            shrunk = self.variance - np.einsum("ij,ij->j", new, new)
        self.variance = np.maximum(shrunk, 0.0, out=shrunk)
        self._reserve(n + k)
        self._W[n : n + k] = new
        if self._lower is not None:
            self._lower[n : n + k, :n] = known
            self._lower[n : n + k, n : n + k] = lower
        self._noise[n : n + k] = noise
        self._arms[n : n + k] = index
        self._rewards[n : n + k] = innovation
        self._n = n + k
        self.mean = self.mean + innovation @ new

    def _columns(self, index: Ints, noise: Floats) -> tuple[Floats, Floats, Floats]:
        """What evaluating k points with this noise (k) would add.

        w of the points (k × n), the Cholesky factor of their covariance (k × k), and their rows of
        W (k × P).
        """
        known = self._W[: self._n, index].T
        covariance = self.kernel(self.points[index], self.points)
        if self._n:
            covariance -= self._products(index)
        if len(index) == 1:
            lower = np.sqrt(np.maximum(covariance[:, index], 0.0) + noise)
            return known, lower, covariance / lower
        lower = safe_cholesky(covariance[:, index] + np.diag(noise))
        new = solve_triangular(lower, covariance, lower=True, check_finite=False)
        return known, lower, new

    def expect(self, scores: Floats) -> None:
        """Points with large scores (P) are likely to be evaluated next: a hint, for speed only."""
        if self._n * len(self.points) >= _LARGE:
            self._scores = scores

    def _products(self, index: Ints) -> Floats:
        """w(x)ᵀW of some points (k × P)."""
        W = self._W[: self._n]
        if len(index) > 1 or W.size < _LARGE or not len(self._scores):
            return _times(W[:, index].T, W)
        held, used = self._ahead_numbers.tolist()
        at = np.flatnonzero(self._ahead == index[0])
        if not len(at):
            # The longer the last look ahead served, the wider the next one.
            size = min(4 * used, _LARGEST_LOOK, len(self._scores))
            likely = np.argpartition(-self._scores, size - 1)[:size]
            self._ahead = np.concatenate([index, np.setdiff1d(likely, index)])
            self._ahead_products = _times(W[:, self._ahead].T, W)
            held, used, at = self._n, 0, np.zeros(1, dtype=np.int64)
        self._ahead_numbers = np.array([held, used + 1])
        since = W[held:]
        return np.asarray(self._ahead_products[at] + since[:, index].T @ since)

    def _join(self) -> None:
        """Everything from scratch, one column for each arm: shorter, and without drift."""
        self.mean = np.zeros(len(self.points))
        self.variance = self.prior.copy()
        self.gain = 0.0
        self._clear()
        index = np.flatnonzero(self.counts)
        if len(index):
            self._extend(index, self.counts[index], self.sums[index] / self.counts[index])

    def append(self, points: Points, prior: Floats) -> None:
        """Follow more points (k × d), such as arms told that are not on the list."""
        n, old, k = self._n, len(self.points), len(points)
        mean, variance, w = self._at(points)
        self.points = np.concatenate([self.points, points])
        self.prior = np.concatenate([self.prior, prior])
        self.mean = np.concatenate([self.mean, mean])
        self.variance = np.concatenate([self.variance, variance])
        self.counts = np.concatenate([self.counts, np.zeros(k)])
        self.sums = np.concatenate([self.sums, np.zeros(k)])
        grown = np.empty((len(self._W), old + k))
        grown[:n, :old] = self._W[:n]
        grown[:n, old:] = w
        self._W = grown
        self._look_nowhere()

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""
        mean, variance, _ = self._at(points)
        return mean, variance

    def _at(self, points: Points) -> tuple[Floats, Floats, Floats]:
        n = self._n
        prior = self.kernel.diag(points)
        if not n:
            return np.zeros(len(points)), prior, np.empty((0, len(points)))
        arms = self.points[self._arms[:n]]
        if self._lower is None:
            self._lower = np.zeros((len(self._W), len(self._W)))
            gram = self.kernel(arms, arms) + np.diag(self._noise[:n])
            self._lower[:n, :n] = safe_cholesky(gram)
        cross = self.kernel(arms, points)
        w = solve_triangular(self._lower[:n, :n], cross, lower=True, check_finite=False)
        variance = np.maximum(prior - np.einsum("ij,ij->j", w, w), 0.0)
        return self._rewards[:n] @ w, variance, w

    def hallucinate(self, index: Ints, counts: Floats) -> "LocalView":
        """The posterior as it would be after more evaluations: variances fall, means stay."""
        return LocalView(self, index, *self._columns(index, self.lam / counts))

    def _reserve(self, size: int) -> None:
        if size <= len(self._W):
            return
        n, capacity = self._n, size + min(max(8, size // 2), _LARGEST_STEP)
        W = np.empty((capacity, len(self.points)))
        W[:n] = self._W[:n]
        self._W = W
        for name in ("_noise", "_arms", "_rewards"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old[:n], np.zeros(capacity - n, old.dtype)]))
        if self._lower is not None:
            lower = np.zeros((capacity, capacity))
            lower[:n, :n] = self._lower[:n, :n]
            self._lower = lower

    def state(self) -> tuple[dict[str, np.ndarray[Any, Any]], float]:
        """Arrays (the points excluded) and γ that :meth:`restore` takes."""
        n = self._n
        arrays: dict[str, np.ndarray[Any, Any]] = {
            name: getattr(self, name) for name in (*_WHOLE, *_AHEAD)
        }
        for name in ("_W", "_noise", "_arms", "_rewards"):
            arrays[name] = getattr(self, name)[:n]
        arrays["lower"] = np.empty((0, 0)) if self._lower is None else self._lower[:n, :n]
        return arrays, self.gain

    def restore(self, arrays: dict[str, np.ndarray[Any, Any]], gain: float, points: Points) -> None:
        """Take over a saved state; ``points`` are all P, appended ones included."""
        self.points = points
        for name in (*_WHOLE, *_AHEAD, "_W", "_noise", "_arms", "_rewards"):
            setattr(self, name, arrays[name])
        self._lower = arrays["lower"] if len(arrays["lower"]) else None
        self._n, self.gain = len(self._arms), gain


def _times(left: Floats, W: Floats) -> Floats:
    """left (k × n) times W (n × P), by blocks of columns."""
    if len(left) * W.size < _PARALLEL_WORK:
        return np.asarray(left @ W)
    out = np.empty((len(left), W.shape[1]))

    def work(start: int) -> None:
        span = slice(start, start + _BLOCK)
        np.matmul(left, W[:, span], out=out[:, span])

    for_each(work, range(0, W.shape[1], _BLOCK), parallel=True)
    return out


class LocalView:
    """Told and pending evaluations of a cell; the latter count in the variance only."""

    def __init__(
        self, local: LocalGP, index: Ints, known: Floats, lower: Floats, new: Floats
    ) -> None:
        self._local = local
        self._pending = local.points[index]
        self._known, self._lower = known, lower
        self.mean = local.mean
        self.variance: Floats = np.maximum(local.variance - np.einsum("ij,ij->j", new, new), 0.0)

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""
        mean, variance, w = self._local._at(points)
        cross = self._local.kernel(self._pending, points) - self._known @ w
        more = solve_triangular(self._lower, cross, lower=True, check_finite=False)
        return mean, np.maximum(variance - np.einsum("ij,ij->j", more, more), 0.0)
