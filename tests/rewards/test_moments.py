"""Moments and scales that outliers do not move."""

import numpy as np
import pytest

from noregret.rewards.moments import (
    estimate_from,
    moment_bound,
    robust_moment,
    winsorised,
)


def test_an_outlier_does_not_move_the_estimates():
    rng = np.random.default_rng(0)
    clean = rng.standard_normal(512)
    dirty = clean.copy()
    dirty[:3] = 1e9
    assert robust_moment(clean, 1.0) == pytest.approx(1.0, rel=0.25)
    assert robust_moment(dirty, 1.0) == pytest.approx(1.0, rel=0.25)


def test_estimates_change_log_t_times():
    assert [estimate_from(t) for t in (0, 1, 2, 3, 4, 7, 8, 1000)] == [0, 1, 2, 2, 4, 4, 8, 512]


def test_a_given_bound_stays():
    bound = moment_bound(0.5, 3.0)
    assert bound.after(np.full(100, 1e6)) is bound
    assert bound.value == 3.0


def test_an_estimated_bound_changes_where_the_number_of_rewards_has_doubled():
    rewards = np.random.default_rng(0).standard_normal(64)
    bound = moment_bound(1.0, "estimate").after(rewards[:40])
    assert bound.value == robust_moment(rewards[:32], 1.0)
    assert bound.after(rewards[:63]) is bound
    assert bound.after(rewards).value == robust_moment(rewards, 1.0)


def test_estimates_of_zero_fall_back_on_earlier_ones():
    rewards = np.r_[np.full(8, 5.0), np.zeros(32)]
    assert moment_bound(1.0, "estimate").after(rewards).value == 12.5  # of the first 16
    assert moment_bound(1.0, "estimate").after(np.zeros(9)).value == 1.0


def test_winsorised():
    y = np.arange(101.0)
    np.testing.assert_array_equal(winsorised(y), y)
    y[[0, 100]] = -1e9, 1e12
    np.testing.assert_allclose(winsorised(y)[[0, 100]], 50 + 3 * 1.4826 * 25.5 * np.array([-1, 1]))
    np.testing.assert_array_equal(winsorised(y)[1:100], y[1:100])
    np.testing.assert_array_equal(winsorised(np.full(5, 7.0)), np.full(5, 7.0))
    clicks = np.array([0.0] * 20 + [1.0] * 3)
    np.testing.assert_array_equal(winsorised(clicks), clicks)


def test_a_bound_counts_its_changes_and_warns_once():
    rewards = np.concatenate([np.full(20, 3.0), np.full(12, 5.0)])
    bound = moment_bound(1.0, "estimate")
    for t in range(1, 33):
        bound = bound.after(rewards[:t])
    assert (bound.used, bound.changes, bound.value) == (32, 1, 9.0)
    assert moment_bound(1.0, 4.0).after(rewards).changes == 0
    assert bound.warning(rewards[:15], 1.0) is bound  # too few
    with pytest.warns(UserWarning, match="all 32 rewards lie beyond the truncation level 1 and"):
        warned = bound.warning(rewards, 1.0)
    assert warned.warning(rewards, 1.0) is warned
