"""The parts of Theorem 8, each against its definition."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from soft_clips import clip, expected

from noregret.widths import clipped, soft_clip


def a_case(rng, arms=6, rewards=40):
    rows = np.sort(rng.integers(arms, size=rewards))
    rows[:arms] = np.arange(arms)
    sample = clipped.Sample.of(rng.standard_t(3, size=rewards), np.sort(rows))
    setting = clipped.Setting(1.7, 1.7, 2.0, 5.0, 0.7)
    Z = rng.standard_normal((arms, 4))
    V = (Z.T * sample.counts) @ Z + 3.0 * np.eye(4)
    b = Z @ np.linalg.cholesky(np.linalg.inv(V))
    s = np.linalg.norm(b, axis=1) / setting.scale
    mean = 0.2 * rng.standard_normal(arms)
    sums = clipped.soft_sums(sample, mean, s, setting)
    return clipped.Case(sample, sums, mean, s, np.full(arms, 20.0), 20.0, b), setting


def shortfall(case, setting, arm, h):
    """What the definition says for one arm and one h, at the smallest v that is allowed."""
    rewards = case.sample.rewards[case.sample.arms == arm]
    n, s, mean, sign = len(rewards), case.deviations[arm], case.mean[arm], np.sign(h) or 1.0
    least, total = setting.shift * abs(h), 0.0
    for y in rewards:
        x = sign * (y - mean) + least
        between = np.array([x]) if x > 0 else np.linspace(x, 0.0, 60)
        total += min(expected(clip, s * one, abs(h) / s) for one in between)
    cost = n * expected(lambda u: soft_clip.log_moment(u, setting.noise, 2.0), s, abs(h) / s)
    gauss = (1 / setting.part - 0.5) * setting.scale**2 * n * h**2
    slope = case.sums[arm] - n * mean
    return h * slope + cost - total + gauss - 0.5 * n * (s * setting.scale) ** 2


@settings(max_examples=50)
@given(st.floats(0.01, 8), st.floats(0, 6), st.floats(-40, 40), st.floats(0, 40))
def test_no_noise_is_worse_than_the_smallest_shift(s, c, x, more):
    """Steps 7 and 8 of the proof: E ψ((h + sξ)x′) for x′ ≥ x is at least what is counted for x."""
    counted = np.array([x]) if x > 0 else np.linspace(x, 0.0, 100)
    least = min(expected(clip, s * one, c) for one in counted)
    assert expected(clip, s * (x + more), c) >= least - 5e-3


def test_prices_cover_every_h():
    """Step 11 of the proof, for functions h with ‖h‖ = θβ/ς² in V and the worst noise."""
    rng = np.random.default_rng(3)
    for _ in range(2):
        case, setting = a_case(rng)
        theta = setting.part
        square = clipped.squared(case, setting)
        size = theta * min(np.sqrt(square), setting.level) / setting.scale
        for _ in range(4):
            direction = rng.standard_normal(4)
            h = case.coordinates @ (size * direction / np.linalg.norm(direction))
            lost = sum(shortfall(case, setting, arm, h[arm]) for arm in range(len(h)))
            left = (1 / theta - 0.5) * (setting.scale * size) ** 2 - lost
            assert left >= 0.5 * case.base - 1e-6


def test_fractions_of_arms_cost_no_more_than_their_largest_eigenvalue():
    rng = np.random.default_rng(4)
    case, setting = a_case(rng)
    parts = rng.uniform(0, 0.9, len(case.mean))
    loss = clipped._largest_loss(case, setting, parts)
    directions = rng.standard_normal((4, 2000))  # functions with norm 1 in V
    h = case.coordinates @ (directions / np.linalg.norm(directions, axis=0))
    shares = (parts * case.sample.counts) @ np.square(h)
    assert 0.9 * loss < shares.max() <= loss * (1 + 1e-9)
    assert loss <= parts.max()


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
    """‖f − mean_λ‖² in the norm of V is bounded for every f in the ball that λ₁ allows.

    For λ₁ the theorem says ‖f − mean₁‖² ≤ β² − λ₁(F² − ‖f‖²).
    """
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 4))
    gram, target = Z.T @ Z, Z.T @ rng.standard_normal(30)
    lams, norm = np.array([1.0, 3.0, 30.0]), 0.6
    square = 3.0 + lams[known] * norm**2
    weights = np.array([np.linalg.solve(gram + lam * np.eye(4), target) for lam in lams])
    found = clipped.for_other_lambdas(square, norm, lams, weights, gram, known)
    assert found[known] == pytest.approx(square)
    inside, V = 0, gram + lams[known] * np.eye(4)
    for _ in range(20_000):
        f = weights[known] + rng.standard_normal(4) * rng.uniform(0, 0.6)
        off = f - weights[known]
        if off @ V @ off <= square - lams[known] * (norm**2 - f @ f) and f @ f <= norm**2:
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
