"""Features of kernels, and draws from the posterior on them."""

from itertools import pairwise

import numpy as np
import pytest
from reference import exact_posterior

import noregret as nr
from noregret.models.features import FourierFeatures, MercerFeatures, NystromFeatures
from noregret.models.linear import LinearPosterior


@pytest.mark.parametrize(
    ("kernel", "bounds"),
    [
        (nr.RBF(0.3, variance=2.5), [(0, 1)]),
        (nr.RBF(2.0), [(-3, 7)]),
        (nr.RBF([0.5, 3.0]), [(0, 1), (-5, 5)]),
    ],
)
def test_mercer_features_reproduce_the_kernel(kernel, bounds):
    """The error falls with the count, and below 1e-10 when asked."""
    box = nr.Box(bounds)
    X = box.sample(40, np.random.default_rng(0))
    errors = []
    for most in (3, 6, 12, 1000):
        features = MercerFeatures(kernel, box, tol=1e-14, most=most)
        phi = features(X)
        assert phi.shape == (40, features.size)
        errors.append(np.abs(phi @ phi.T - kernel(X, X)).max())
    assert all(a > b for a, b in pairwise(errors))
    assert errors[-1] < 1e-10


def test_mercer_features_are_orthogonal_with_the_eigenvalues_as_norms():
    box = nr.Box([(0, 2), (1, 3)])
    features = MercerFeatures(nr.RBF([0.7, 1.0], variance=3.0), box, most=8)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    grid = np.array([[x + 1, y + 2] for x in nodes for y in nodes])
    measure = np.outer(weights, weights).ravel() / 4
    phi = features(grid)
    gram = phi.T @ (phi * measure[:, None])
    np.testing.assert_allclose(gram, np.diag(features.eigenvalues), atol=1e-10)
    assert np.all(np.diff(features.eigenvalues) <= 1e-15)


def test_a_rough_kernel_in_one_dimension():
    box = nr.Box([(0, 1)])
    X = box.sample(30, np.random.default_rng(1))
    kernel = nr.Matern(0.5, nu=2.5)
    phi = MercerFeatures(kernel, box)(X)
    assert np.abs(phi @ phi.T - kernel(X, X)).max() < 1e-4


@pytest.mark.parametrize("kernel", [nr.RBF([0.5, 1.0, 0.7]), nr.Matern(0.8, nu=1.5, variance=2.0)])
def test_fourier_features_are_right_on_average(kernel):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(10, 3))
    phi = FourierFeatures(kernel, 3, rng, size=40_000)(X)
    assert np.abs(phi @ phi.T - kernel(X, X)).max() < 0.05


def test_gradients_of_sampled_functions():
    rng = np.random.default_rng(2)
    box = nr.Box([(0, 1), (0, 2)])
    kernel = nr.RBF([0.4, 0.9], variance=1.7)
    X = box.sample(4, rng)
    for features in (
        MercerFeatures(kernel, box),
        FourierFeatures(kernel, 2, rng),
        NystromFeatures(kernel, box.sample(20, rng)),
    ):
        theta = rng.normal(size=features.size)
        numerical = np.column_stack(
            [(features(X + e) @ theta - features(X - e) @ theta) / 2e-6 for e in 1e-6 * np.eye(2)]
        )
        np.testing.assert_allclose(features.gradient(X, theta), numerical, rtol=1e-4, atol=1e-5)


def test_draws_have_the_posteriors_mean_and_covariance():
    rng = np.random.default_rng(3)
    box, kernel, lam = nr.Box([(0, 1)]), nr.RBF(0.3), 0.05
    X = np.concatenate([box.sample(5, rng), box.sample(4, rng)])
    y = rng.normal(size=4)
    features = MercerFeatures(kernel, box)
    posterior = LinearPosterior(features(X[5:]), np.ones(4, dtype=int), y, lam)
    paths = features(X) @ posterior.draw(40_000, rng)
    mean, leverage = exact_posterior(kernel, X, np.arange(5, 9), y, lam)
    np.testing.assert_allclose(features(X) @ posterior.mean, mean, atol=1e-6)
    np.testing.assert_allclose(paths.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(paths.var(axis=1), lam * leverage, atol=0.02)
    K = kernel(X[5:], X[5:]) + lam * np.eye(4)
    cross = kernel(X[:5], X[5:])
    covariance = kernel(X[:5], X[:5]) - cross @ np.linalg.solve(K, cross.T)
    np.testing.assert_allclose(np.cov(paths[:5]), covariance, atol=0.02)


def test_counts_stand_for_repeated_rows():
    rng = np.random.default_rng(4)
    phi, counts, y = rng.normal(size=(3, 2)), np.array([1, 3, 2]), rng.normal(size=6)
    rows = np.repeat(np.arange(3), counts)
    sums = np.bincount(rows, weights=y)
    one = LinearPosterior(phi, counts, sums, 0.3)
    two = LinearPosterior(phi[rows], np.ones(6, dtype=int), y, 0.3)
    np.testing.assert_allclose(one.mean, two.mean)


def test_kernels_without_such_features_are_refused():
    with pytest.raises(ValueError, match="mercer"):
        MercerFeatures(nr.Matern(), nr.Box([(0, 1)] * 2))
    with pytest.raises(ValueError, match="rff"):
        FourierFeatures(nr.Linear(), 2, np.random.default_rng(0))
