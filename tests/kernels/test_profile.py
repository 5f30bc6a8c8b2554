"""How fast features change with distance: by the kernel matrix itself, and for functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.kernels.profile import profile_of

KERNELS = [
    nr.RBF(0.4),
    nr.RBF([0.3, 0.9], variance=2.0),
    nr.Matern(0.5, nu=2.5),
    nr.Matern([0.5, 0.2], nu=1.5),
    nr.Matern(0.5, nu=3.2, variance=0.5),
    3.0 * nr.Matern(0.5, nu=2.5),
]


def square(profile, h):
    return np.array([np.square(np.asarray(h) / profile.lengthscale).sum()])


@pytest.mark.parametrize("kernel", [*KERNELS, nr.Matern(0.5, nu=0.5)], ids=repr)
@given(h=st.tuples(st.floats(-2, 2), st.floats(-2, 2)))
def test_distances_of_features(kernel, h):
    profile, x = profile_of(kernel), np.zeros((1, 2))
    y = x + h
    expected = np.sqrt(max(kernel.diag(x)[0] + kernel.diag(y)[0] - 2.0 * kernel(x, y)[0, 0], 0.0))
    assert profile.moved(square(profile, h))[0] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(h=st.tuples(st.floats(-2, 2), st.floats(-2, 2)), seed=st.integers(0, 1000))
def test_functions_leave_their_tangents_by_no_more(kernel, h, seed):
    rng, profile = np.random.default_rng(seed), profile_of(kernel)
    centres, x, h = rng.uniform(-1, 1, (6, 2)), rng.uniform(-1, 1, (1, 2)), np.array(h)
    weights = rng.standard_normal(6)
    norm = np.sqrt(weights @ kernel(centres, centres) @ weights)
    value, slope = kernel(x, centres) @ weights, weights @ kernel.gradient(x, centres)[0]
    off = (kernel(x + h, centres) @ weights - value)[0] - slope @ h
    assert abs(off) <= norm * profile.bent(square(profile, h))[0] * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_tangent_bound_is_reached_by_some_function(kernel):
    """The difference itself, as a function: its inner product with itself by kernel values."""
    profile, h, step = profile_of(kernel), np.array([0.17, -0.08]), 1e-5
    # φ(h) − φ(0) − Dφ(0)h, with the derivative by differences.
    points = np.array([h, np.zeros(2), step * h, -step * h])
    weights = np.array([1.0, -1.0, -0.5 / step, 0.5 / step])
    expected = np.sqrt(weights @ kernel(points, points) @ weights)
    assert profile.bent(square(profile, h))[0] == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("kernel", [*KERNELS, nr.Matern(0.5, nu=0.5)], ids=repr)
def test_both_grow_with_the_distance(kernel):
    profile, squares = profile_of(kernel), np.linspace(0.0, 9.0, 400)
    assert (np.diff(profile.moved(squares)) >= -1e-12).all()
    if profile.smooth:
        assert (np.diff(profile.bent(squares)) >= -1e-12).all()


def test_only_kernels_of_the_distance_have_one():
    assert profile_of(nr.Linear()) is None
    assert profile_of(2.0 * nr.Linear()) is None
    assert profile_of(nr.RBF(1.0) + nr.RBF(2.0)) is None
    assert not profile_of(nr.Matern(0.3, nu=1.0)).smooth
