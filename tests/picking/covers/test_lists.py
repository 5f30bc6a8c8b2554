"""Candidates inside the cells of a cover, against bounds of all of them from scratch."""

import math

import numpy as np
import pytest
from covers import KERNEL, bumps, play, textbook, within

import noregret as nr
from noregret.widths import proved


def proved_bounds(opt, cell, X, first):
    """The smallest upper bound of all λ of candidates in a cell, from scratch (Theorem 7)."""
    told = opt.history
    inside = within(told.points, cell)
    y, n = told.rewards[inside], int(inside.sum())
    K = KERNEL(told.points[inside], told.points[inside])
    lams = np.array(opt.assumed.lams)
    log_dets = np.array([np.linalg.slogdet(np.eye(n) + K / lam)[1] for lam in lams])
    ridges = np.array([lam * y @ np.linalg.solve(K + lam * np.eye(n), y) for lam in lams])
    depth = round(math.log2(1 / (cell.side * first)))
    share = opt.delta / (first**2 * 4**depth * (depth + 1) * (depth + 2))
    widths, _ = proved.for_each_lambda(
        opt.noise, opt.norm, share, lams, log_dets, ridges, trace=0.0
    )
    assert cell.beta == pytest.approx(widths[0] / math.sqrt(lams[0]), rel=1e-6)
    bounds = []
    for lam, width in zip(lams, widths, strict=True):
        mean, variance, _ = textbook(told, inside, X, lam)
        bounds.append(mean + width * np.sqrt(np.maximum(variance, 0.0) / lam))
    return np.min(bounds, axis=0)


# cells that are looked at whole, and cells that sleep
@pytest.mark.parametrize(("first_cells", "short"), [(1, 8192), (9, 0)])
def test_bounds_that_only_fall_equal_a_dense_computation(monkeypatch, first_cells, short):
    """Bounds of all candidates in all cells at every step, the smallest of each so far kept."""
    monkeypatch.setattr("noregret.picking.covers.lists._SHORT", short)
    rng = np.random.default_rng(4)
    function, norm = bumps(2, rng)
    X = np.round(rng.random((50, 2)) * 18) / 18
    opt = nr.PiGPUCB(
        X, KERNEL, noise=0.1, norm=norm, first_cells=first_cells, seed=0, box=[(0, 1)] * 2
    )
    side, kept = round(math.sqrt(first_cells)), {}
    play(opt, function, 1, rng, noise=0.1)  # the first choice is uniform
    for _ in range(40):
        batch = opt.ask()
        opt.cancel(batch)
        now, largest = {}, np.full(len(X), -np.inf)
        for cell in opt.cover:
            mine = np.flatnonzero(within(X, cell))
            upper = np.full(len(X), np.inf)
            for old, values in kept.items():  # the cell itself, or the one that it is a part of
                if old[2] >= cell.side and within(0.5 * (cell.lower + cell.upper)[None], _Old(old)):
                    upper = values
            fresh = np.minimum(proved_bounds(opt, cell, X[mine], side), norm)
            now[(tuple(cell.lower), tuple(cell.upper), cell.side)] = bounds = np.full(
                len(X), np.inf
            )
            bounds[mine] = np.minimum(upper[mine], fresh)
            largest[mine] = np.maximum(largest[mine], bounds[mine])
        kept = now
        assert batch.info.upper[0] == pytest.approx(largest.max(), rel=1e-6)
        assert largest[batch.ids[0]] == pytest.approx(largest.max(), rel=1e-6)
        assert opt.upper() == pytest.approx(largest, rel=1e-6)
        opt.expect(batch.ids)
        opt.tell(batch, function(batch.points) + 0.1 * rng.uniform(-1, 1, 1))
    smallest = np.min(list(kept.values()), axis=0)
    assert opt.alive == (smallest >= opt.recommend().lower).sum() < len(X)


class _Old:
    """A cell of an earlier step."""

    def __init__(self, key):
        self.lower, self.upper = (np.array(corner) for corner in key[:2])
