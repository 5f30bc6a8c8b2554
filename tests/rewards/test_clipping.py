"""Softly clipped rewards: the estimate and its width, against a naive computation."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.widths import clipped

NOISE, NORM, KERNEL = 0.5, 2.0, nr.RBF(0.3)


def told(alpha=1.0, outlier=0.0, norm=NORM, t=60):
    """A run on 20 points that was told t rewards, one of them far off."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20, 2))
    ids = rng.integers(20, size=t)
    y = np.sin(5 * X[ids, 0]) + NOISE * rng.choice([-1.0, 1.0], t)
    y[7] += outlier
    options = {"noise": NOISE, "norm": norm, "delta": 0.1, "alpha": alpha, "seed": 0}
    opt = nr.ClippedGPUCB(X, KERNEL, **options)
    opt.tell(ids, y)
    opt.predict()
    return opt


def ridge_mean(opt, sums, ids, lam):
    """The mean of all points from sums of rewards of some arms, the textbook way."""
    X, (arms, counts) = opt.domain.points, np.unique(ids, return_counts=True)
    K = KERNEL(X[arms], X[arms])
    solved = np.linalg.solve(K + lam * np.diag(1.0 / counts), sums / counts)
    return KERNEL(X, X[arms]) @ solved


def test_the_mean_is_ridge_regression_of_clipped_rewards():
    """Two steps from a mean of 0: rewards are clipped about the last mean, by their leverage."""
    opt = told(norm=0.5)
    ids, lams = opt.history.ids, opt.assumed.lams
    estimate = opt.situation().beliefs.estimate
    (scale,) = estimate.scales(opt.assumed, opt.t)
    usual = min(lams, key=lambda lam: abs(math.log(lam * 0.5**2 / scale**2 / 5.0)))
    arms, X = np.unique(ids), opt.domain.points
    K, cross = KERNEL(X[ids], X[ids]), KERNEL(X[arms], X[ids])
    inside = np.einsum("ij,ji->i", cross, np.linalg.solve(K + usual * np.eye(len(ids)), cross.T))
    deviations = np.sqrt((1.0 - inside) / usual) / scale
    sample = clipped.Sample.of(opt.history.rewards, ids)
    setting = clipped.Setting(scale, NOISE, 2.0, level=5.0, part=0.9)
    mean = np.zeros(len(X))
    for _ in range(2):
        sums = clipped.soft_sums(sample, mean[arms], deviations, setting)
        mean = ridge_mean(opt, sums, ids, lams[0])
    np.testing.assert_allclose(opt.predict()[0], mean, atol=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_a_reward_far_off_counts_as_the_logarithm_of_its_distance(alpha):
    plain = told(alpha)
    arm, mean = plain.history.ids[7], plain.predict()[0]
    moves = [told(alpha, 10.0**power).predict()[0][arm] - mean[arm] for power in (4, 8, 12)]
    assert 0.0 < moves[0] < moves[1] < moves[2] < 10.0
    assert moves[2] - moves[1] == pytest.approx(moves[1] - moves[0], rel=0.2)


def test_the_width_is_that_of_gaussian_noise_and_a_price():
    """β² = λF² + ς²(log det + 2 log 1/δ) and a price, which is what clipping costs."""
    opt = told()
    estimate, model = opt.situation().beliefs.estimate, opt.situation().beliefs.model
    squares, lams = estimate.squared_widths, np.array(opt.assumed.lams)
    (scale, *_) = estimate.scales(opt.assumed, opt.t)
    assert scale == clipped.usual_scale(NOISE, 2.0, 1) == pytest.approx(NOISE)
    X, ids = opt.domain.points, opt.history.ids
    K = KERNEL(X[ids], X[ids])
    log_dets = np.array([np.linalg.slogdet(np.eye(len(ids)) + K / lam)[1] for lam in lams])
    np.testing.assert_allclose(model.log_dets(), log_dets, rtol=1e-6)
    gaussian = lams * NORM**2 + scale**2 * (log_dets + 2.0 * math.log(1.0 / opt.delta))
    best = np.argmin(squares / lams)
    assert gaussian[best] < squares[best] < 6.0 * gaussian[best]


def test_a_function_that_may_vary_by_more_than_the_noise_has_two_scales():
    few, many = told(), told(norm=50.0)
    assert len(few.situation().beliefs.estimate.scales(few.assumed, 60)) == 2
    small = told(norm=0.5)
    assert len(small.situation().beliefs.estimate.scales(small.assumed, 60)) == 1
    first, second = many.situation().beliefs.estimate.scales(many.assumed, 60)
    assert second == pytest.approx(math.hypot(first, 25.0))
