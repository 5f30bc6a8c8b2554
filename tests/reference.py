"""Second computations, naive on purpose: what the fast code is checked against."""

import math

import numpy as np


def assert_close(found, expected):
    """Equal up to round-off: 1e-8."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


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


def exact_widths(kernel, X, ids, noise, norm, lam, delta):
    """The widths of the exact GP by name, as factors of √leverage."""
    log_det = np.linalg.slogdet(kernel(X[ids], X[ids]) / lam + np.eye(len(ids)))[1]
    certainty, bias, t = math.log(1 / delta), math.sqrt(lam) * norm, len(ids) + 1
    return {
        "paper": bias + noise * math.sqrt(2 * (log_det + certainty)),  # BKB eq. 7
        "practical": bias + noise * math.sqrt(log_det + certainty),  # the same without the 2
        # Theorem 1 of the Proofs page, for a single λ
        "theory": math.sqrt(lam * norm**2 + noise**2 * (log_det + 2 * certainty)),
        # Srinivas et al. (2010), Theorem 1, a factor of the deviation
        "srinivas": math.sqrt(lam * 2 * math.log(len(X) * t**2 * math.pi**2 / (6 * delta))),
        1.5: math.sqrt(lam) * 1.5,  # mean ± 1.5·std
    }


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


def exact_leverage(kernel, X, counts, lam):
    """Exact leverages of all arms from counts, through the eigenvectors of the weighted kernel."""
    root = np.sqrt(counts)
    K = root[:, None] * kernel(X, X) * root
    seen = kernel(X, X) * root
    values = kernel.diag(X) - np.einsum(
        "ij,ji->i", seen, np.linalg.solve(K + lam * np.eye(len(X)), seen.T)
    )
    return values / lam


def precise_posterior(kernel, X, counts, sums, lam):
    """Mean and variance of every row of X from counts and sums of rewards, in long doubles."""
    arms = np.flatnonzero(counts)
    noise = lam / counts[arms].astype(np.longdouble)
    left = kernel(X[arms], X[arms]).astype(np.longdouble) + np.diag(noise)
    right = np.column_stack([kernel(X[arms], X), sums[arms] / counts[arms]]).astype(np.longdouble)
    for j in range(len(arms)):  # Cholesky and forward substitution, one pivot after the other
        pivot = np.sqrt(left[j, j])
        column = left[j + 1 :, j] / pivot
        right[j] /= pivot
        left[j + 1 :, j + 1 :] -= np.outer(column, column)
        right[j + 1 :] -= np.outer(column, right[j])
    cross, seen = right[:, :-1], right[:, -1]
    variance = kernel.diag(X) - (cross**2).sum(axis=0)
    return (cross.T @ seen).astype(float), np.maximum(variance, 0.0).astype(float)


def differences(opt, best):
    """Bounds of f(x) − f(best) for all candidates, by matrices with a row for each evaluation."""
    X, history, lam = opt.domain.points, opt.history, opt.assumed.lam
    kernel = opt.assumed.kernel
    told = X[history.ids]
    inverse = np.linalg.inv(kernel(told, told) + lam * np.eye(len(told)))
    cross = kernel(X, told)
    mean = cross @ inverse @ history.rewards
    covariance = kernel(X, X) - cross @ inverse @ cross.T
    variance = covariance.diagonal()
    apart = variance + variance[best] - 2 * covariance[best]
    return mean - mean[best] + opt.beta * np.sqrt(np.maximum(apart, 0.0))


def run(opt, f, noise, rng, steps, limit=None):
    """Play an optimiser for ``steps`` evaluations, batches at most ``limit`` long."""
    whole = steps if opt.adaptive else 1
    while opt.t < steps:
        batch = opt.ask(min(limit or whole, steps - opt.t))
        opt.tell(batch, f[batch.ids] + noise * rng.standard_normal(len(batch)))
    return opt
