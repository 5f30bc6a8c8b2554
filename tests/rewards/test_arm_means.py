"""Robust means of separate arms against their definitions, and how often their bounds hold."""

import numpy as np
import pytest
from scipy.optimize import brentq

from noregret.observations import Observations
from noregret.rewards.arm_means import CatoniMeans, MediansOfMeans, TruncatedMeans
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


def told(ids, y):
    """Observations of arms by id."""
    observations = Observations(np.empty((0, 1)))
    rows = observations.rows(ids, ids[:, None].astype(float))
    observations.tell(rows, y)
    return observations


def reach(width, n, v, alpha):
    """How far a mean of few rewards may lie from zero."""
    power = 1 / (1 + alpha)
    return max(width * n ** (-alpha * power) - v**power, 0.0)


@pytest.mark.parametrize("alpha", [1.0, 0.4])
def test_medians_of_means_equal_the_definition(alpha):
    """Arms of 1 to 1,000 rewards, on both sides of what the lemma needs."""
    rng = np.random.default_rng(0)
    sizes, v = [1, 2, 3, 40, 301, 1000], 2.0
    ids = rng.permutation(np.repeat(np.arange(6), sizes))
    y = rng.standard_t(1.5, len(ids))
    observations = told(ids, y)
    estimate = MediansOfMeans(moment_bound(alpha, v))
    means, t = estimate.means(observations), len(y)
    log = np.log(np.exp(1 / 8) * t**2)
    width = (12 * 2 ** (1 - alpha) * v) ** (1 / (1 + alpha))
    width *= (16 * log) ** (alpha / (1 + alpha))
    assert estimate.width(t) == pytest.approx(width)
    for row, id_ in enumerate(observations.ids):
        own = y[ids == id_]
        n = len(own)
        k = max(int(np.floor(min(8 * log, n / 2))), 1)
        size = n // k
        expected = np.median([sum(own[i * size : (i + 1) * size]) / size for i in range(k)])
        if n < 16 * log:
            cut = reach(width, n, v, alpha)
            expected = min(max(expected, -cut), cut)
        assert means[row] == pytest.approx(expected, abs=1e-12)


def test_catonis_means_are_roots_of_the_definition():
    rng = np.random.default_rng(0)
    sizes, v = [1, 2, 20, 61, 200, 900], 3.0
    ids = rng.permutation(np.repeat(np.arange(6), sizes))
    y = 1.0 + rng.standard_t(2.5, len(ids))
    observations = told(ids, y)
    estimate = CatoniMeans(moment_bound(1.0, v))
    means, t = estimate.means(observations), len(y)
    assert estimate.width(t) == pytest.approx(2 * np.sqrt(v * np.log(t**2)))
    for row, id_ in enumerate(observations.ids):
        own = y[ids == id_]
        n = len(own)
        log = min(np.log(t**2), n / 4)
        scale = np.sqrt(2 * log / (n * (v + 2 * v * log / (n - 2 * log))))

        def total(theta, own=own, scale=scale):
            x = scale * (own - theta)
            return np.sum(np.where(x > 0, 1, -1) * np.log(1 + np.abs(x) + x**2 / 2))

        expected = brentq(total, own.min() - 1, own.max() + 1, xtol=1e-13)
        if n <= 4 * np.log(t**2):
            cut = reach(estimate.width(t), n, v, 1.0)
            expected = min(max(expected, -cut), cut)
        assert means[row] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("make", [TruncatedMeans, MediansOfMeans, CatoniMeans])
def test_arms_without_rewards_and_rewards_of_any_size(make):
    observations = Observations(np.empty((0, 1)))
    rows = observations.rows(np.arange(3), np.arange(3.0)[:, None])
    observations.tell(np.repeat(rows[:2], [400, 401]), np.repeat([0.5, 0.5, 1e90], [400, 400, 1]))
    means = make(moment_bound(1.0, 4.0)).means(observations)
    assert means[0] == pytest.approx(0.5, abs=1e-9)
    assert abs(means[1] - 0.5) < 10.0  # one outlier of 1e90; Catoni's goes with its logarithm
    assert means[2] == 0.0


NOISES = {
    "Student t(2.5)": (lambda rng, n: rng.standard_t(2.5, n), 5.0),
    "Pareto(2.2)": (lambda rng, n: rng.pareto(2.2, n) - 1 / 1.2, 2.2 / (1.2**2 * 0.2)),
    "two points": (lambda rng, n: np.where(rng.uniform(size=n) < 0.01, 9.9, -0.1), 0.99),
}


@pytest.mark.parametrize("n", [15, 150])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("make", [TruncatedMeans, MediansOfMeans, CatoniMeans])
def test_bounds_hold(make, noise, n):
    """Of 300 arms each bound fails with probability at most t⁻²: none does."""
    draw, variance = NOISES[noise]
    rng = np.random.default_rng(1)
    ids = np.repeat(np.arange(300), n)
    means = rng.uniform(-1, 1, 300)
    estimate = make(moment_bound(1.0, 1.0 + variance))
    found = estimate.means(told(ids, means[ids] + draw(rng, len(ids))))
    errors = np.abs(found - means)
    assert np.all(errors <= estimate.width(len(ids)) * n**-0.5)
    if n == 150:
        assert np.median(errors) < 0.5  # the estimate says something, not the bound alone
