"""The soft clip of Theorem 8, against what the proof asks of it."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from soft_clips import clip, expected

from noregret.widths import soft_clip

ORDERS = st.sampled_from([1.05, 1.1, 1.4, 1.9, 2.0])


@given(ORDERS, st.floats(-50, 50), st.floats(-4, 4))
def test_the_soft_clip_is_below_the_logarithm(order, power, w):
    for value in np.array([w, np.sign(w) * 10 ** abs(power / 10)]):
        bound = 1 + value + soft_clip.moment_constant(order) * abs(value) ** order
        assert np.exp(clip(value, order)) <= bound * (1 + 1e-12)


def test_the_constant_of_a_variance_is_one_half():
    assert soft_clip.moment_constant(2.0) == 0.5


@pytest.mark.parametrize("order", [1.4, 2.0])
def test_the_mean_of_the_exponential_is_at_most_one(order):
    """E exp(ψ(hε) − ℓ(h)) ≤ 1 for noise of two values, the worst of its moment."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        p, high = rng.uniform(0.001, 0.999), rng.exponential() * 20
        values, chances = np.array([-high * p / (1 - p), high]), np.array([1 - p, p])
        noise = (chances @ np.abs(values) ** order) ** (1 / order)
        h = rng.normal() * rng.choice([0.1, 1.0, 10.0])
        cost = soft_clip.log_moment(np.array([h]), noise, order)[0]
        assert chances @ np.exp(clip(h * values, order) - cost) <= 1 + 1e-12


@pytest.mark.parametrize("order", [1.4, 2.0])
def test_curvature_and_sizes(order):
    w = np.linspace(-8, 8, 400_001)
    step, halves = w[1] - w[0], [part(w, order) for part in (soft_clip.odd, soft_clip.even)]
    bends = sum(np.abs(np.diff(half, 2)) / step**2 for half in halves)
    inner = np.abs(w[1:-1])
    for factor in (1.0, inner, inner**2):
        assert np.max(factor * bends) <= soft_clip.CURVATURE * (1 + 1e-4)
    for half in halves:
        assert np.all(np.diff(half[w >= 0]) >= 0)


@pytest.mark.parametrize("order", [1.4, 2.0])
def test_second_derivatives_of_expectations_are_bounded(order):
    step = 0.05
    for z in (0.01, 0.3, 2.0, 40.0):
        for c in (0.0, 0.7, 3.0):
            values = [expected(lambda w: clip(w, order), z, c + i * step) for i in (-1, 0, 1)]
            bound = soft_clip.second_derivatives(np.array([z]), 3.0 + step, order)[0]
            assert abs(np.diff(values, 2)[0]) / step**2 <= bound * (1 + 1e-6)


def test_the_size_of_the_soft_clip():
    """What the second derivatives by parts are computed from."""
    xi = np.linspace(-12, 12, 200_001)
    weights = np.exp(-0.5 * xi**2) / np.exp(-0.5 * xi**2).sum() * np.abs(xi**2 - 1)
    logs, w = weights @ np.log1p(np.abs(xi)), np.linspace(-200, 200, 100_001)
    for order, first, growth in ((2.0, 0.0, 2.0), (1.4, np.log(2.5), 0.8)):
        assert np.all(np.abs(clip(w, order)) <= first + growth * np.log1p(np.abs(w)) + 1e-12)
        constants = (1.33, 1.94) if order == 2.0 else (1.42, 0.8)
        assert first * weights.sum() + growth * logs <= constants[0]
        assert growth * weights.sum() <= constants[1]


@pytest.mark.parametrize("order", [1.05, 1.1, 1.4, 1.9, 2.0])
def test_the_log_moment_bends_down_by_at_most_the_squared_noise(order):
    h = np.geomspace(1e-3, 1e3, 100_001)
    steps = np.diff(h)
    slopes = np.diff(soft_clip.log_moment(h, 1.0, order)) / steps
    bends = np.diff(slopes) / (0.5 * (steps[1:] + steps[:-1]))
    assert bends.min() >= -1.0


def test_expectations_come_from_the_table():
    c = np.linspace(0.0, 6.0, 25)
    table = soft_clip.table_of(c.tobytes(), 2.0)
    for z in (3e-5, 0.01, 0.4, 3.0, 500.0):
        for i in (0, 7, 24):
            lowest = min(expected(clip, -x, c[i]) for x in np.linspace(0.0, z, 150))
            for at, value in ((z, expected(clip, z, c[i])), (-z, lowest)):
                found = soft_clip.looked_up(table, np.array([[at]]), np.array([i]))[0, 0]
                assert found == pytest.approx(value, rel=2e-2 if z > 100 else 6e-3, abs=1e-3)
