"""Runs with heavy-tailed rewards on a line, for the tests of several algorithms."""

import numpy as np

import noregret as nr

GRID = np.linspace(0.0, 1.0, 40)[:, None]
KERNEL = nr.RBF(0.2)
FEATURES = ("exact", "nystrom", "qff")


def heavy_run(name, t=60, seed=0, tail=1.5, **options):
    """An optimiser after t evaluations with Student-t rewards."""
    rng = np.random.default_rng(seed)
    opt = nr.make(name, GRID, KERNEL, seed=seed, **options)
    f = np.sin(5 * GRID[:, 0])
    while opt.t < t:
        batch = opt.ask()
        opt.tell(batch, f[batch.ids] + rng.standard_t(tail, len(batch)))
    return opt


def ridge(kernel, ids, rewards, lam):
    """The mean of ridge regression on the grid, with one row an evaluation."""
    K = kernel(GRID[ids], GRID[ids]) + lam * np.eye(len(ids))
    return kernel(GRID, GRID[ids]) @ np.linalg.solve(K, rewards)
