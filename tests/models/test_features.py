"""Features of kernels, against the kernels themselves."""

from itertools import pairwise

import numpy as np
import pytest

import noregret as nr
from noregret.kernels import WithLogs
from noregret.models.features import FourierFeatures, MercerFeatures, NystromFeatures


@pytest.mark.parametrize(
    ("kernel", "bounds"),
    [
        (nr.RBF(0.3, variance=2.5), [(0, 1)]),
        (nr.RBF(2.0), [(-3, 7)]),
        (nr.RBF([0.5, 3.0]), [(0, 1), (-5, 5)]),
    ],
)
def test_mercer_features_reproduce_the_kernel(kernel, bounds):
    """The error falls with the count, to next to nothing."""
    box = nr.Box(bounds)
    X = box.sample(40, np.random.default_rng(0))[1]
    errors = []
    for most in (3, 6, 12, 1000):
        features = MercerFeatures(kernel, box, most=most)
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


def test_mercer_features_know_what_they_leave_out():
    box, kernel = nr.Box([(0, 1)] * 2), nr.RBF(0.1, variance=2.0)
    assert MercerFeatures(kernel, box).missing < 1e-6
    few = MercerFeatures(kernel, box, most=20)
    assert few.missing == pytest.approx(1.0 - few.eigenvalues.sum() / 2.0, abs=0.05)


def test_a_rough_kernel_in_one_dimension():
    box = nr.Box([(0, 1)])
    X = box.sample(30, np.random.default_rng(1))[1]
    kernel = nr.Matern(0.5, nu=2.5)
    phi = MercerFeatures(kernel, box)(X)
    assert np.abs(phi @ phi.T - kernel(X, X)).max() < 1e-4


@pytest.mark.parametrize(
    "kernel",
    [
        nr.RBF([0.5, 1.0, 0.7]),
        nr.Matern(0.8, nu=1.5, variance=2.0),
        WithLogs(nr.RBF([0.5, 1.0, 0.7, 2.0]), [1], [0.01]),
    ],
)
def test_fourier_features_are_right_on_average(kernel):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(10, 3))
    phi = FourierFeatures(kernel, 3, rng, frequencies=20_000)(X)
    np.testing.assert_allclose(np.square(phi).sum(axis=1), kernel.diag(X))
    assert np.abs(phi @ phi.T - kernel(X, X)).max() < 0.05


def test_gradients_of_sampled_functions():
    rng = np.random.default_rng(2)
    box = nr.Box([(0, 1), (0, 2)])
    kernel = nr.RBF([0.4, 0.9], variance=1.7)
    X = box.sample(4, rng)[1]
    for features in (
        MercerFeatures(kernel, box),
        FourierFeatures(kernel, 2, rng),
        FourierFeatures(WithLogs(nr.RBF([0.4, 0.9, 1.0]), [1], [0.01]), 2, rng),
        NystromFeatures(kernel, box.sample(20, rng)[1]),
    ):
        theta = rng.normal(size=(4, features.size))  # each point has a function of its own
        values, gradients = features.evaluate(X, theta)
        np.testing.assert_allclose(values, np.sum(features(X) * theta, axis=1))
        for i, e in enumerate(1e-6 * np.eye(2)):
            numerical = np.sum((features(X + e) - features(X - e)) * theta, axis=1) / 2e-6
            np.testing.assert_allclose(gradients[:, i], numerical, rtol=1e-4, atol=1e-5)


def test_kernels_without_such_features_are_refused():
    with pytest.raises(ValueError, match="mercer"):
        MercerFeatures(nr.Matern(), nr.Box([(0, 1)] * 2))
    with pytest.raises(ValueError, match="rff"):
        FourierFeatures(nr.Linear(), 2, np.random.default_rng(0))
