"""Rewards far from all others are drawn in before the model sees them."""

import numpy as np
import pytest

import noregret as nr
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.winsorised import Winsorised

MODEL = SparseGP(nr.RBF(), (1.0,), np.empty((0, 1)), 1.0)
ASSUMED = Assumptions(nr.RBF(1.0), 0.1, 1.0, (0.01,), 1.0, shift=2.0, unit=4.0)


def observed(rewards, rows):
    seen = Observations(np.empty((0, 1)))
    points = np.arange(max(rows) + 1.0)[:, None]
    seen.rows(np.full(len(points), -1), points)
    seen.tell(np.asarray(rows), np.asarray(rewards))
    return seen


def test_rewards_near_the_median_count_as_they_are():
    seen = observed([1.0, 2.0, 3.0, 2.5], [0, 0, 1, 2])
    sums = Winsorised().sums(MODEL, seen, ASSUMED)
    np.testing.assert_allclose(sums, (np.array([3.0, 3.0, 2.5]) - 2.0 * np.array([2, 1, 1])) / 4.0)


def test_outliers_are_drawn_in_on_both_sides():
    """The median is 0 and half of the rewards that differ from it are within 1."""
    rewards = [-1.0, 0.0, 1.0, 0.0, 1.0, -1.0, 1e4, -1e9]
    sums = Winsorised().sums(MODEL, observed(rewards, range(8)), ASSUMED)
    found = 4.0 * sums + 2.0
    np.testing.assert_allclose(found[:6], rewards[:6])
    np.testing.assert_allclose(found[6:], [3 * 1.4826, -3 * 1.4826])


def test_outliers_do_not_ruin_a_quadratic():
    """One reward in 37 is larger than the best value by 10⁴."""
    rng = np.random.default_rng(0)
    box = nr.Box([(0, 1)] * 2)
    count = iter(range(1000))

    def f(x):
        wrong = 1e4 if next(count) % 37 == 20 else 0.0
        return -np.square(x - 0.3).sum() + 0.01 * rng.standard_normal() + wrong

    best = nr.maximize(f, box, 80, seed=0, progress=False).best
    assert np.square(best.point - 0.3).sum() < 0.01
    assert best.mean == pytest.approx(0.0, abs=0.2)
