"""The choice among cells: the largest bound of all of them, against bounds from scratch."""

import math

import numpy as np
import pytest
from covers import KERNEL, bumps, first_cover, play, textbook, within

import noregret as nr


@pytest.mark.parametrize(("d", "horizon"), [(1, 300), (2, None)])
def test_choices_maximise_the_largest_bound_over_cells(d, horizon):
    """UCB_t, all cells from scratch at every step, although most are never looked at again."""
    rng = np.random.default_rng(10 + d)
    function, norm = bumps(d, rng)
    X = np.round(rng.random((150, d)) * 32) / 32  # many points on faces
    opt = nr.PiGPUCB(
        X, KERNEL, noise=0.3, norm=norm, width="paper", horizon=horizon, box=[(0, 1)] * d, seed=0
    )
    cover, b = first_cover(d, horizon or 1000)
    share = 1.0 if horizon else 0.5  # an unknown horizon leaves half of δ to later ones
    play(opt, function, 1, rng)  # the first choice is uniform
    for t in range(2, 81):
        batch = opt.ask()
        told = opt.history
        upper = np.full(len(X), -np.inf)
        for cell in opt.cover:
            mine = within(X, cell)
            mean, variance, gain = textbook(
                told, within(told.points, cell), X[mine], opt.assumed.lam
            )
            count = max(4 * (t + 1) ** (b * d), cover.per_side**d)
            beta = norm + 0.3 * math.sqrt(2 * (gain + 1 + math.log(count / (0.1 * share))))
            assert cell.beta == pytest.approx(beta, rel=1e-9)
            bound = mean + beta * np.sqrt(np.maximum(variance, 0))
            upper[mine] = np.maximum(upper[mine], bound)
        assert upper[batch.ids[0]] == pytest.approx(upper.max(), rel=1e-9)
        assert batch.info.upper[0] == pytest.approx(upper.max(), rel=1e-9)
        opt.tell(batch, function(batch.points) + 0.3 * rng.uniform(-1, 1, 1))
    assert np.allclose(opt.upper().max(), opt.ask().info.upper[0], rtol=1e-12)
