"""Sums of sorted rewards against their definition, reward by reward."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.observations import Observations
from noregret.rewards.sorted_sums import RewardsByArm, SortedSums


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
    single = filled(arms, rewards, parts=n).below(np.array([0]), levels)[1]
    at_once = filled(arms, rewards).below(np.array([0]), levels)[1]
    assert np.array_equal(single, at_once)


def test_counts_are_those_of_the_arms():
    arms = np.array([0, 2, 2, 0, 2])
    np.testing.assert_array_equal(filled(arms, np.ones(5)).counts(np.arange(3)), [2, 0, 3])


def told(rows, rewards):
    observations = Observations(np.empty((0, 1)))
    found = observations.rows(rows, rows[:, None].astype(float))
    observations.tell(found, rewards)
    return observations


def test_interrupted_while_sorting_it_starts_again_from_the_history():
    rng = np.random.default_rng(0)
    observations = told(rng.integers(0, 4, 300), rng.standard_t(1.5, 300))
    levels = np.abs(rng.standard_t(1.0, (len(observations), 6)))
    arms = np.arange(len(observations))

    def keyed(rows, y):
        return np.abs(y), y

    def interrupted(rows, y):
        raise KeyboardInterrupt

    kept, whole = RewardsByArm(), RewardsByArm()
    kept.follow(observations, keyed)
    observations.tell(np.array([1, 2, 1]), np.array([3.0, -1.0, 0.5]))
    with pytest.raises(KeyboardInterrupt):
        kept.follow(observations, interrupted)
    sums = kept.follow(observations, keyed).below(arms, levels)[1]
    assert np.array_equal(sums, whole.follow(observations, keyed).below(arms, levels)[1])
