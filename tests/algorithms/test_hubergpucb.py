"""The Huber GP-UCB: outliers, scales and peaks."""

import numpy as np
import pytest

import noregret as nr

GRID = np.linspace(0.0, 1.0, 30)[:, None]
KERNEL = nr.Matern(0.3, nu=1.5)


def test_with_wide_cuts_it_is_gpucb():
    rng = np.random.default_rng(2)
    huber = nr.HuberGPUCB(GRID, KERNEL, noise=1e6, lam=0.5, width=2.0, seed=0)
    plain = nr.GPUCB(GRID, KERNEL, lam=0.5, width=2.0, seed=0)
    for _ in range(50):
        batch = huber.ask()
        assert np.array_equal(batch.ids, plain.ask().ids)
        y = rng.standard_normal(1)
        huber.tell(batch, y)
        plain.tell(batch.ids, y)
    np.testing.assert_allclose(huber.predict()[0], plain.predict()[0], atol=1e-9)


def test_an_outlier_among_many_rewards_hardly_moves_the_mean():
    rng = np.random.default_rng(3)
    ids, y = rng.integers(0, 30, 400), rng.standard_normal(400)
    clean, dirty = (nr.HuberGPUCB(GRID, KERNEL, seed=0, noise=1.0) for _ in range(2))
    clean.tell(ids, y)
    dirty.tell(ids, np.where(np.arange(400) == 17, 1e12, y))
    assert np.abs(clean.predict()[0] - dirty.predict()[0]).max() < 0.2


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_the_scale_is_found(scale):
    rng = np.random.default_rng(4)
    y = scale * (np.sin(np.arange(2000) % 30) + rng.standard_normal(2000))
    y[::100] *= 1e4
    opt = nr.HuberGPUCB(GRID, KERNEL, norm=scale, seed=0)
    # Before the first rewards the noise is taken to be as large as the norm.
    assert opt.beta == pytest.approx(scale * (1 + np.sqrt(2 * np.log(10))))
    opt.tell(np.arange(2000) % 30, y)
    # width = F + ξ√(2 log 10) with ξ near the bulk's deviation
    assert (opt.beta / scale - 1.0) / np.sqrt(2 * np.log(10)) == pytest.approx(1.0, abs=0.35)


def test_rewards_that_are_often_equal_are_no_outliers():
    """Bernoulli(0.3) against a sure 0.1, and 100,000 of the former alone."""
    for seed in range(4, 9):
        rng = np.random.default_rng(seed)
        opt = nr.HuberGPUCB([[0.0], [1.0]], nr.RBF(0.1), norm=1.0, seed=0)
        for _ in range(250):
            batch = opt.ask()
            opt.tell(batch, [float(rng.random() < 0.3) if batch.ids[0] == 0 else 0.1])
        assert np.mean(opt.history.ids == 0) > 0.7
    opt = nr.HuberGPUCB([[0.0]], nr.RBF(0.1), norm=1.0, seed=0)
    opt.tell(np.zeros(100_000, dtype=int), (rng.random(100_000) < 0.3) * 1.0)
    best = opt.recommend()
    assert best.lower < 0.3 < best.upper < best.lower + 0.03


@pytest.mark.parametrize(
    "draw", [lambda rng, n: rng.exponential(1.0, n), lambda rng, n: rng.poisson(1.0, n)]
)
def test_the_bias_of_skew_noise_vanishes(draw):
    for n in (1_000, 30_000):
        means = []
        for seed in range(8):
            opt = nr.HuberGPUCB([[0.0]], nr.RBF(0.1), norm=1.0, seed=0)
            opt.tell(np.zeros(n, dtype=int), draw(np.random.default_rng(seed), n))
            best = opt.recommend()
            means.append(best.mean)
            assert best.lower < 1.0 < best.upper
        assert abs(np.mean(means) - 1.0) < 0.75 / np.sqrt(n) + 0.01 * (n < 2_000)


def test_a_peak_seen_once_is_not_taken_for_an_outlier():
    """After many quiet rewards a large f at a new place must count: the cut has F·std."""
    opt = nr.HuberGPUCB(GRID, nr.RBF(0.05), norm=3.0, lam=0.01, seed=0)
    rng = np.random.default_rng(5)
    opt.tell(rng.integers(0, 15, 300), 0.01 * rng.standard_normal(300))
    opt.tell([25], [2.0])
    assert opt.predict([25])[0][0] > 1.9


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="noise must be above 0"):
        nr.HuberGPUCB(GRID, KERNEL, noise=0.0)
    with pytest.raises(ValueError, match="width must be one of 'practical'"):
        nr.HuberGPUCB(GRID, KERNEL, width="theory")
