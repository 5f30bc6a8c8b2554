"""Points inside the cells of a cover of a box, against a fine grid."""

import numpy as np
import pytest
from covers import KERNEL, bumps, play

import noregret as nr


def test_on_a_box_no_point_of_a_fine_grid_has_a_larger_bound():
    rng = np.random.default_rng(12)
    function, norm = bumps(2, rng)
    box = nr.Box([(0, 1), (0, 1)])
    opt = nr.PiGPUCB(box, KERNEL, noise=0.3, norm=norm, width="paper", horizon=100, seed=0)
    grid = box.grid(61).points
    for _ in range(30):
        play(opt, function, 1, rng)
        bound = opt.upper(grid).max()
        batch = opt.ask()
        opt.cancel(batch)
        assert batch.info.upper[0] > bound - 0.01 * abs(bound)
        assert batch.info.upper[0] == pytest.approx(opt.upper(batch.points)[0], rel=1e-9)
