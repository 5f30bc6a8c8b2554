"""Regret bounds of the heavy-tails paper: the formulas, and the information gain in them."""

import math

import numpy as np
import polars as pl
import pytest

from noregret.experiments import heavy_bounds
from noregret.kernels import RBF, Matern
from noregret.problems.kernel_sums import LINE

GRAM = RBF(0.2)(LINE.points, LINE.points)


def greedy_gain(gram, lam, rounds):
    """½ log det(I + K/λ) of choices with the largest variance, one after the other."""
    rest, total = gram.copy(), 0.0
    for _ in range(rounds):
        i = int(np.argmax(np.diag(rest)))
        total += 0.5 * math.log1p(rest[i, i] / lam)
        rest -= np.outer(rest[:, i], rest[i]) / (lam + rest[i, i])
    return total


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_gains_are_close_above_those_of_good_choices(lam):
    rounds = np.array([1, 10, 300])
    for t, gain in zip(rounds, heavy_bounds.largest_gains(GRAM, lam, rounds), strict=True):
        least = greedy_gain(GRAM, lam, t)
        assert least <= gain * (1 + 1e-9)
        assert t < 300 or gain <= 1.01 * least


def test_curves_are_the_formulas_of_the_proofs():
    alpha, v, norm, lam, t = 0.9, 5.0, 1.5, 2.0, 400
    case = heavy_bounds.Case(
        GRAM, alpha, v, norm, lam, (64, GRAM), heavy_bounds.smooth_lower(alpha, v, norm)
    )
    found = heavy_bounds.curves(case, np.array([t]))
    (gain,) = heavy_bounds.largest_gains(GRAM, lam, np.array([t]))
    summed = math.sqrt(2 * (1 + lam) * gain / t)
    level = v ** (1 / 1.9) * t ** (1 / 3.8)
    first = norm + 3 / math.sqrt(lam) * level * math.sqrt(2 * gain + 2 * math.log(10))
    log = math.log(2 * 64 * t * 10)
    power = v ** (1 / 1.9) * t ** (0.1 / 3.8)
    third = norm + 4 * math.sqrt(64 / lam) * power * log ** (0.9 / 1.9)
    log = math.log(4 * 100 * t * 10)
    fourth = norm * (1 + 1 / math.sqrt(0.9)) + 4 * math.sqrt(100 / lam) * power * log ** (0.9 / 1.9)
    lower = v ** (1 / 1.9) * math.log(v ** (-1 / 0.9) * norm ** (1.9 / 0.9) * t) ** (0.9 / 3.8)
    expected = {
        1: 2 * first * summed,
        2: lower * t ** (1 / 1.9 - 1),
        3: 2 * third * summed,
        4: 1.1 / 0.9 * 2 * fourth * summed,
    }
    by_theorem = dict(found.select("theorem", "bound").iter_rows())
    assert by_theorem == pytest.approx(expected)
    assert found.filter(pl.col("theorem") == 2)["algorithm"].to_list() == [None]


def test_the_lower_bound_of_rough_functions():
    # ν = 2.5, d = 1, α = 1: R_T is at least of the order v^(5/12) B^(1/6) T^(7/12).
    (found,) = heavy_bounds.rough_lower(1.0, 4.0, 2.0, 2.5)(np.array([1e4]))
    assert found == pytest.approx(4 ** (5 / 12) * 2 ** (1 / 6) * 1e4 ** (7 / 12))


def test_without_features_and_lower_bound_two_theorems_are_left():
    gram = Matern(0.2, nu=2.5)(LINE.points, LINE.points)
    found = heavy_bounds.curves(heavy_bounds.Case(gram, 1.0, 4.0, 1.0, 1.0), np.array([50, 100]))
    assert sorted(found["theorem"].to_list()) == [1, 1, 4, 4]
