"""Bounds of points for several λ, against posteriors from repeated rows."""

import numpy as np
import pytest
from reference import exact_posterior, problem

import noregret as nr

KERNEL = nr.Matern(0.3, nu=2.5)
WAITING = np.array([3, 3, 17])


@pytest.fixture
def played():
    """An optimiser with five λ, some evaluations pending, and its candidates."""
    X, f, rng = problem(1, arms=40)
    opt = nr.GPBUCB(X, KERNEL, noise=0.1, norm=3.0, ratio=4.0, seed=0)
    ids = rng.integers(40, size=25)
    opt.tell(ids, f[ids] + 0.1 * rng.standard_normal(25))
    opt.expect(WAITING)
    return opt, X


def posteriors(opt, X):
    """Mean and leverage of all candidates for each λ, without what is pending."""
    seen = opt.history
    return [exact_posterior(KERNEL, X, seen.ids, seen.rewards, lam) for lam in opt.assumed.lams]


def test_of_all_lambdas_the_tightest_bound_counts(played):
    opt, X = played
    bounds = opt.situation().bounds
    assert len(bounds.widths) == len(opt.assumed.lams) == 5
    pairs = zip(bounds.widths, posteriors(opt, X), strict=True)
    ends = [(mean - w * np.sqrt(lev), mean + w * np.sqrt(lev)) for w, (mean, lev) in pairs]
    lower, upper = np.max([low for low, _ in ends], axis=0), np.min([up for _, up in ends], axis=0)
    assert np.any(upper < ends[0][1] - 1e-3)  # the first λ alone would be wider
    block = bounds.fantasy.block(X)
    np.testing.assert_allclose(bounds.upper(X), upper, atol=1e-6)
    np.testing.assert_allclose(bounds.at_start(block), upper, atol=1e-6)
    np.testing.assert_allclose(bounds.lower(block.Z, block.residual), lower, atol=1e-6)
    model = opt.beliefs.model
    own = bounds.lower_of(model, np.arange(len(model.counts)))
    ids = opt.situation().observations.ids[: len(own)]
    np.testing.assert_allclose(own, lower[ids], atol=1e-6)


def test_inside_a_batch_pending_evaluations_count_and_deviations_are_inflated(played):
    opt, X = played
    bounds, seen = opt.situation().bounds, opt.history
    ids = np.concatenate([seen.ids, WAITING])
    _, leverage = exact_posterior(KERNEL, X, ids, np.zeros(len(ids)), opt.assumed.lam)
    mean = posteriors(opt, X)[0][0]
    expected = mean + 2.0 * bounds.width * np.sqrt(leverage)  # √C = 2
    np.testing.assert_allclose(bounds.inside(bounds.fantasy.block(X)), expected, atol=1e-6)
    assert bounds.inside_one(mean[5], leverage[5]) == pytest.approx(expected[5])
    np.testing.assert_allclose(bounds.evaluate(X), (mean, leverage), atol=1e-6)
    told = opt.situation(pending=False).bounds.evaluate(X)
    np.testing.assert_allclose(told, posteriors(opt, X)[0], atol=1e-6)


def test_differences_are_those_of_joint_posteriors(played):
    opt, X = played
    bounds, seen, some = opt.situation().bounds, opt.history, [2, 30]
    assert bounds.joint
    told, naive = X[seen.ids], []
    for lam, width in zip(opt.assumed.lams, bounds.widths, strict=True):
        cross = KERNEL(X, told) @ np.linalg.inv(KERNEL(told, told) + lam * np.eye(len(told)))
        mean, covariance = cross @ seen.rewards, KERNEL(X, X) - cross @ KERNEL(told, X)
        variance = covariance.diagonal()
        apart = variance[:, None] + variance[some] - 2 * covariance[:, some]
        radius = width * np.sqrt(np.maximum(apart, 0.0) / lam)
        naive.append(mean[:, None] - mean[some] + radius)
    block = bounds.fantasy.block
    found = bounds.differences(block(X), block(X[some]))
    np.testing.assert_allclose(found, np.min(naive, axis=0), atol=1e-5)
    assert np.all(found[some, [0, 1]] >= 0.0)


def test_a_width_that_is_a_number_has_one_lambda_and_no_joint_bounds():
    X, f, _ = problem(1, arms=10)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, width=2.0, seed=0)
    opt.tell([1, 4], f[[1, 4]])
    bounds = opt.situation().bounds
    mean, std = opt.predict()
    np.testing.assert_allclose(bounds.upper(X), mean + 2.0 * std)
    assert not bounds.joint
