"""Climbs of many functions, side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from noregret.picking.boxes.climbs import climb_side_by_side


def bowls(centres, widths):
    """Concave functions with their maxima at ``centres`` (n × d)."""

    def objectives(X, which):
        away = X - centres[which]
        return -np.sum(widths * away**2, axis=1), -2.0 * widths * away

    return objectives


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    d=st.integers(1, 8),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_bowls_are_climbed_to_the_top_or_to_the_edge(seed, n, d, scale):
    rng = np.random.default_rng(seed)
    centres, widths = rng.uniform(-0.3, 1.3, (n, d)), scale * rng.uniform(0.1, 10.0, d)
    found, levels = climb_side_by_side(bowls(centres, widths), rng.uniform(size=(n, d)))
    np.testing.assert_allclose(found, np.clip(centres, 0.0, 1.0), atol=1e-4)
    np.testing.assert_array_equal(levels, bowls(centres, widths)(found, np.arange(n))[0])


def test_waves_are_climbed_as_far_as_by_scipy():
    """A sum of cosines has many hills: the end is a stationary point, and no start is lost."""
    rng = np.random.default_rng(0)
    frequencies, phases = 4.0 * rng.standard_normal((20, 3)), rng.uniform(0.0, 6.0, (20, 6))

    def objectives(X, which):
        angles = X @ frequencies.T + phases.T[which]
        return np.cos(angles).sum(axis=1), -np.sin(angles) @ frequencies

    starts = rng.uniform(size=(6, 3))
    first = objectives(starts, np.arange(6))[0]
    found, levels = climb_side_by_side(objectives, starts)
    assert np.all((found >= 0.0) & (found <= 1.0))
    assert np.all(levels > first)
    for i in range(6):
        again = minimize(
            lambda x, i=i: -objectives(x[None], np.array([i]))[0][0],
            found[i],
            bounds=[(0.0, 1.0)] * 3,
        )
        assert -again.fun == pytest.approx(levels[i], abs=1e-6)


def test_flat_functions_stay_where_they_are():
    starts = np.array([[0.2, 0.9], [0.0, 1.0]])
    found, levels = climb_side_by_side(lambda X, which: (np.ones(len(X)), 0.0 * X), starts)
    np.testing.assert_array_equal(found, starts)
    np.testing.assert_array_equal(levels, 1.0)


@pytest.mark.parametrize("size", [1e-160, 1e-170, 1e-300])
def test_tiny_slopes_do_not_divide_by_zero(size):
    """Their squares underflow: the climb goes on without them."""
    starts = np.array([[0.1, 0.9], [0.7, 0.2]])
    ends, levels = climb_side_by_side(bowls(np.full((2, 2), 0.4), size), starts)
    assert np.isfinite(ends).all()
    assert np.isfinite(levels).all()
