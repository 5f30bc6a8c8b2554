"""Rewards are warped where a GP of warped rewards explains them better, and only there."""

import numpy as np
import pytest

import noregret as nr
from noregret.learning.warps import best_warp
from noregret.models.warp import IDENTITY

KERNEL = nr.Matern([0.5, 0.5])


def drawn(seed, n=80):
    """Points and values (n) of a function drawn from the GP."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.linalg.cholesky(KERNEL(X, X) + 1e-9 * np.eye(n)) @ rng.standard_normal(n), rng


def warps_of(change, seeds=10):
    """How many of ten functions, changed in some way, are warped."""
    found = []
    for seed in range(seeds):
        X, f, rng = drawn(seed)
        found.append(best_warp(KERNEL, X, change(f, rng), 0).strength > 0)
    return sum(found)


def test_functions_of_the_gp_stay_as_they_are():
    assert warps_of(lambda f, rng: f + 0.3 * rng.standard_normal(len(f))) <= 1


def test_heavy_noise_is_not_taken_for_a_long_bad_side():
    assert warps_of(lambda f, rng: f + 0.3 * rng.standard_t(2, len(f))) <= 2


def test_a_long_bad_side_is_warped():
    assert warps_of(lambda f, rng: -np.exp(2.0 * f)) == 10


def test_a_long_good_side_is_not():
    assert warps_of(lambda f, rng: np.exp(2.0 * f)) == 0


def test_units_do_not_matter():
    X, f, _ = drawn(0)
    y = -np.exp(2.0 * f)
    one, other = best_warp(KERNEL, X, y, 0), best_warp(KERNEL, X, 100.0 * y + 7.0, 0)
    assert (other.centre, other.scale) == pytest.approx((100.0 * one.centre + 7, 100.0 * one.scale))
    assert other.strength == one.strength > 0


def test_too_little_to_decide():
    X, f, _ = drawn(0)
    assert best_warp(KERNEL, X[:5], -np.exp(9.0 * f[:5]), 0) == IDENTITY
    assert best_warp(KERNEL, X, np.ones(80), 0) == IDENTITY
    assert best_warp(KERNEL, X, (f > 2).astype(float), 0) == IDENTITY


def test_many_evaluations_are_thinned():
    X, f, _ = drawn(0, 300)
    assert best_warp(KERNEL, X, -np.exp(2.0 * f), 0).strength > 0
