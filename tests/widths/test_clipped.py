"""The parts of Theorem 8, each against its definition."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from noregret.widths import clipped

ORDERS = st.sampled_from([1.1, 1.4, 1.9, 2.0])


@given(ORDERS, st.floats(0.01, 6.0))
def test_the_moment_factor_bounds_the_exponential(order, u):
    w = np.concatenate([np.linspace(-u, u, 2001), -u * np.geomspace(1, 1e4, 500)])
    w = np.concatenate([w, -w])
    kappa = clipped.moment_factor(np.array([u]), order)[0]
    bound = 1.0 + w + kappa * np.abs(w) ** order
    assert np.all(np.exp(np.clip(w, -u, u)) <= bound * (1 + 1e-12) + 1e-12)


@given(ORDERS, st.floats(0.01, 3.0), st.floats(0.05, 30.0), st.floats(0.1, 5.0))
def test_prices_are_upper_bounds(order, q, c, v):
    h = np.linspace(1e-6, q, 5000)
    scale = 1.3
    loss = clipped.moment_factor(h * c, order) * h**order * v - 0.5 * scale**2 * h**2
    found = clipped.prices(*np.array([[q], [c], [v]]), scale, order)[0]
    assert max(loss.max(), 0.0) <= found * (1 + 1e-12)
    assert found <= max(loss.max(), 0.0) * 1.2 + 0.05 * scale**2 * q**2


@pytest.mark.parametrize("order", [1.4, 2.0])
def test_the_moment_generating_function_of_clipped_rewards(order):
    """E exp(h(ỹ − f)) ≤ exp ℓ(h) for two-point rewards, the worst of their moment."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        p, low, high = rng.uniform(0.001, 0.999), -rng.exponential(), rng.exponential() * 20
        values, chances = np.array([low, high]), np.array([1 - p, p])
        f, centre = chances @ values, rng.normal()
        v = chances @ np.abs(values - centre) ** order
        cut, h = rng.exponential() * 3 + 0.01, rng.normal()
        kept = centre + np.clip(values - centre, -cut, cut)
        log_mean = np.log(chances @ np.exp(h * (kept - f)))
        factor = clipped.moment_factor(np.array([abs(h) * cut]), order)[0]
        assert log_mean <= factor * abs(h) ** order * v * (1 + 1e-9)


def test_so_many_gaussians_stay_inside():
    rng = np.random.default_rng(1)
    for n in (1, 30):
        shared = rng.standard_normal((20_000, 1))
        g = np.sqrt(0.5) * (shared + rng.standard_normal((20_000, n)))
        inside = np.all(np.abs(g) <= clipped.deviations(n), axis=1)
        assert inside.mean() >= 0.79


def test_without_prices_it_is_the_width_of_gaussian_noise():
    assert clipped.squared(2.0, 3.0, 0.5, 0.1 / 0.8, 7.0, 0.0) == pytest.approx(
        0.5 * 9 + 4 * (7 + 2 * np.log(10))
    )
