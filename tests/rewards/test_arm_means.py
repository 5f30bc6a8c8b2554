"""Truncated means of separate arms against their definition."""

import numpy as np
import pytest

from noregret.observations import Observations
from noregret.rewards.arm_means import TruncatedMeans
from noregret.rewards.moments import moment_bound


@pytest.mark.parametrize("alpha", [1.0, 0.4])
def test_means_equal_the_definition_however_rewards_arrive(alpha):
    rng = np.random.default_rng(0)
    ids, y = rng.integers(0, 5, 120), rng.standard_t(1.5, 120)
    observations = Observations(np.empty((0, 1)))
    estimate = TruncatedMeans(moment_bound(alpha, 2.0))
    for part in np.split(np.arange(120), [1, 2, 50, 51]):
        rows = observations.rows(ids[part], ids[part, None].astype(float))
        observations.tell(rows, y[part])
        means = estimate.means(observations)
    for row, id_ in enumerate(observations.ids):
        own = y[ids == id_]
        levels = (2.0 * np.arange(1, len(own) + 1) / np.log(120**2)) ** (1 / (1 + alpha))
        expected = np.where(np.abs(own) <= levels, own, 0.0).mean()
        assert means[row] == pytest.approx(expected, abs=1e-12)


def test_an_arm_without_rewards_has_mean_zero():
    observations = Observations(np.empty((0, 1)))
    rows = observations.rows(np.arange(2), np.arange(2.0)[:, None])
    observations.tell(rows[:1], np.array([0.5]))
    means = TruncatedMeans(moment_bound(1.0, 1e6)).means(observations)
    np.testing.assert_array_equal(means, [0.5, 0.0])
