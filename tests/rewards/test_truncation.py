"""Rewards beyond their level count as zero, beside a loop over all rewards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.moments import estimate_from, moment_bound, robust_moment
from noregret.rewards.truncation import TruncatedRewards

MODEL = SparseGP(nr.RBF(), (1.0,), np.empty((0, 1)), 1.0)
ASSUMED = Assumptions(nr.RBF(), 0.1, 1.0, (1.0,), 1.0)

rewards = st.lists(st.tuples(st.integers(0, 4), st.floats(-20, 20)), min_size=1, max_size=40)


def truncated(told, alpha, v):
    """TGP-UCB Algorithm 1: sums by arm of the rewards within b_t = v^(1/(1+α)) t^(1/(2(1+α)))."""
    sums = np.zeros(5)
    for t, (arm, reward) in enumerate(told, 1):
        level = v ** (1 / (1 + alpha)) * t ** (1 / (2 * (1 + alpha)))
        if abs(reward) <= level * (1 + 1e-12):  # rewards at their level, up to round-off
            sums[arm] += reward
    return sums


@pytest.mark.filterwarnings("ignore:all .* rewards lie beyond")
@given(rewards, st.integers(1, 9), st.sampled_from([0.3, 1.0]), st.sampled_from([2.0, "estimate"]))
def test_the_level_of_a_reward_is_that_of_its_time(told, size, alpha, v):
    """In whatever parts they come; an estimated v truncates all rewards anew."""
    seen, estimate = Observations(np.empty((0, 1))), TruncatedRewards(moment_bound(alpha, v))
    rows = seen.rows(np.arange(5), np.arange(5.0)[:, None])
    values, changes, before = np.array([reward for _, reward in told]), 0, 1.0
    for start in range(0, len(told), size):
        part = told[start : start + size]
        seen.tell(rows[[arm for arm, _ in part]], np.array([reward for _, reward in part]))
        level = v
        if v == "estimate":
            most = estimate_from(seen.t)
            tried = [robust_moment(values[: most >> i], alpha) for i in range(most.bit_length())]
            level = next((one for one in tried if one), 1.0)
            changes, before = changes + (level != before), level
        sums = estimate.sums(MODEL, seen, ASSUMED)
        np.testing.assert_allclose(sums, truncated(told[: seen.t], alpha, level), atol=1e-9)
        assert (estimate.moment.value, estimate.revision) == (level, changes)


def test_a_level_that_no_reward_is_within_is_said_once():
    seen, estimate = Observations(np.empty((0, 1))), TruncatedRewards(moment_bound(1.0, 1e-6))
    rows = seen.rows(np.arange(2), np.arange(2.0)[:, None])
    seen.tell(np.repeat(rows, 8), np.full(16, 5.0))
    with pytest.warns(UserWarning, match=r"all 16 rewards lie beyond .* v = 1e-06 is too small"):
        estimate.sums(MODEL, seen, ASSUMED)
    seen.tell(rows, np.full(2, 5.0))
    np.testing.assert_array_equal(estimate.sums(MODEL, seen, ASSUMED), [0.0, 0.0])


@given(st.floats(0.001, 1000), st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_a_lone_reward_lies_within_the_level_estimated_from_it(reward, alpha):
    seen, estimate = (
        Observations(np.empty((0, 1))),
        TruncatedRewards(moment_bound(alpha, "estimate")),
    )
    seen.tell(seen.rows(np.array([0]), np.zeros((1, 1))), np.array([reward]))
    assert estimate.sums(MODEL, seen, ASSUMED) == reward
