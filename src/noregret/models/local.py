"""The exact GP of one cell of a cover, followed on the cell's own points.

Every evaluation told adds a column w to W (n × P), the whitened covariance of its arm with the
cell's P points, so that mean = Wᵀz and variance = k(x, x) − ‖w(x)‖² with whitened rewards z. One
more costs O(nP). Evaluations of one arm are joined now and then, so that n stays below 2P + 64.
"""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from noregret._threads import for_each, worker_count
from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.models.root import safe_cholesky

#: columns beyond twice the points before evaluations of the same arm are joined
_SPARE = 64
#: columns of room that a large W grows by
_LARGEST_STEP = 1024
#: below this many multiplications threads cost more than they give
_PARALLEL_WORK = 20_000_000

_NUMBERS = ("points", "prior", "mean", "variance", "counts", "sums")


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
        if k == 1:
            innovation = surprise / lower[0]
        else:
            innovation = solve_triangular(lower, surprise, lower=True, check_finite=False)
        self.gain += float((np.log(lower.diagonal()) - 0.5 * np.log(noise)).sum())
        self._reserve(n + k)
        self._W[n : n + k] = new
        if self._lower is not None:
            self._lower[n : n + k, :n] = known
            self._lower[n : n + k, n : n + k] = lower
        self._noise[n : n + k] = noise
        self._arms[n : n + k] = index
        self._rewards[n : n + k] = innovation
        self._n = n + k
        self.mean += innovation @ new
        self.variance -= np.einsum("ij,ij->j", new, new)
        np.maximum(self.variance, 0.0, out=self.variance)

    def _columns(self, index: Ints, noise: Floats) -> tuple[Floats, Floats, Floats]:
        """What evaluating k points with this noise (k) would add.

        w of the points (k × n), the Cholesky factor of their covariance (k × k), and their rows of
        W (k × P).
        """
        known = self._W[: self._n, index].T
        covariance = self.kernel(self.points[index], self.points)
        if self._n:
            covariance -= self._products(known)
        if len(index) == 1:  # by far the most frequent case
            lower = np.sqrt(np.maximum(covariance[:, index], 0.0) + noise)
            return known, lower, covariance / lower
        lower = safe_cholesky(covariance[:, index] + np.diag(noise))
        new = solve_triangular(lower, covariance, lower=True, check_finite=False)
        return known, lower, new

    def _products(self, known: Floats) -> Floats:
        """known · W (k × P): one read of W."""
        W = self._W[: self._n]
        if W.size < _PARALLEL_WORK:
            return np.asarray(known @ W)
        out = np.empty((len(known), W.shape[1]))
        edges = np.linspace(0, W.shape[1], worker_count() + 1).astype(np.int64)

        def work(part: int) -> None:
            span = slice(edges[part], edges[part + 1])
            out[:, span] = known @ W[:, span]

        for_each(work, range(len(edges) - 1), parallel=True)
        return out

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
        """Arrays and γ that :meth:`restore` takes."""
        n = self._n
        arrays: dict[str, np.ndarray[Any, Any]] = {name: getattr(self, name) for name in _NUMBERS}
        for name in ("W", "noise", "arms", "rewards"):
            arrays[name] = getattr(self, f"_{name}")[:n]
        arrays["lower"] = np.empty((0, 0)) if self._lower is None else self._lower[:n, :n]
        return arrays, self.gain

    def restore(self, arrays: dict[str, np.ndarray[Any, Any]], gain: float) -> None:
        """Take over a saved state."""
        for name in _NUMBERS:
            setattr(self, name, arrays[name])
        for name in ("W", "noise", "arms", "rewards"):
            setattr(self, f"_{name}", arrays[name])
        self._lower = arrays["lower"] if len(arrays["lower"]) else None
        self._n, self.gain = len(self._arms), gain


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
