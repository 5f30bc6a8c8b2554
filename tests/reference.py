"""Second computations, naive on purpose: what the fast code is checked against."""

import numpy as np


def problem(seed=0, arms=60, dimension=2):
    """Candidates, a smooth function on them and a generator."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(arms, dimension))
    f = np.sin(3 * X[:, 0]) + 0.5 * np.cos(5 * X[:, -1])
    return X, f, rng


def exact_posterior(kernel, X, ids, y, lam):
    """Mean and leverage of every row of X from repeated rows (BKB eqs. 1 and 2, over λ)."""
    seen = X[ids]
    K = kernel(seen, seen) + lam * np.eye(len(ids))
    cross = kernel(X, seen)
    mean = cross @ np.linalg.solve(K, y)
    variance = kernel.diag(X) - np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
    return mean, variance / lam


def sparse_posterior(kernel, X, ids, y, lam, inducing):
    """BBKB eqs. 1 to 3 with the pseudo-inverse square root, from repeated rows."""
    values, vectors = np.linalg.eigh(kernel(inducing, inducing))
    keep = values > 1e-10 * values.max()
    root = vectors[:, keep] / np.sqrt(values[keep])
    Z = kernel(X, inducing) @ root
    V = Z[ids].T @ Z[ids] + lam * np.eye(Z.shape[1])
    mean = Z @ np.linalg.solve(V, Z[ids].T @ y)
    inside = np.einsum("ij,ji->i", Z, np.linalg.solve(V, Z.T))
    outside = (kernel.diag(X) - (Z**2).sum(axis=1)) / lam
    return mean, outside + inside


def greedy_batch(kernel, X, ids, y, lam, inducing, width, threshold):
    """BBKB Algorithm 1, one batch, every bound from scratch at every pick."""
    mean, start = sparse_posterior(kernel, X, ids, y, lam, inducing)
    picks, ratio = [], 1.0
    while True:
        now = [*ids, *picks]
        _, leverage = sparse_posterior(kernel, X, now, np.zeros(len(now)), lam, inducing)
        best = int(np.argmax(mean + width * np.sqrt(np.maximum(leverage, 0.0))))
        picks.append(best)
        ratio += start[best]
        if ratio > threshold:
            return picks


def run(opt, f, noise, rng, steps, limit=None):
    """Play an optimiser for ``steps`` evaluations, batches at most ``limit`` long."""
    whole = steps if opt.adaptive else 1
    while opt.t < steps:
        batch = opt.ask(min(limit or whole, steps - opt.t))
        opt.tell(batch, f[batch.ids] + noise * rng.standard_normal(len(batch)))
    return opt
