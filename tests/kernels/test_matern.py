"""Matérn kernels: closed forms, and where formulas are hard to compute."""

import numpy as np
import pytest
from scipy.special import gamma, kv

import noregret as nr


def test_closed_forms():
    x, y = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    r = 5.0 / 2.0
    assert nr.Matern(2.0, nu=0.5)(x, y).item() == pytest.approx(np.exp(-r))
    s = np.sqrt(3) * r
    assert nr.Matern(2.0, nu=1.5)(x, y).item() == pytest.approx((1 + s) * np.exp(-s))
    s = np.sqrt(5) * r
    assert nr.Matern(2.0, nu=2.5)(x, y).item() == pytest.approx((1 + s + s**2 / 3) * np.exp(-s))


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


@pytest.mark.parametrize("nu", [50.0, 120.0, 200.0, 500.0, 1e4])
def test_a_smooth_matern_is_close_to_rbf(nu):
    """The gamma function overflows from ν = 170 on, and Bessel functions long before."""
    r = np.linspace(0.0, 4.0, 60)[:, None]
    values = nr.Matern(1.0, nu=nu)(r, r[:1])[:, 0]
    np.testing.assert_allclose(values, nr.RBF(1.0)(r, r[:1])[:, 0], atol=1.0 / nu)
    assert np.all(np.diff(values) < 0)
