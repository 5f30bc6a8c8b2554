"""A monotone change of rewards and its way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.models.assumptions import Assumptions
from noregret.models.warp import IDENTITY, Warp

warps = st.builds(
    Warp,
    centre=st.floats(-1e3, 1e3),
    scale=st.floats(1e-3, 1e3),
    strength=st.sampled_from([0.0, 0.5, 2.0, 8.0]),
)
#: rewards in scales around the centre
places = st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=20)


@given(warps, places)
def test_the_way_back(warp, where):
    rewards = warp.centre + warp.scale * np.array(where)
    found = warp.inverse(warp.apply(rewards))
    np.testing.assert_allclose(found, rewards, rtol=1e-9, atol=1e-9 * warp.scale)


@given(warps, places)
def test_order_stays_and_rewards_above_the_centre_stay(warp, where):
    rewards = warp.centre + warp.scale * np.sort(where)
    warped = warp.apply(rewards)
    assert np.all(np.diff(warped) >= -1e-12 * (1 + abs(warped[1:])))
    above = rewards >= warp.centre
    np.testing.assert_array_equal(warped[above], rewards[above])
    assert np.all(warped >= rewards - 1e-12 * (1 + abs(rewards)))


def test_slopes_are_those_of_differences():
    warp, y, h = Warp(1.0, 2.0, 8.0), np.array([-30.0, -1.0, 0.9, 1.5]), 1e-6
    slopes = (warp.apply(y + h) - warp.apply(y - h)) / (2 * h)
    np.testing.assert_allclose(warp.log_slopes(y), np.log(slopes), atol=1e-7)
    np.testing.assert_array_equal(IDENTITY.log_slopes(y), 0.0)


def test_the_way_back_is_finite_however_far():
    assert np.isfinite(Warp(0.0, 1.0, 8.0).inverse(np.array([-1e9])))[0]


def test_assumptions_map_values_and_deviations():
    warp = Warp(1.0, 2.0, 2.0)
    plain = Assumptions(nr.RBF(1.0), 0.5, 1.0, (0.25,), 1.0, shift=3.0, unit=4.0)
    warped = Assumptions(nr.RBF(1.0), 0.5, 1.0, (0.25,), 1.0, shift=3.0, unit=4.0, warp=warp)
    y = np.array([-20.0, 0.0, 5.0])
    np.testing.assert_allclose(warped.values(y), plain.values(warp.apply(y)))
    np.testing.assert_allclose(warped.reward(warped.values(y)), y, atol=1e-12)
    assert plain.noise_near(-20.0) == pytest.approx(2.0)
    assert warped.noise_near(9.0) == pytest.approx(2.0)  # as above the centre
    assert warped.noise_near(-20.0) > 10.0  # the warp is flat there
    low, high = warped.values(np.array([-20.0, 5.0]))
    assert warped.between(float(low), float(high)) == pytest.approx(25.0)
    assert plain.between(0.0, 2.0) == 8.0
    assert warped.deviation(float(high), 0.1) == pytest.approx(0.4)
