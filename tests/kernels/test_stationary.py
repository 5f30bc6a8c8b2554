"""Stationary kernels: closed forms, and where formulas are hard to compute."""

import numpy as np
import pytest
from scipy.special import gamma, kv

import noregret as nr
from noregret.kernels.stationary import squared_distances


def test_closed_forms():
    x, y = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    r = 5.0 / 2.0
    assert nr.RBF(2.0)(x, y).item() == pytest.approx(np.exp(-(r**2) / 2))
    assert nr.Matern(2.0, nu=0.5)(x, y).item() == pytest.approx(np.exp(-r))
    s = np.sqrt(3) * r
    assert nr.Matern(2.0, nu=1.5)(x, y).item() == pytest.approx((1 + s) * np.exp(-s))
    s = np.sqrt(5) * r
    assert nr.Matern(2.0, nu=2.5)(x, y).item() == pytest.approx((1 + s + s**2 / 3) * np.exp(-s))
    assert nr.RBF([3.0, 4.0])(x, y).item() == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_general_matern_meets_the_closed_forms(nu):
    r = np.linspace(0.01, 5, 50)[:, None]
    zero = np.zeros((1, 1))
    s = np.sqrt(2 * nu) * r
    bessel = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    np.testing.assert_allclose(nr.Matern(1.0, nu=nu)(r, zero), bessel, rtol=1e-10)
    close = nr.Matern(1.0, nu=nu + 1e-9)(r, zero)
    np.testing.assert_allclose(close, bessel, rtol=1e-6)


def test_general_matern_far_away_and_close_by():
    x = np.array([[0.0], [1e-14], [1e-6], [1e6]])
    for nu in (0.3, 3.7, 30.0):
        values = nr.Matern(1.0, nu=nu)(x, x[:1])[:, 0]
        assert np.all(np.isfinite(values))
        assert values[0] == values[1] == 1.0
        assert values[3] == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize("dimension", [1, 3, 17, 200])
def test_squared_distances_are_exact_for_equal_rows_in_any_dimension(dimension):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, dimension)) + 1e3
    Y = np.vstack([X[:4], X[:4] + 1e-5])
    expected = ((X[:, None] - Y[None]) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distances(X, Y), expected, rtol=1e-6, atol=1e-12)
    assert np.all(squared_distances(X, Y)[range(4), range(4)] == 0)


@pytest.mark.parametrize("nu", [50.0, 120.0, 200.0, 500.0, 1e4])
def test_a_smooth_matern_is_close_to_rbf(nu):
    """The gamma function overflows from ν = 170 on, and Bessel functions long before."""
    r = np.linspace(0.0, 4.0, 60)[:, None]
    values = nr.Matern(1.0, nu=nu)(r, r[:1])[:, 0]
    np.testing.assert_allclose(values, nr.RBF(1.0)(r, r[:1])[:, 0], atol=1.0 / nu)
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize(
    "kernel", [nr.RBF(0.4, 2.0), *(nr.Matern(0.4, nu) for nu in (0.5, 1.5, 2.5))]
)
def test_a_long_matrix_is_that_of_its_rows(kernel):
    """Long matrices are computed in strips, whichever side is the longer one."""
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(130, 3)), rng.uniform(size=(90, 3))
    for left, right in ((X, Y), (Y, X)):
        rows = np.concatenate([kernel(one[None], right) for one in left])
        np.testing.assert_allclose(kernel(left, right), rows, rtol=1e-14)
    squared = rng.uniform(size=(200, 200))
    every_second = squared[:, ::2].copy()
    np.testing.assert_array_equal(
        kernel.of_squared(squared[:, ::2]), kernel.of_squared(every_second)
    )
