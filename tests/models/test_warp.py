"""A monotone change of rewards and its way back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
