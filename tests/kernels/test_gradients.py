"""Gradients of kernels, against finite differences."""

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.kernels import FunctionKernel, SklearnKernel, WithLogs

KERNELS = [
    nr.RBF(0.4, variance=2.0),
    nr.RBF([0.3, 0.9, 2.0]),
    nr.Matern(0.5, nu=0.5),
    nr.Matern([0.5, 1.0, 0.2], nu=1.5),
    nr.Matern(0.7, nu=2.5, variance=0.3),
    nr.Matern(0.7, nu=1.2),
    nr.Matern(0.7, nu=0.8),
    nr.Matern(0.7, nu=3.5),
    nr.Linear(variance=2.0, offset=0.5),
    nr.RBF(0.5) + 3.0 * nr.Linear(),
    nr.RBF(0.5) * (nr.Matern(1.0) + nr.Linear(offset=1.0)),
    nr.Hamming([0.3, 0.2, 0.9]),
    nr.Columns(nr.Matern([0.5, 0.8]), [2, 0]) * nr.Columns(nr.Hamming(0.4), [1]),
    WithLogs(nr.Matern([0.5, 1.0, 2.0, 1.0, 0.7]), [2, 0], [0.3, 0.01]),
    WithLogs(nr.RBF(0.8) + nr.Linear(), [1], [0.2]),
]


def differences(function, x, h=1e-6):
    """Central differences of a function of one point."""
    out = []
    for i in range(len(x)):
        e = np.zeros(len(x))
        e[i] = h
        out.append((function(x + e) - function(x - e)) / (2 * h))
    return np.stack(out, axis=-1)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradients_are_those_of_the_kernel(kernel):
    rng = np.random.default_rng(0)
    X, Y, weights = rng.uniform(size=(4, 3)), rng.uniform(size=(5, 3)), rng.normal(size=(4, 5))
    expected = np.stack([differences(lambda x: kernel(x[None], Y)[0], x) for x in X])
    gradient = kernel.gradient(X, Y)
    assert gradient.shape == (4, 5, 3)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    pulled = kernel.pullback(X, Y, weights)
    np.testing.assert_allclose(pulled, np.einsum("ij,ijk->ik", weights, gradient), atol=1e-12)
    diagonal = np.stack([differences(lambda x: kernel.diag(x[None])[0], x) for x in X])
    np.testing.assert_allclose(kernel.diag_gradient(X), diagonal, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS[:8], ids=repr)
def test_at_equal_points_stationary_kernels_are_flat(kernel):
    X = np.array([[0.2, 0.3, 0.4]])
    assert np.array_equal(kernel.gradient(X, X), np.zeros((1, 1, 3)))


def test_slope_is_continuous_at_zero_for_smooth_matern():
    for nu in (1.2, 1.5, 2.5, 3.5):
        kernel = nr.Matern(nu=nu)
        at_zero, nearby = kernel.slope(np.array([[0.0, 1e-16]]))[0]
        assert at_zero == pytest.approx(-nu / (2 * (nu - 1)))
        assert nearby == pytest.approx(at_zero, rel=1e-2)


def test_other_kernels_fall_back_to_differences_with_one_warning():
    rng = np.random.default_rng(1)
    X, Y = rng.uniform(size=(3, 2)), rng.uniform(size=(4, 2))
    own = nr.RBF(0.5)
    for kernel in (FunctionKernel(lambda a, b: own(a, b)), SklearnKernel(sk.RBF(0.5))):
        with pytest.warns(UserWarning, match="no gradient"):
            values = kernel.gradient(X, Y)
        np.testing.assert_allclose(values, own.gradient(X, Y), atol=1e-8)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(kernel.diag_gradient(X), 0.0, atol=1e-8)
