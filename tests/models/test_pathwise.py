"""Drawn functions have the posterior's law, at points told and untold."""

import numpy as np
import pytest

import noregret as nr
from noregret.models.features import FourierFeatures, MercerFeatures, NystromFeatures
from noregret.models.fourier import QuadratureFeatures, quadrature_for
from noregret.models.pathwise import Paths, joint_values
from noregret.models.sparse import SparseGP

DRAWS = 4000


def posterior_of(kernel, X, y, lam):
    """The exact posterior of one reward a point."""
    model = SparseGP(kernel, (lam,), X[:0], 1.0)
    model.rebuild(X, np.ones(len(X), dtype=int), y, np.arange(len(X)))
    return model.posterior()


def exact(kernel, X, told, y, lam):
    """Mean and covariance at points, the textbook way."""
    cross = kernel(X, told)
    gain = np.linalg.solve(kernel(told, told) + lam * np.eye(len(told)), cross.T).T
    return gain @ y, kernel(X, X) - gain @ cross.T


def problem(dimension, t, seed=0):
    """Told points, half of them in a corner, with rewards; and points to look at."""
    rng = np.random.default_rng(seed)
    told = rng.uniform(size=(t, dimension))
    told[t // 2 :] *= 0.3
    y = np.sin(4 * told.sum(axis=1)) + 0.1 * rng.standard_normal(t)
    return told, y, np.concatenate([told[:3], told[-3:], rng.uniform(size=(6, dimension))])


def quadrature(kernel, dimension):
    corners = np.array([[0.0] * dimension, [1.0] * dimension])
    return QuadratureFeatures(quadrature_for(kernel, corners, None, 1e-6), dimension, 1e-6)


EXACT_FEATURES = {
    "mercer": lambda kernel: MercerFeatures(kernel, nr.Box([(0, 1)] * 2)),
    "qff": lambda kernel: quadrature(kernel, 2),
    "nystrom": lambda kernel: NystromFeatures(kernel, nr.Box([(0, 1)] * 2).grid(15).points),
}


@pytest.mark.parametrize("name", EXACT_FEATURES)
def test_features_without_error_give_the_posteriors_mean_and_covariance(name):
    kernel, lam = nr.RBF(0.4, variance=1.5), 0.05
    told, y, X = problem(2, 30)
    paths = Paths(
        posterior_of(kernel, told, y, lam),
        EXACT_FEATURES[name](kernel),
        DRAWS,
        np.random.default_rng(1),
    )
    mean, covariance = exact(kernel, X, told, y, lam)
    values = paths.values(X)
    deviations = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose((values.mean(axis=1) - mean) / deviations, 0.0, atol=0.07)
    correlations = np.cov(values) / np.outer(deviations, deviations)
    expected = covariance / np.outer(deviations, deviations)
    np.testing.assert_allclose(correlations, expected, atol=0.1)


@pytest.mark.parametrize("t", [20, 400])
@pytest.mark.parametrize("dimension", [1, 3, 6])
def test_random_features_keep_mean_and_deviation_however_much_is_told(dimension, t):
    """Features alone would starve: with more rewards than features no variance is left."""
    kernel, lam = nr.Matern(0.3 * np.sqrt(dimension)), 0.01
    told, y, X = problem(dimension, t)
    rng = np.random.default_rng(1)
    features = FourierFeatures(kernel, dimension, rng)
    values = Paths(posterior_of(kernel, told, y, lam), features, DRAWS, rng).values(X)
    mean, covariance = exact(kernel, X, told, y, lam)
    deviations = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose((values.mean(axis=1) - mean) / deviations, 0.0, atol=0.08)
    ratio = values.std(axis=1) / deviations
    np.testing.assert_allclose(ratio[:6], 1.0, atol=0.08)  # told
    np.testing.assert_allclose(ratio[6:], 1.0, atol=0.35)  # as far as 500 frequencies tell


def test_what_few_landmarks_leave_out_is_known():
    """Variance drawn and variance missing make up the posterior's, at every point."""
    kernel, lam = nr.Matern(0.2), 0.05
    told, y, X = problem(2, 25)
    posterior = posterior_of(kernel, told, y, lam)
    landmarks = np.random.default_rng(2).uniform(size=(30, 2))
    paths = Paths(posterior, NystromFeatures(kernel, landmarks), DRAWS, np.random.default_rng(1))
    _, leverage = posterior.evaluate(X)
    missing = paths.missing(X)
    assert missing[6:].max() > 0.1
    np.testing.assert_allclose(missing[:6], 0.0, atol=1e-9)  # nothing at inducing points
    total = paths.values(X).var(axis=1) + missing
    np.testing.assert_allclose(total, lam * leverage, rtol=0.15)


def test_joint_values_have_the_posteriors_covariance():
    kernel, lam = nr.Matern(0.4), 0.05
    told, y, X = problem(2, 25)
    posterior = posterior_of(kernel, told, y, lam)
    values = joint_values(posterior, X, 40_000, np.random.default_rng(1))
    mean, covariance = exact(kernel, X, told, y, lam)
    np.testing.assert_allclose(values.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(values), covariance, atol=0.02)


def test_equal_points_have_equal_joint_values():
    kernel = nr.RBF(0.4)
    posterior = posterior_of(kernel, np.zeros((1, 2)), np.ones(1), 0.1)
    values = joint_values(posterior, np.full((3, 2), 0.7), 50, np.random.default_rng(0))
    np.testing.assert_allclose(values, values[:1].repeat(3, axis=0), atol=1e-5)


def test_before_anything_is_told_functions_are_the_priors():
    kernel = nr.RBF(0.5, variance=2.0)
    X = np.linspace(0, 1, 5)[:, None]
    posterior = SparseGP(kernel, (0.1,), X[:0], 2.0).posterior()
    features = MercerFeatures(kernel, nr.Box([(0, 1)]))
    paths = Paths(posterior, features, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(paths.values(X)), kernel(X, X), atol=0.1)
    assert paths.evaluate(X, np.arange(5))[1].shape == (5, 1)


def test_gradients_against_finite_differences():
    kernel = nr.Matern([0.4, 0.9])
    told, y, _ = problem(2, 15)
    rng = np.random.default_rng(3)
    paths = Paths(posterior_of(kernel, told, y, 0.05), FourierFeatures(kernel, 2, rng), 3, rng)
    X = rng.uniform(size=(4, 2))
    which = np.array([1, 0, 2, 1])
    values, gradients = paths.evaluate(X, which)
    np.testing.assert_allclose(values, paths.values(X)[np.arange(4), which])
    for i, step in enumerate(1e-6 * np.eye(2)):
        later, earlier = paths.evaluate(X + step, which)[0], paths.evaluate(X - step, which)[0]
        numerical = (later - earlier) / 2e-6
        np.testing.assert_allclose(gradients[:, i], numerical, rtol=1e-4, atol=1e-5)
