"""BKB's experiments: their posteriors against formulas written another way."""

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import bkb

LAM = 0.01


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 40)
    return x, rng.integers(0, 20, 25), rng.standard_normal(25)


def test_the_exact_posterior_is_that_of_the_library(data):
    x, ids, y = data
    opt = nr.GPUCB(x[:, None], nr.RBF(0.1), noise=0.1, lam=LAM, seed=0)
    opt.tell(ids, y)
    mean, std = bkb._posterior(nr.RBF(0.1), x, ids, y, LAM)
    assert np.allclose(opt.predict()[0], mean, atol=1e-6)
    assert np.allclose(opt.predict()[1], std, atol=1e-5)


def test_regressors_with_all_points_are_the_exact_gp(data):
    x, ids, y = data
    everything = np.arange(len(x))
    exact = bkb._posterior(nr.RBF(0.1), x, ids, y, LAM)
    degenerate = bkb._subset_of_regressors(nr.RBF(0.1), x, ids, y, LAM, everything)
    assert np.allclose(degenerate, exact, atol=1e-4)


def test_starved_variance_and_ours():
    frame = bkb.starvation(seed=0, evaluations=63)
    far = frame.filter((pl.col("x") > 0.9) & (pl.col("method") != "data"))
    std = {name: part["std"].to_numpy() for (name,), part in far.group_by("method")}
    assert np.all(std["sor"] < 0.2)
    assert np.allclose(std["bkb"], std["exact"], rtol=0.01)


def test_longer_histories_of_a_seed_begin_with_the_shorter_ones():
    short, long = (bkb.starvation(4, t).filter(pl.col("method") == "data") for t in (6, 20))
    assert short["f"].to_list() == long["f"].to_list()[:6]


def test_effective_dimension_counts_repeated_points():
    points = np.random.default_rng(0).random((15, 2))[[0, 1, 2, 2, 3, 4, 4, 4]]
    gram = bkb._PLANE_KERNEL(points, points)
    direct = np.trace(gram @ np.linalg.inv(gram + 0.5 * np.eye(8)))
    assert bkb._effective_dimension(points, 0.5) == pytest.approx(direct)


def test_costs_reports_the_dictionary_below_its_bound():
    frame = bkb.costs(seed=0, algorithm="bkb", horizon=60, arms=50)
    assert (frame["inducing"] <= frame["bound"]).all()
    assert (frame["inducing"] <= frame["unique"]).all()


def test_the_plain_posterior_makes_the_choices_of_gp_ucb():
    plain, gpucb = (bkb.costs(0, name, 60, 50) for name in ("plain", "gpucb"))
    assert plain["regret"].to_list() == gpucb["regret"].to_list()
    assert plain["seconds"].is_sorted()


def test_growth_is_the_exponent_of_a_power():
    t = np.array([50.0, 100.0, 300.0, 400.0, 1000.0])
    assert bkb.growth(t, 3.0 * t**1.7) == pytest.approx(1.7)
    # What came before a quarter of the end does not count.
    assert bkb.growth(t, np.array([9.0, 1.0, 1.0, 1.0, 10.0])) == pytest.approx(1.0)
    assert bkb.growth(t[-2:], t[-2:]) == pytest.approx(1.0)
