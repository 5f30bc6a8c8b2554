"""Single rewards that are far too bad for where they stand."""

import numpy as np
import pytest

import noregret as nr
from noregret.learning.lone import lone_outliers

KERNEL = nr.RBF(0.3)
LAM = 0.01
POINTS = np.linspace(0.0, 1.0, 40)[:, None]


def found(rewards, rows=None):
    rows = np.arange(len(POINTS)) if rows is None else rows
    drawn_in = np.clip(rewards, -2.0, 2.0)
    return lone_outliers(KERNEL, LAM, POINTS, rows, drawn_in, rewards).tolist()


@pytest.fixture
def rewards():
    rng = np.random.default_rng(0)
    return np.sin(6 * POINTS[:, 0]) + 0.1 * rng.standard_normal(len(POINTS))


def test_stalls_are_found_and_rewards_as_usual_are_not(rewards):
    assert found(rewards) == []
    rewards[[7, 30]] -= 50.0
    assert found(rewards) == [7, 30]


def test_a_reward_that_is_far_too_good_may_be_the_best_choice(rewards):
    rewards[7] += 50.0
    assert found(rewards) == []


def test_a_second_bad_reward_of_the_same_arm_is_believed(rewards):
    rewards[7] -= 50.0
    rows = np.append(np.arange(len(POINTS)), 7)
    assert found(np.append(rewards, -50.0), rows) == []


def test_bad_rewards_beside_each_other_are_a_hole(rewards):
    rewards[[7, 8, 9]] -= 50.0
    assert found(rewards) == []


def test_few_arms_cannot_tell(rewards):
    rewards[7] -= 50.0
    rows = np.arange(12)
    assert lone_outliers(KERNEL, LAM, POINTS, rows, rewards[:12], rewards[:12]).tolist() == []


def test_only_the_last_of_many_arms_are_looked_at():
    points = np.linspace(0.0, 1.0, 1100)[:, None]
    rewards = 0.1 * np.random.default_rng(0).standard_normal(1100)
    rewards[[50, 600]] -= 50.0
    rows = np.arange(1100)
    drawn_in = np.maximum(rewards, -2.0)
    assert lone_outliers(KERNEL, LAM, points, rows, drawn_in, rewards).tolist() == [600]


def test_stalls_do_not_bend_the_model_of_a_mixed_space():
    rng = np.random.default_rng(0)
    space = nr.Space({"a": nr.Float(0, 1), "n": nr.Int(1, 8), "c": nr.Choice(["x", "y"])})
    _, points = space.sample(60, rng)
    f = np.array(
        [
            -4 * (p["a"] - 0.3) ** 2 - 0.1 * (p["n"] - 3) ** 2 - (p["c"] == "x")
            for p in space.decode(points)
        ]
    )
    rewards, stalls = f + 0.05 * rng.standard_normal(60), [5, 20, 40]
    rewards[stalls] -= 40.0
    opt = nr.TrustRegionUCB(space, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    opt.tell(points, rewards)
    opt.ask()
    mean, _ = opt.predict(points)
    np.testing.assert_allclose(mean[stalls], f[stalls], atol=0.5)  # once they were off by 5
