"""diagnose_tails on samples whose tails are known."""

import numpy as np
import pytest
from scipy import stats

import noregret as nr
from noregret.rewards.diagnosis import hill, lilliefors


def test_gaussian_rewards_are_called_gaussian():
    rng = np.random.default_rng(0)
    called = [nr.diagnose_tails(3 + 5 * rng.standard_normal(400)).gaussian for _ in range(100)]
    assert np.mean(called) >= 0.95  # tested at 1 %
    report = nr.diagnose_tails(rng.standard_normal(1000))
    assert report.alpha == 1.0
    assert "GPUCB" in report.advice
    assert "1000 rewards" in str(report)


def test_pvalues_are_uniform_under_the_null():
    """Lilliefors, not the plain test: its p-values would crowd near 1."""
    rng = np.random.default_rng(1)
    for n in (30, 100, 500):
        pvalues = np.array([lilliefors(rng.standard_normal(n))[1] for _ in range(2000)])
        for level in (0.01, 0.05, 0.2, 0.5):
            assert np.mean(pvalues <= level) == pytest.approx(level, abs=4 * np.sqrt(level / 2000))


def test_statistic_is_the_kolmogorov_smirnov_distance():
    y = np.random.default_rng(2).standard_t(3, 200)
    expected = stats.kstest((y - y.mean()) / y.std(ddof=1), "norm").statistic
    assert lilliefors(y)[0] == pytest.approx(expected)


@pytest.mark.parametrize("index", [0.8, 1.5, 2.0, 3.0])
def test_hill_finds_the_index_of_pareto_tails(index):
    rng = np.random.default_rng(3)
    inside, n = 0, 2000
    for _ in range(100):
        low, high = hill(1.0 + rng.pareto(index, n))[1]
        inside += low <= index <= high
    assert inside >= 88  # 95 % nominal


@pytest.mark.parametrize(
    ("draw", "largest_alpha"),
    [
        (lambda rng: rng.standard_t(1.5, 2000), 0.8),
        (lambda rng: stats.levy_stable.rvs(1.5, 0.0, size=2000, random_state=rng), 0.8),
        (lambda rng: rng.standard_t(3, 2000), 1.0),
        (
            lambda rng: rng.standard_normal(2000) * np.where(rng.random(2000) < 0.01, 100, 1),
            1.0,
        ),
    ],
)
def test_heavy_tails_are_found_and_advised_on(draw, largest_alpha):
    report = nr.diagnose_tails(draw(np.random.default_rng(4)))
    assert not report.gaussian
    assert 0 < report.alpha <= largest_alpha
    assert report.outliers > 0
    assert "HuberGPUCB" in report.advice
    assert f"alpha={report.alpha:g}" in report.advice


def test_no_mean_and_no_tails_are_said_so():
    rng = np.random.default_rng(5)
    assert "logarithm" in nr.diagnose_tails(rng.pareto(0.5, 2000)).advice
    assert "no heavy tails" in nr.diagnose_tails(rng.random(2000)).advice


def test_outliers_of_one_size_have_a_mean():
    """One Gaussian reward in a hundred times 100: all moments exist."""
    rng = np.random.default_rng(6)
    rewards = rng.standard_normal(10_000) * np.where(rng.random(10_000) < 0.01, 100.0, 1.0)
    assert nr.diagnose_tails(rewards).kind == "heavy"


@pytest.mark.parametrize(
    ("draw", "kind"),
    [
        (lambda rng, n: (rng.random(n) < 0.02) * 1.0, "discrete"),
        (lambda rng, n: (rng.random(n) < 0.3) * 1.0, "discrete"),
        (lambda rng, n: (rng.random(n) < 0.5) * 1.0, "discrete"),
        (lambda rng, n: rng.poisson(0.3, n) * 1.0, "discrete"),
        (lambda rng, n: rng.exponential(1.0, n), "light"),
        (lambda rng, n: rng.random(n), "light"),
    ],
)
def test_bounded_discrete_and_light_tails_are_not_called_heavy(draw, kind):
    rng = np.random.default_rng(7)
    for n in (300, 1000):
        found = [nr.diagnose_tails(draw(rng, n)).kind for _ in range(25)]
        assert sum(k in ("heavy", "no mean") for k in found) <= 2  # tested at 1 %
    assert np.mean([k == kind for k in found]) >= 0.8


def test_the_report_says_how_sure_it_is():
    rng = np.random.default_rng(8)
    few, many = (nr.diagnose_tails(rng.standard_t(3, n)) for n in (60, 4000))
    assert few.power < 0.6 < 0.95 < many.power
    assert many.kind == "heavy"
    assert f"p = {many.heavy_pvalue:.2g}" in many.advice
    lognormal = nr.diagnose_tails(rng.lognormal(0.0, 1.0, 1000))
    assert lognormal.kind == "heavy"
    assert "noise=0.5" in nr.diagnose_tails((rng.random(300) < 0.1) * 1.0).advice


def test_huge_rewards_and_many_equal_ones_give_numbers():
    rng = np.random.default_rng(6)
    small = rng.standard_t(1.5, 500)
    report, scaled = nr.diagnose_tails(small), nr.diagnose_tails(1e250 * small)
    assert scaled.tail_index == pytest.approx(report.tail_index)
    assert scaled.ks_statistic == pytest.approx(report.ks_statistic)
    mostly_zero = nr.diagnose_tails(np.r_[np.zeros(90), np.arange(1.0, 11.0)])
    assert mostly_zero.outliers == 0.0  # the others are alike
    assert not mostly_zero.gaussian


def test_bad_rewards_are_refused():
    with pytest.raises(ValueError, match="at least 20"):
        nr.diagnose_tails(np.ones(5))
    with pytest.raises(ValueError, match="finite"):
        nr.diagnose_tails(np.r_[np.ones(30), np.nan])
    with pytest.raises(ValueError, match="equal"):
        nr.diagnose_tails(np.ones(30))
    with pytest.raises(TypeError, match="numbers"):
        nr.diagnose_tails(["a"] * 30)
