"""The heavy-tails paper's experiments on recorded rewards, against naive second computations."""

import numpy as np
import pytest
from data_sets import needs

from noregret.experiments import heavy_data
from noregret.problems.datasets import light_sensors, stocks

STOCKS = pytest.param("stocks", marks=needs("stocks"))
SENSORS = pytest.param("sensors", marks=needs("lightsensor"))


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_noise_is_paired_and_does_not_depend_on_the_horizon(record, problem):
    for name, horizon in (("nystrom", 40), ("huber", 15)):
        heavy_data.recorded(problem, name, "practical", horizon, seed=2)
    long, short = (made[3].told for made in record)
    assert long[:15] == short


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_recorded_rewards_by_hand(record, problem):
    data = heavy_data.readings(problem)
    frame = heavy_data.recorded(problem, "tgp", "paper", 30, seed=3)
    number = {"stocks": 14, "sensors": 15}[problem]
    rows = np.random.default_rng([2019, number, 3]).integers(len(data.rewards), size=30)
    ((_, _, options, player),) = record
    for t, (arm, reward) in enumerate(player.told):
        assert reward == data.rewards[rows[t], arm]
    means = [sum(column) / len(column) for column in data.rewards.T.tolist()]
    best = max(means)
    lost = sum(best - means[arm] for arm, _ in player.told) / best
    assert frame["regret"][-1] == pytest.approx(lost)
    assert options["norm"] == pytest.approx(best)
    squares = [x * x for x in data.rewards.ravel().tolist()]
    assert options["v"] == pytest.approx(sum(squares) / len(squares))


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_the_kernel_is_the_covariance_of_normalised_readings(record, problem):
    heavy_data.recorded(problem, "nystrom", "practical", 1, seed=0)
    table = stocks() if problem == "stocks" else light_sensors().train
    normalised = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    expected = normalised.T @ normalised / (len(table) - 1)
    ((_, kernel, _, _),) = record
    np.testing.assert_allclose(kernel.matrix, expected, atol=1e-12)


@needs("lightsensor")
def test_quadrature_on_the_sensors_places(record):
    heavy_data.recorded("sensors", "qff", "practical", 5, seed=0)
    ((name, kernel, options, _),) = record
    assert (name, options["features"], options["nodes"]) == ("atagpucb", "qff", 16)
    assert kernel.lengthscale**2 == pytest.approx(0.1)
    places = heavy_data.readings("sensors").places
    assert places.min(axis=0).tolist() == [0.0, 0.0]
    assert places.max(axis=0).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_readings_are_not_gaussian_but_most_have_lighter_tails(problem):
    """The paper's test rejects every arm; by their excess kurtosis most are lighter-tailed."""
    found = heavy_data.facts(problem)
    assert np.all(found["pvalue"].to_numpy() < 0.01)
    assert np.median(found["kurtosis"].to_numpy()) < 0
    centred = heavy_data.readings(problem).rewards[:, 0]
    centred = centred - centred.mean()
    expected = np.mean(centred**4) / np.mean(centred**2) ** 2 - 3
    assert found["kurtosis"][0] == pytest.approx(expected)


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_the_papers_bound_is_below_the_norm(problem):
    """B = max f, but f = Σ a_i k(·, x_i) has the norm √(aᵀKa), many times that."""
    data = heavy_data.readings(problem)
    f = data.rewards.mean(axis=0)
    heights = np.linalg.lstsq(data.covariance, f)[0]
    expected = np.sqrt(heights @ data.covariance @ heights) / f.max()
    assert heavy_data.facts(problem)["norm"][0] == pytest.approx(expected, rel=1e-6)
    assert expected > 5
