"""Evaluations that give no value, and the bad rewards that are told in their place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr


def crashes(opt, where, steps):
    """Run with failures at points for which ``where`` holds; how often it failed."""
    failures = 0
    for _ in range(steps):
        batch = opt.ask(1)
        if where(batch.points[0]):
            opt.fail(batch)
            failures += 1
        else:
            opt.tell(batch, batch.points[:, 0])
    return failures


@pytest.mark.parametrize("listed", [True, False])
def test_a_place_that_fails_is_left_alone(listed):
    box = nr.Box([(0, 1), (0, 1)])
    domain = box.grid(15) if listed else box
    opt = nr.GPUCB(domain, nr.RBF(0.3), noise=0.05, width=2.0, seed=0)
    assert 0 < crashes(opt, lambda x: x[0] > 0.6, 40) < 20
    assert len(opt.history) < opt.t
    assert opt.history.points[:, 0].max() <= 0.6
    assert opt.recommend().point[0] <= 0.6


def test_a_single_failure_invents_no_reward():
    opt = nr.GPUCB(np.linspace(0, 1, 9)[:, None], nr.RBF(0.1), noise=0.05, width=2.0, seed=0)
    opt.tell(np.arange(8), np.linspace(0, 1, 8))
    opt.expect([4])
    opt.fail([4])
    assert (opt.t, opt.pending) == (8, 1)
    opt.expect([8])
    opt.fail([8])  # its neighbour has a value
    assert opt.t == 8
    opt.expect([8])
    opt.fail([8])  # now it has failed before
    assert opt.t == 9
    assert len(opt.history) == 8


def test_what_fails_is_no_better_than_the_worst_where_most_rewards_are_equal():
    """The lower whisker of such rewards is the best of them, and a place that fails was as good."""
    opt = nr.GPUCB(np.linspace(0, 1, 9)[:, None], nr.RBF(0.1), noise=0.05, width=2.0, seed=0)

    def fail_twice():
        for _ in range(2):
            opt.expect([8])
            opt.fail([8])

    opt.tell(np.arange(6), np.ones(6))
    fail_twice()
    assert opt.t == 6  # of equal rewards none is bad
    opt.tell([6], [0.0])
    fail_twice()
    assert opt.t == 9
    assert opt.predict([8])[0][0] < 0.1


@pytest.mark.parametrize("seed", [2, 3])
def test_a_place_that_fails_is_left_where_most_rewards_are_equal(seed):
    def f(x):
        if x[0] > 0.5:
            raise ValueError("diverged")
        return float(x[0] < 0.1)

    X = np.random.default_rng(0).uniform(size=(200, 2))
    assert nr.minimize(f, X, 60, seed=seed, progress=False).failures < 25


def test_a_choice_that_mostly_gives_values_fails_by_chance():
    opt = nr.GPUCB(np.linspace(0, 1, 9)[:, None], nr.RBF(0.1), noise=0.05, width=2.0, seed=0)
    opt.tell([3, 3, 3], [1.0, 1.1, 0.9])
    for times in range(1, 6):
        opt.expect([3])
        opt.fail([3])
        assert opt.failing(1).tolist() == ([3] if times > 3 else [])
    assert (opt.t, len(opt.history)) == (4, 3)  # a bad reward is invented at the fifth failure


def test_a_reward_is_invented_where_the_three_nearest_have_failed():
    opt = nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(0.1), noise=0.05, width=2.0, seed=0)
    opt.tell([[0.0], [0.1]], [1.0, 2.0])
    for x in (0.70, 0.72, 0.74):  # fewer than three failures are nearest
        opt.expect([[x]])
        opt.fail([[x]])
    assert opt.t == 2
    opt.expect([[0.73]])
    opt.fail([[0.73]])
    assert opt.t == 3


def test_proved_bounds_hear_of_no_invented_reward():
    X = np.linspace(0, 1, 20)[:, None]
    opt = nr.GPUCB(X, nr.RBF(0.3), noise=0.05, norm=2.0, seed=0)
    crashes(opt, lambda x: x[0] > 0.5, 25)
    assert opt.t == len(opt.history)
    assert opt.proved


def test_failures_survive_save_and_replace(tmp_path):
    box = nr.Box([(0, 1)])
    opt = nr.GPUCB(box, nr.RBF(0.3), noise=0.05, width=2.0, seed=0)
    crashes(opt, lambda x: x[0] > 0.6, 15)
    opt.save(tmp_path / "run.npz")
    again, anew = nr.load(tmp_path / "run.npz"), opt.replace()
    for other in (again, anew):
        np.testing.assert_array_equal(other.history.rewards, opt.history.rewards)
        assert other.t == opt.t
    assert crashes(again, lambda x: x[0] > 0.6, 5) == crashes(opt, lambda x: x[0] > 0.6, 5)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=12))
def test_an_invented_reward_is_the_lower_whisker_of_the_different_rewards(rewards):
    """The lowest one that is at most 1.5 boxes below the box, or that limit."""
    opt = nr.GPUCB(np.arange(13.0)[:, None], nr.RBF(0.1), noise=0.05, width=2.0, seed=0)
    opt.tell(np.arange(len(rewards)), rewards)
    for _ in range(2):  # the second time it has failed before
        opt.expect([12])
        opt.fail([12])
    different = np.array(sorted(set(rewards)), dtype=float)
    if len(different) == 1:
        assert opt.t == len(rewards)
        return
    low, high = np.percentile(different, [25, 75])
    assert opt.t == len(rewards) + 1
    told = opt.situation().observations.rewards
    assert told[-1] == max(different.min(), low - 1.5 * (high - low))
    np.testing.assert_array_equal(opt.history.rewards, rewards)
