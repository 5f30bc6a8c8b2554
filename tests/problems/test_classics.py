"""Classics of global optimisation by hand, and the range of the scaled ones."""

import numpy as np
import pytest
from maxima import searched

from noregret.problems import classics


@pytest.mark.parametrize("problem", classics.SCALED.values(), ids=lambda p: p.name)
def test_scaled_problems_fill_their_range(problem):
    lowest = -searched(lambda X: -problem.function(X), problem.domain)
    assert lowest == pytest.approx(-1.0, abs=1e-9)
    X = np.random.default_rng(1).random((100_000, 2))
    assert np.all(np.abs(problem.function(X)) <= 1.0)


@pytest.mark.parametrize(
    ("function", "x", "value"),
    [
        # by hand, away from the optima
        (classics.branin, [0.0, 0.0], 36 + 10 * (1 - 1 / (8 * np.pi)) + 10),
        (classics.six_hump_camel, [1.0, 1.0], (4 - 2.1 + 1 / 3) + 1 + 0),
        (classics.rosenbrock, [2.0, 3.0], 101.0),
        (classics.bohachevsky, [1.0, 0.5], 1 + 0.5 + 0.3 - 0.4 + 0.7),
    ],
)
def test_classics_by_hand(function, x, value):
    assert function(np.array([x]))[0] == pytest.approx(value)
