"""The units of the model, and λ where none is given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.models.assumptions import Assumptions, noise_lams
from noregret.models.warp import IDENTITY, Warp

units = st.builds(
    lambda shift, unit, strength: Assumptions(
        nr.RBF(), 0.5, 1.0, (0.25,), 1.0, shift=shift, unit=unit, warp=Warp(1.0, 2.0, strength)
    ),
    st.floats(-100, 100),
    st.floats(0.01, 100),
    st.sampled_from([0.0, 2.0]),
)


@given(units, st.lists(st.floats(-100, 100), min_size=1, max_size=5))
def test_rewards_come_back_from_the_model(assumed, rewards):
    y = np.array(rewards)
    np.testing.assert_allclose(assumed.reward(assumed.values(y)), y, rtol=1e-9, atol=1e-8)
    one = assumed.reward(float(assumed.values(y)[0]))
    assert isinstance(one, float)
    assert one == pytest.approx(y[0], rel=1e-9, abs=1e-8)


@given(units, st.floats(-3, 3), st.floats(0, 3))
def test_intervals_are_those_between_their_ends(assumed, value, deviation):
    low, high = value - deviation, value + deviation
    apart = assumed.reward(high) - assumed.reward(low)
    slack = 1e-9 * (1 + abs(assumed.reward(high)) + abs(assumed.reward(low)))
    assert assumed.between(low, high) == pytest.approx(apart, abs=slack)
    assert assumed.deviation(value, deviation) == pytest.approx(0.5 * apart, abs=slack)


@given(units, st.lists(st.floats(-100, 100), min_size=1, max_size=9))
def test_sums_are_seen_as_the_sum_of_what_is_seen(assumed, rewards):
    warped = assumed.warp.apply(np.array(rewards))
    found = assumed.seen(warped.sum(keepdims=True), len(rewards))
    np.testing.assert_allclose(found, assumed.values(np.array(rewards)).sum(), rtol=1e-9, atol=1e-7)


def test_without_units_sums_are_left_alone():
    assumed, sums = Assumptions(nr.RBF(), 0.5, 1.0, (0.25,), 1.0), np.ones(3)
    assert assumed.seen(sums, 4.0) is sums
    assert (assumed.lam, assumed.warp) == (0.25, IDENTITY)


@pytest.mark.parametrize(
    ("noise", "scale", "lam"), [(0.2, 1.0, 0.04), (0.0, 3.0, 3e-8), (1e-6, 2.0, 2e-8)]
)
def test_lam_is_the_squared_noise_and_never_nothing(noise, scale, lam):
    assert noise_lams(noise, scale, many=False) == pytest.approx((lam,))
    many = noise_lams(noise, scale, many=True)
    assert many == pytest.approx(tuple(factor * lam for factor in (1, 3, 10, 30, 100)))


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
