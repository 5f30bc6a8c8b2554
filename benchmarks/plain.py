"""BBKB written down as in the paper, to measure against: everything from scratch at every batch.

Resampled dictionary, embedding by an eigendecomposition, V inverted per batch, rank-one updates and
lazy bounds inside it: the paper's cost, O(A m²) a batch.
"""

import numpy as np
from scipy.spatial.distance import cdist

from noregret._types import Floats, Ints


class PlainBBKB:
    """BBKB Algorithm 1 with the practical width, RBF kernel, on X (A × d)."""

    def __init__(
        self, X: Floats, lengthscale: float, lam: float, noise: float, delta: float, seed: int
    ) -> None:
        self.X, self.lengthscale, self.lam, self.noise = X, lengthscale, lam, noise
        self.delta, self.ratio, self.qbar, self.norm = delta, 2.0, 2.0, 1.0
        self.rng = np.random.default_rng(seed)
        self.counts: Floats = np.zeros(len(X))
        self.sums: Floats = np.zeros(len(X))
        self.log_det = 0.0

    def kernel(self, X: Floats, Y: Floats) -> Floats:
        return np.asarray(np.exp(cdist(X, Y, "sqeuclidean") / (-2 * self.lengthscale**2)))

    def start(self, ids: Ints, rewards: Floats) -> None:
        """Initial evaluations; all of them are inducing points."""
        np.add.at(self.counts, ids, 1)
        np.add.at(self.sums, ids, rewards)
        self.rebuild(np.unique(ids))

    def rebuild(self, dictionary: Ints) -> None:
        """Embed all arms, invert V, means and leverages of all arms."""
        S = self.X[dictionary]
        values, vectors = np.linalg.eigh(self.kernel(S, S))
        keep = values > 1e-10 * values.max()
        self.Z = self.kernel(self.X, S) @ (vectors[:, keep] / np.sqrt(values[keep]))
        pulled = np.flatnonzero(self.counts)
        Zp = self.Z[pulled]
        V = Zp.T @ (Zp * self.counts[pulled, None]) + self.lam * np.eye(self.Z.shape[1])
        self.inverse = np.linalg.inv(V)
        self.mean = self.Z @ (self.inverse @ (Zp.T @ self.sums[pulled]))
        self.outside = np.maximum(1.0 - (self.Z**2).sum(axis=1), 0.0) / self.lam
        inside = np.einsum("ij,ij->i", self.Z @ self.inverse, self.Z)
        self.leverage: Floats = self.outside + np.maximum(inside, 0.0)

    def ask(self, limit: int) -> Ints:
        """One batch by the rule of Lemma 1."""
        spread = self.ratio * self.log_det + np.log(1 / self.delta)
        beta = np.sqrt(self.lam) * self.norm + self.noise * np.sqrt(spread)
        upper = self.mean + beta * np.sqrt(self.leverage)
        inverse, ratio, batch = self.inverse.copy(), 1.0, []
        while True:
            best = int(np.argmax(upper))
            batch.append(best)
            ratio += self.leverage[best]
            if ratio > self.ratio or len(batch) == limit:
                return np.array(batch)
            direction = inverse @ self.Z[best]
            inverse -= np.outer(direction, direction) / (1 + self.Z[best] @ direction)
            stale = np.array([best])
            for _ in range(2):  # the pick, then everyone whose bound still tops it
                Zs = self.Z[stale]
                inside = np.maximum(np.einsum("ij,ij->i", Zs @ inverse, Zs), 0.0)
                upper[stale] = self.mean[stale] + beta * np.sqrt(self.outside[stale] + inside)
                stale = np.flatnonzero(upper >= upper[best])

    def tell(self, ids: Ints, rewards: Floats) -> None:
        """Feedback, a fresh dictionary, everything from scratch."""
        np.add.at(self.counts, ids, 1)
        np.add.at(self.sums, ids, rewards)
        self.log_det += np.log1p(self.leverage[ids]).sum()
        chance = self.qbar * self.leverage * self.counts
        self.rebuild(np.flatnonzero(self.rng.random(len(chance)) < chance))
