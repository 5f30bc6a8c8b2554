"""Functions, games and naive cells for the tests of covers."""

import math

import numpy as np

import noregret as nr
from noregret.models.cover import Cover, cells_a_side, smoothness_exponents

KERNEL = nr.Matern(0.3, nu=1.5)


def bumps(d, rng, count=12):
    """A function in the kernel's RKHS, and its norm."""
    centres, heights = rng.random((count, d)), rng.uniform(-1, 1, count)
    norm = math.sqrt(heights @ KERNEL(centres, centres) @ heights)
    return lambda points: KERNEL(np.atleast_2d(points), centres) @ heights, norm


def play(opt, function, steps, rng, noise=0.3, size=1):
    """Ask and tell for some steps; the points chosen."""
    chosen = []
    for _ in range(steps):
        batch = opt.ask(size)
        chosen.append(batch.points.copy())
        opt.tell(batch, function(batch.points) + noise * rng.uniform(-1, 1, len(batch)))
    return np.concatenate(chosen)


def textbook(history, inside, where, lam):
    """Mean, variance and ½ log det(I + K/λ) of the evaluations inside a cell."""
    X, y = history.points[inside], history.rewards[inside]
    if not len(X):
        return np.zeros(len(where)), KERNEL.diag(where), 0.0
    K, k = KERNEL(X, X), KERNEL(X, where)
    solved = np.linalg.solve(K + lam * np.eye(len(X)), k)
    gain = 0.5 * np.linalg.slogdet(np.eye(len(X)) + K / lam)[1]
    return solved.T @ y, KERNEL.diag(where) - np.einsum("ij,ij->j", k, solved), gain


def within(points, cell):
    return np.all((points >= cell.lower - 1e-9) & (points <= cell.upper + 1e-9), axis=1)


def corners(cells):
    """The lower corners of cells, which name them."""
    return {tuple(cell.lower) for cell in cells}


def naive_leaves(cover, points, b):
    """Keys of all cells, split wherever ρ^(−1/b) < n + 1, by counting every point in every cube."""
    leaves, open_ = [], cover.first()
    while open_:
        key = open_.pop()
        low, high = cover.bounds(key)
        n = int(np.all((points >= low - 1e-9) & (points <= high + 1e-9), axis=1).sum())
        if cover.side(key) ** (-1 / b) * (1 + 1e-12) < n + 1:
            open_ += cover.children(key)
        else:
            leaves.append(key)
    return sorted(leaves)


def first_cover(d, horizon):
    b, q = smoothness_exponents(1.5, d)
    return Cover(np.zeros(d), np.ones(d), cells_a_side(horizon**q, d), b), b
