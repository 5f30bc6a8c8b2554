"""Truncated sums against their definition, reward by reward."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.rewards.moments import estimate_from, robust_moment, robust_scale
from noregret.rewards.truncation import SortedSums, truncated_directions


def rewards_of_all_kinds(rng, n):
    """Ties, zeros and draws without a variance."""
    heavy = rng.standard_t(1.2, n)
    tied = rng.integers(-3, 4, n).astype(float)
    return np.where(rng.random(n) < 0.5, heavy, tied)


def filled(arms, rewards, parts=1):
    sums = SortedSums()
    sums.grow(int(arms.max()) + 1)
    for piece in np.array_split(np.arange(len(arms)), parts):
        sums.add(arms[piece], np.abs(rewards[piece]), rewards[piece])
    return sums


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 700), count=st.integers(1, 6))
def test_sums_equal_the_direct_definition(seed, n, count):
    rng = np.random.default_rng(seed)
    arms, rewards = rng.integers(0, count, n), rewards_of_all_kinds(rng, n)
    sums = filled(arms, rewards, parts=3)
    rows = np.unique(arms)
    levels = np.abs(rng.standard_t(1.0, (len(rows), 5)))
    levels[:, 0] = rng.choice(np.abs(rewards), len(rows))  # exactly at a reward
    levels[:, 1] = np.inf
    counts, found = sums.below(rows, levels)
    for i, arm in enumerate(rows):
        own = rewards[arms == arm]
        for j, level in enumerate(levels[i]):
            inside = np.abs(own) <= level
            assert counts[i, j] == inside.sum()
            scale = np.abs(own[inside]).sum() + 1e-300
            assert abs(found[i, j] - own[inside].sum()) <= 1e-12 * scale


@pytest.mark.parametrize("n", [1, 127, 128, 129, 300])
def test_one_at_a_time_and_all_at_once_give_the_same_bits(n):
    rng = np.random.default_rng(n)
    arms, rewards = np.zeros(n, dtype=np.int64), rewards_of_all_kinds(rng, n)
    levels = np.abs(rng.standard_t(1.0, (1, 50)))
    single = filled(arms, rewards, parts=n).sums(np.array([0]), levels)
    at_once = filled(arms, rewards).sums(np.array([0]), levels)
    assert np.array_equal(single, at_once)


def test_directions_equal_algorithm_2():
    rng = np.random.default_rng(3)
    arms, rewards = rng.integers(0, 7, 400), rewards_of_all_kinds(rng, 400)
    weights = rng.standard_normal((7, 9))
    weights[2, 3] = 0.0
    level = 1.3
    found, nothing = truncated_directions(filled(arms, rewards), weights, np.arange(7), level)
    u = weights[arms]  # one row an evaluation, as the paper writes it
    products = u * rewards[:, None]
    expected = np.where(np.abs(products) <= level, products, 0.0).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert not nothing


def test_says_when_everything_is_truncated():
    sums = filled(np.array([0, 0]), np.array([5.0, -6.0]))
    assert truncated_directions(sums, np.ones((1, 2)), np.array([0]), 1.0)[1]


def test_an_outlier_does_not_move_the_estimates():
    rng = np.random.default_rng(0)
    clean = rng.standard_normal(512)
    dirty = clean.copy()
    dirty[:3] = 1e9
    assert robust_moment(clean, 1.0) == pytest.approx(1.0, rel=0.25)
    assert robust_moment(dirty, 1.0) == pytest.approx(1.0, rel=0.25)
    assert robust_scale(dirty) == pytest.approx(1.0, rel=0.15)


def test_estimates_change_log_t_times():
    assert [estimate_from(t) for t in (0, 1, 2, 3, 4, 7, 8, 1000)] == [0, 1, 2, 2, 4, 4, 8, 512]
