"""The parts of Theorem 8, each against its definition."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from noregret.widths import clipped

ORDERS = st.sampled_from([1.05, 1.1, 1.4, 1.9, 2.0])
NODES = np.linspace(-9, 9, 6001)


def soft_clip(w):
    return clipped.odd(w) + clipped.even(w)


def expected(function, z, c):
    """E function(z(c + ξ)) for a standard Gaussian ξ, by a fine sum."""
    weights = np.exp(-0.5 * NODES**2)
    return float(function(z * (c + NODES)) @ weights / weights.sum())


@given(ORDERS, st.floats(-50, 50), st.floats(-4, 4))
def test_the_soft_clip_is_below_the_logarithm(order, power, w):
    for value in np.array([w, np.sign(w) * 10 ** abs(power / 10)]):
        soft = clipped.odd(value) + clipped.even(value)
        bound = 1 + value + clipped.moment_constant(order) * abs(value) ** order
        assert np.exp(soft) <= bound * (1 + 1e-12)


def test_the_constant_of_a_variance_is_one_half():
    assert clipped.moment_constant(2.0) == 0.5


@pytest.mark.parametrize("order", [1.4, 2.0])
def test_the_mean_of_the_exponential_is_at_most_one(order):
    """E exp(ψ(hε) − ℓ(h)) ≤ 1 for noise of two values, the worst of its moment."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        p, high = rng.uniform(0.001, 0.999), rng.exponential() * 20
        values, chances = np.array([-high * p / (1 - p), high]), np.array([1 - p, p])
        noise = (chances @ np.abs(values) ** order) ** (1 / order)
        h = rng.normal() * rng.choice([0.1, 1.0, 10.0])
        soft = clipped.odd(h * values) + clipped.even(h * values)
        cost = clipped.log_moment(np.array([h]), noise, order)[0]
        assert chances @ np.exp(soft - cost) <= 1 + 1e-12


def test_curvature_and_sizes():
    w = np.linspace(-8, 8, 400_001)
    step = w[1] - w[0]
    bends = sum(np.abs(np.diff(part(w), 2)) / step**2 for part in (clipped.odd, clipped.even))
    inner = np.abs(w[1:-1])
    for factor in (1.0, inner, inner**2):
        assert np.max(factor * bends) <= clipped.CURVATURE * (1 + 1e-4)
    for part in (clipped.odd, clipped.even):
        assert np.all(np.diff(part(w[w >= 0])) >= 0)
    xi = np.linspace(-12, 12, 200_001)
    weights = np.exp(-0.5 * xi**2) / np.exp(-0.5 * xi**2).sum() * np.abs(xi**2 - 1)
    size = 0.5 * np.log(5) + 0.5 * np.log(1.25)
    assert weights.sum() <= 1.0
    assert size * weights.sum() + 0.8 * weights @ np.log1p(np.abs(xi)) <= 1.42


@pytest.mark.parametrize("order", [1.05, 1.1, 1.4, 1.9, 2.0])
def test_the_log_moment_bends_down_by_at_most_the_squared_noise(order):
    h = np.geomspace(1e-3, 1e3, 100_001)
    steps = np.diff(h)
    slopes = np.diff(clipped.log_moment(h, 1.0, order)) / steps
    bends = np.diff(slopes) / (0.5 * (steps[1:] + steps[:-1]))
    assert bends.min() >= -1.0


def test_expectations_come_from_the_table():
    c = np.linspace(0.0, 6.0, 25)
    table = clipped._table(c.tobytes())
    for z in (3e-5, 0.01, 0.4, 3.0, 500.0):
        for i in (0, 7, 24):
            lowest = min(expected(soft_clip, -x, c[i]) for x in np.linspace(0.0, z, 150))
            for at, value in ((z, expected(soft_clip, z, c[i])), (-z, lowest)):
                found = clipped._looked_up(table, np.array([[at]]), np.array([i]))[0, 0]
                assert found == pytest.approx(value, rel=2e-2 if z > 100 else 6e-3, abs=1e-3)


def a_case(rng, arms=6, rewards=40):
    rows = np.sort(rng.integers(arms, size=rewards))
    rows[:arms] = np.arange(arms)
    sample = clipped.Sample.of(rng.standard_t(3, size=rewards), np.sort(rows))
    s = rng.uniform(0.05, 0.4, arms)
    setting = clipped.Setting(1.7, 1.7, 2.0, 5.0, 0.7)
    mean = 0.2 * rng.standard_normal(arms)
    sums = clipped.soft_sums(sample, mean, s, setting)
    return clipped.Case(sample, sums, mean, s, np.full(arms, 20.0), 20.0), setting


def shortfall(case, setting, arm, h):
    """What the definition says for one arm and one h, at the smallest v that is allowed."""
    rewards = case.sample.rewards[case.sample.arms == arm]
    n, s, mean, sign = len(rewards), case.deviations[arm], case.mean[arm], np.sign(h) or 1.0
    least, total = setting.shift * abs(h), 0.0
    for y in rewards:
        x = sign * (y - mean) + least
        between = np.array([x]) if x > 0 else np.linspace(x, 0.0, 60)
        total += min(expected(soft_clip, s * one, abs(h) / s) for one in between)
    cost = n * expected(lambda u: clipped.log_moment(u, setting.noise, 2.0), s, abs(h) / s)
    gauss = (1 / setting.part - 0.5) * setting.scale**2 * n * h**2
    slope = case.sums[arm] - n * mean
    return h * slope + cost - total + gauss - 0.5 * n * (s * setting.scale) ** 2


@settings(max_examples=50)
@given(st.floats(0.01, 8), st.floats(0, 6), st.floats(-40, 40), st.floats(0, 40))
def test_no_noise_is_worse_than_the_smallest_shift(s, c, x, more):
    """Steps 7 and 8 of the proof: E ψ((h + sξ)x′) for x′ ≥ x is at least what is counted for x."""
    counted = np.array([x]) if x > 0 else np.linspace(x, 0.0, 100)
    least = min(expected(soft_clip, s * one, c) for one in counted)
    assert expected(soft_clip, s * (x + more), c) >= least - 5e-3


def test_prices_cover_every_h():
    """The best μ is some μ: for it the sum over arms is at least the shortfall at any h."""
    rng = np.random.default_rng(3)
    for _ in range(2):
        case, setting = a_case(rng)
        square = clipped.squared(case, setting)
        theta = setting.part
        for _ in range(4):
            h = case.deviations * theta * setting.level * rng.uniform(-1, 1, len(case.mean))
            lost = sum(shortfall(case, setting, arm, h[arm]) for arm in range(len(h)))
            gauss = (1 / theta - 0.5) * setting.scale**2 * case.sample.counts @ h**2
            # (1 − μ)(θ − θ²/2)(β/ς)² = base/2 + prices, and prices ≥ lost − μ·gauss for some μ
            budget = 0.5 * (2 * theta - theta**2) * square
            enough = [
                (1 - part) * budget - 0.5 * case.base >= lost - part * gauss - 1e-6
                for part in clipped._PARTS
            ]
            assert any(enough)


def test_soft_sums_are_sums_without_outliers_and_bounded_with_them():
    sample = clipped.Sample.of(np.array([1.0, 1.2, 0.8, 2.0]), np.array([0, 0, 0, 1]))
    s, setting = np.array([1e-4, 1e-4]), clipped.Setting(1.0, 1.0, 2.0, 5.0, 0.9)
    mean = np.array([1.0, 1.9])
    sums = clipped.soft_sums(sample, mean, s, setting)
    np.testing.assert_allclose(sums, [3.0, 2.0], rtol=1e-5)
    far = clipped.Sample.of(np.array([1.0, 1.2, 0.8, 1e12]), np.array([0, 0, 0, 1]))
    one, other = (clipped.soft_sums(far, mean, s * k, setting)[1] for k in (1e3, 1e4))
    assert other < one < 200


@pytest.mark.parametrize("known", [0, 1, 2])
def test_widths_of_other_lambdas_follow(known):
    """‖f − mean_λ‖² in the norm of V is bounded for every f in the ellipsoid and in the ball."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 4))
    gram, target = Z.T @ Z, Z.T @ rng.standard_normal(30)
    lams, norm, square = np.array([1.0, 3.0, 30.0]), 2.0, 5.0
    weights = np.array([np.linalg.solve(gram + lam * np.eye(4), target) for lam in lams])
    found = clipped.for_other_lambdas(square, norm, lams, weights, gram, known)
    assert found[known] == pytest.approx(square)
    inside, V = 0, gram + lams[known] * np.eye(4)
    for _ in range(20_000):
        f = weights[known] + rng.standard_normal(4) * rng.uniform(0, 0.6)
        off = f - weights[known]
        if off @ V @ off <= square and f @ f <= norm**2:
            inside += 1
            for lam, theta, bound in zip(lams, weights, found, strict=True):
                off = f - theta
                assert off @ (gram + lam * np.eye(4)) @ off <= bound * (1 + 1e-9)
    assert inside > 50


def test_soft_sums_make_both_sides_equal():
    """The largest shortfall of h > 0 is that of h < 0, computed from the definition."""
    rng = np.random.default_rng(5)
    case, setting = a_case(rng)
    part = clipped._USUAL_PART * (1 / setting.part - 0.5) * setting.scale**2
    for arm in range(3):
        s, n = case.deviations[arm], case.sample.counts[arm]
        h = s * setting.centres[clipped._EVERY :: clipped._EVERY]
        above, below = (
            max(shortfall(case, setting, arm, sign * x) - part * n * x**2 for x in h)
            for sign in (1, -1)
        )
        assert above == pytest.approx(below, abs=0.02)


def test_the_usual_scale_of_a_variance_is_the_noise():
    assert clipped.usual_scale(1.7, 2.0, 1) == pytest.approx(1.7)
    assert clipped.usual_scale(1.7, 1.9, 20_000) > 1.7
