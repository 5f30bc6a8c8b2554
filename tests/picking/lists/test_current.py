"""Single picks by the papers' rule: the largest bound of all open candidates."""

import numpy as np
import pytest

import noregret as nr
from noregret.picking.lists.current import Current
from noregret.picking.lists.look_columns import LookColumns
from noregret.picking.lists.prior import PriorRoot

BETA = 2.0


@pytest.mark.parametrize("aside", [[], [0, 3, 7]])
@pytest.mark.parametrize("pending", [0, 2])
def test_a_single_pick_has_the_largest_bound(aside, pending):
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    opt = nr.IGPUCB(nr.Candidates(X), nr.Matern(0.3, nu=1.5), width=BETA, noise=0.1, seed=0)
    opt.tell(np.arange(5), rng.standard_normal(5))
    opt.set_aside(aside)
    opt.expect(np.arange(10, 10 + pending))
    for _ in range(40):
        mean, std = opt.predict()
        upper = mean + BETA * std
        upper[aside] = -np.inf
        batch = opt.ask()
        assert upper[batch.ids[0]] == pytest.approx(upper.max(), abs=1e-9)
        assert batch.info.upper[0] == pytest.approx(upper.max(), abs=1e-9)
        np.testing.assert_array_equal(batch.points, X[batch.ids])
        opt.tell(batch, np.sin(5 * X[batch.ids, 0]) + 0.1 * rng.standard_normal(1))


def test_earlier_bounds_limit_nothing():
    space = nr.Candidates(np.eye(4))
    sleepers = Current(LookColumns.fresh(PriorRoot(nr.RBF(0.3)), space), space.nothing)
    sleepers.intersect(np.arange(2), np.zeros(2))
    np.testing.assert_array_equal(sleepers.stale(np.arange(3)), np.full(3, np.inf))
    np.testing.assert_array_equal(sleepers.all_stale(), np.full(4, np.inf))
