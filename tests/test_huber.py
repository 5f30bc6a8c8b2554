"""The Huber GP-UCB against direct computations of its objective."""

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.rewards.huber import HuberMean

GRID = np.linspace(0.0, 1.0, 30)[:, None]
KERNEL = nr.Matern(0.3, nu=1.5)


def fitted(rows, rewards, lam=0.5):
    """A model of arms 0 … u−1 with these evaluations, and its Huber mean."""
    u = int(rows.max()) + 1
    model = SparseGP(KERNEL, lam, GRID, KERNEL.diag(GRID))
    model.see(np.arange(u))
    model.rebuild(np.bincount(rows, minlength=u), np.zeros(u), np.arange(u))
    mean = HuberMean(model)
    mean.add(u, rows, rewards)
    return model, mean


def test_clipped_sums_equal_the_definition():
    rng = np.random.default_rng(0)
    rows = np.r_[np.arange(8), rng.integers(0, 8, 500)]
    rewards = np.round(rng.standard_t(1.5, len(rows)), 1)
    _, mean = fitted(rows, rewards)
    centres, cuts = rng.standard_normal(8), np.r_[rng.random(7), np.inf]
    expected = [np.clip(rewards[rows == a] - centres[a], -cuts[a], cuts[a]).sum() for a in range(8)]
    np.testing.assert_allclose(mean.clipped_sums(centres, cuts), expected, rtol=1e-10, atol=1e-10)


def test_fit_minimises_the_huber_objective():
    rng = np.random.default_rng(1)
    rows = np.r_[np.arange(8), rng.integers(0, 8, 60)]
    rewards = np.sin(rows) + rng.standard_t(1.2, len(rows))
    model, mean = fitted(rows, rewards)
    cuts = np.full(8, 0.8)
    features = model.arms.all_features()

    def objective(theta):
        residual = np.abs(rewards - (features @ theta)[rows])
        c = cuts[rows]
        loss = np.where(residual <= c, residual**2 / 2, c * residual - c**2 / 2)
        return loss.sum() + model.lam * theta @ theta / 2

    best = minimize(objective, np.zeros(8), method="BFGS", options={"gtol": 1e-9})
    found = mean.fit(np.zeros(8), cuts, 1e-9)
    assert objective(found) <= best.fun + 1e-9
    np.testing.assert_allclose(features @ found, features @ best.x, atol=1e-4)


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


def test_one_reward_moves_no_mean_by_more_than_its_cut_allows():
    rng = np.random.default_rng(6)
    rows = np.r_[np.arange(8), rng.integers(0, 8, 20)]
    rewards, lam, cut = rng.standard_normal(28), 0.5, 0.8
    model, mean = fitted(rows, rewards, lam)
    before = model.arms.all_features() @ mean.fit(np.zeros(8), np.full(8, cut), 1e-9)
    for value in (50.0, -1e9):
        model, mean = fitted(rows, np.r_[value, rewards[1:]], lam)
        after = model.arms.all_features() @ mean.fit(np.zeros(8), np.full(8, cut), 1e-9)
        assert 0.01 < np.abs(after - before).max() <= 2 * cut / lam


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
    opt.tell(np.arange(2000) % 30, y)
    # width = F + ξ√(2 log 10) with ξ near the bulk's deviation
    assert (opt.beta / scale - 1.0) / np.sqrt(2 * np.log(10)) == pytest.approx(1.0, abs=0.35)


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
