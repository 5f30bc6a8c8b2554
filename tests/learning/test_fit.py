"""Fitting kernels: gradients, known parameters, bad input."""

import numpy as np
import pytest
from kernel_list import FITTED

import noregret as nr
from noregret.learning.fit import NOISY_PRIORS, _Problem
from noregret.problems.peaks import bimodal


def draw(kernel, n, noise, seed, dimension=2):
    """Points of the unit cube and noisy values of a path of the GP."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, dimension))
    K = kernel(X, X) + 1e-10 * np.eye(n)
    return X, np.linalg.cholesky(K) @ rng.normal(size=n) + noise * rng.normal(size=n)


@pytest.mark.parametrize("kernel", FITTED, ids=repr)
@pytest.mark.parametrize("noise", [None, 0.3])
@pytest.mark.parametrize("fit_mean", [False, True])
def test_gradient_of_the_posterior(kernel, noise, fit_mean):
    X, y = draw(nr.RBF(0.5), 12, 0.2, 0)
    problem = _Problem(kernel, X, y + 1.0, noise, nr.Priors(), False, fit_mean)
    u = np.random.default_rng(1).normal(scale=0.3, size=len(problem.bounds))
    value, gradient = problem.negative(u)
    numerical = [
        (problem.negative(u + e)[0] - problem.negative(u - e)[0]) / 2e-5
        for e in 1e-5 * np.eye(len(u))
    ]
    np.testing.assert_allclose(gradient, numerical, rtol=1e-4, atol=1e-5)
    assert problem.values(u)[1] == pytest.approx(-value)


def test_likelihood_is_that_of_the_gaussian():
    from scipy.stats import multivariate_normal

    X, y = draw(nr.RBF(0.5), 15, 0.2, 3)
    fit = nr.fit_kernel(nr.RBF(), X, y, priors=None)
    covariance = fit.kernel(X, X) + fit.noise**2 * np.eye(15)
    expected = multivariate_normal(np.zeros(15), covariance).logpdf(y)
    assert fit.log_likelihood == pytest.approx(expected)
    assert fit.log_posterior == fit.log_likelihood
    alpha = np.linalg.solve(covariance, y)
    assert fit.norm == pytest.approx(np.sqrt(alpha @ fit.kernel(X, X) @ alpha))


def test_known_lengthscales_are_recovered_within_their_uncertainty():
    """Of 10 draws of the GP with 3 parameters each, nearly all lie within 2.5 deviations."""
    truth = np.log([0.15, 0.6, 0.2])
    misses = 0
    for seed in range(10):
        X, y = draw(nr.Matern(np.exp(truth[:2]).tolist()), 80, 0.2, seed)
        fit = nr.fit_kernel(nr.Matern([1.0, 1.0]), X, y, deviations=True)
        found = np.log([*fit.kernel.lengthscale, fit.noise])
        spread = fit.deviations[[0, 1, 3]]
        assert np.all((spread > 0) & (spread < 1.0))
        misses += int((np.abs(found - truth) > 2.5 * spread).sum())
    assert misses <= 3


def test_a_known_noise_or_kernel_stays():
    X, y = draw(nr.RBF(0.3), 40, 0.5, 1)
    assert nr.fit_kernel(nr.RBF(), X, y, noise=0.5).noise == 0.5
    kernel = nr.RBF(0.3)
    fit = nr.fit_kernel(kernel, X, y, only_noise=True)
    assert fit.kernel is kernel
    assert fit.noise == pytest.approx(0.5, rel=0.4)


def test_units_do_not_matter():
    X, y = draw(nr.RBF(0.3), 30, 0.2, 5)
    one = nr.fit_kernel(nr.Matern([1.0, 1.0]), X, y)
    two = nr.fit_kernel(nr.Matern([1000.0, 1e-3]), X * [1000.0, 1e-3], 50.0 * y)
    scales = np.array(two.kernel.lengthscale) / [1000.0, 1e-3]
    np.testing.assert_allclose(scales, one.kernel.lengthscale, rtol=1e-2)
    assert two.noise == pytest.approx(50.0 * one.noise, rel=1e-2)


def test_many_points_are_thinned_and_said_so():
    X, y = draw(nr.RBF(0.3), 60, 0.2, 2)
    fit = nr.fit_kernel(nr.RBF(), X, y, max_points=25)
    assert len(fit.rows) == 25
    assert len(np.unique(fit.rows)) == 25
    again = nr.fit_kernel(nr.RBF(), X[fit.rows], y[fit.rows])
    assert again.noise == pytest.approx(fit.noise)


@pytest.mark.parametrize("level", [0.0, 3.0])
def test_constant_rewards_are_fitted_without_complaint(level):
    X = np.random.default_rng(0).uniform(size=(12, 2))
    fit = nr.fit_kernel(nr.Matern([1.0, 1.0]), X, np.full(12, level))
    assert 0 < fit.noise < 1
    assert np.all(np.isfinite(fit.kernel(X, X)))


def test_bad_input_is_named():
    X, y = np.zeros((1, 2)), np.zeros(1)
    with pytest.raises(ValueError, match="X must be at least 2 rows"):
        nr.fit_kernel(nr.RBF(), X, y)
    with pytest.raises(ValueError, match="rewards"):
        nr.fit_kernel(nr.RBF(), np.zeros((3, 2)), [1.0, np.nan, 2.0])
    with pytest.raises(TypeError, match="kernel"):
        nr.fit_kernel(lambda a, b: a @ b.T, np.eye(3), np.zeros(3))
    with pytest.raises(ValueError, match="noise"):
        nr.fit_kernel(nr.RBF(), np.eye(3), np.zeros(3), noise=-1.0)
    with pytest.raises(TypeError, match=r"a kernel to start from, such as .*, got 'auto'"):
        nr.fit_kernel("auto", np.eye(3), np.zeros(3))
    for scales in ([1.0] * 4, [1.0] * 2):
        with pytest.raises(ValueError, match=r"lengthscale has \d entries but points have 3"):
            nr.fit_kernel(nr.RBF(scales), np.eye(3), np.zeros(3))


def test_a_fitted_mean_is_not_drawn_to_a_crowd_of_points():
    """Ninety points at the top of a hill, ten on the plain around it: the plain is the mean."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(5.0, 0.05, (90, 1)), np.linspace(0, 10, 10)[:, None]])
    y = 3.0 * np.exp(-2.0 * np.square(X[:, 0] - 5.0)) + 0.01 * rng.standard_normal(100)
    fit = nr.fit_kernel(nr.Matern([1.0]), X, y - y.mean(), fit_mean=True)
    assert abs(fit.mean + y.mean()) < 1.0 < y.mean()
    assert nr.fit_kernel(nr.Matern([1.0]), X, y - y.mean()).mean == 0.0


def test_a_function_that_explains_a_hundredth_of_the_variance_keeps_its_lengthscale():
    """The bumps have width 1. The default priors fit lengthscales of 30 here, or of 0.1."""
    problem = bimodal(2, sigma=5.0)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0.0, 8.0, (200, 2))
        y = problem.draw(X, rng)
        fit = nr.fit_kernel(nr.RBF(2.0), X, (y - y.mean()) / y.std(), priors=NOISY_PRIORS)
        assert 0.3 < fit.kernel.lengthscale < 5.0
        assert fit.kernel.variance < 0.2
        assert fit.noise > 0.85
