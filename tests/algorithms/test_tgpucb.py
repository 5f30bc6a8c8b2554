"""TGP-UCB against its algorithm box, reward by reward."""

import numpy as np
import pytest
from heavy_runs import GRID, KERNEL, heavy_run, ridge

import noregret as nr
from noregret.widths import heavy


def test_without_truncation_it_is_gpucb():
    tgp = heavy_run("tgpucb", v=1e12, lam=1.0, width=2.0)
    plain = heavy_run("gpucb", lam=1.0, width=2.0)
    assert np.array_equal(tgp.history.ids, plain.history.ids)
    assert np.array_equal(tgp.predict()[0], plain.predict()[0])


def test_the_mean_is_that_of_algorithm_1():
    opt = heavy_run("tgpucb", alpha=0.5, v=1.2, lam=0.5, width=2.0)
    ids, rewards = opt.history.ids, opt.history.rewards
    times = np.arange(1, len(ids) + 1)
    levels = 1.2 ** (1 / 1.5) * times ** (1 / 3)
    truncated = np.where(np.abs(rewards) <= levels, rewards, 0.0)
    assert np.any(truncated != rewards)
    expected = ridge(KERNEL, ids, truncated, 0.5)
    np.testing.assert_allclose(opt.predict()[0], expected, atol=1e-6)
    assert opt.recommend().mean == pytest.approx(expected[opt.recommend().id], abs=1e-6)


def test_an_estimated_moment_truncates_all_rewards_anew():
    opt = heavy_run("tgpucb", t=20, alpha=1.0, lam=0.5, width=2.0)
    v = opt.v_in_use
    rewards = opt.history.rewards
    levels = np.sqrt(v) * np.arange(1, 21) ** 0.25
    truncated = np.where(np.abs(rewards) <= levels, rewards, 0.0)
    expected = ridge(KERNEL, opt.history.ids, truncated, 0.5)
    np.testing.assert_allclose(opt.predict()[0], expected, atol=1e-6)


@pytest.mark.parametrize(("features", "bias"), [("exact", 1.0), ("nystrom", 1 + 0.9**-0.5)])
def test_theory_and_paper_are_theorem_1(features, bias):
    widths = [
        heavy_run("tgpucb", t=30, v=3.0, lam=0.5, norm=2.0, features=features, width=width)
        for width in ("theory", "paper")
    ]
    assert widths[0].beta == widths[1].beta
    opt = widths[0]
    K = KERNEL(GRID[opt.history.ids], GRID[opt.history.ids])
    log_det = np.linalg.slogdet(np.eye(30) + K / 0.5)[1]
    expected = heavy.tgp(1.0, 3.0, 2.0, 0.5, 0.1, log_det, 30, bias) / np.sqrt(0.5)
    assert opt.beta == pytest.approx(expected, rel=1e-6)


def test_bounds_are_those_of_now():
    """The paper's lemma does not hold for all times at once: nothing is intersected."""
    assert heavy_run("tgpucb", t=10, v=3.0).alive is None


def test_theory_widens_inside_a_batch_by_the_root_of_the_ratio():
    opt = nr.TGPUCB(GRID, KERNEL, v=3.0, ratio=4.0, seed=0)
    opt.tell(opt.ask(), [0.5])
    mean, std = opt.predict()
    batch = opt.ask()
    assert batch.info.upper[0] == pytest.approx((mean + 2.0 * opt.beta * std).max())
