"""The sections on latencies and on ruined runs, on tiny problems."""

import numpy as np
import pytest


@pytest.fixture
def latencies(benchmark_module):
    return benchmark_module("latencies")


@pytest.mark.parametrize("space", ["list12", "mixed"])
def test_a_run_compares_with_uniform_choice(latencies, space):
    found = latencies.one_run(space, latencies.MEASURES["three in ten are zero"], 0, 12)
    assert min(found) >= 1.0


@pytest.mark.parametrize(
    "name", ["log-normal, σ = 1", "three in ten are 0.5", "counts", "failures"]
)
def test_measurements_have_the_mean_that_they_should(latencies, name):
    rng = np.random.default_rng(0)
    found = np.mean([latencies.MEASURES[name](rng, 3.0) for _ in range(20_000)])
    expected = {"three in ten are 0.5": 0.7 * 3.0 + 0.15, "failures": 0.18}.get(name, 3.0)
    assert found == pytest.approx(expected, rel=0.05)


def test_uniform_choice_takes_the_smallest_mean(latencies):
    assert latencies.smallest_mean(["a", "b", "a", "c"], [0.0, 1.0, 4.0, 1.5]) == 1


@pytest.mark.parametrize("name", ["clippedgpucb", "hubergpucb", "gpbucb", "atagpucb", "tgpucb"])
def test_every_algorithm_runs_on_the_short_list(benchmark_module, name):
    ruined = benchmark_module("ruined")
    kind = ruined.kinds()["±Pareto(1.5)"]
    assert 0.0 <= ruined.one_run(kind, name, seed=0, rounds=30) <= 4.0


def test_moments_that_algorithms_are_told_are_true(benchmark_module):
    f, rng = np.full(200_000, 0.5), np.random.default_rng(0)
    for kind in benchmark_module("ruined").kinds().values():
        off = kind.draw(rng, f) - kind.means(f)
        found = np.mean(np.abs(off) ** (1.0 + kind.alpha)) ** (1.0 / (1.0 + kind.alpha))
        assert found <= 1.05 * kind.noise
