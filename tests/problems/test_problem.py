"""Problems: their stated optima by search, on boxes and on grids."""

import numpy as np
import pytest
from maxima import searched

import noregret as nr
from noregret.problems.classics import SCALED
from noregret.problems.noise import Noise
from noregret.problems.peaks import bimodal, unimodal
from noregret.problems.problem import on_list

ON_BOXES = [*SCALED.values(), bimodal(1), bimodal(2), unimodal(0.5)]


@pytest.mark.parametrize("problem", ON_BOXES, ids=lambda p: f"{p.name}-{p.domain.upper[0]:g}")
def test_stated_optima_are_attained_and_not_beaten(problem):
    assert problem.maximizers.shape[1] == problem.domain.dimension
    problem.domain.locate(problem.maximizers)  # inside the box
    scale = max(abs(problem.optimum), 1.0)
    np.testing.assert_allclose(
        problem.function(problem.maximizers), problem.optimum, atol=1e-12 * scale
    )
    found = searched(problem.function, problem.domain)
    assert found <= problem.optimum + 1e-12 * scale
    if problem.name != "Bohachevsky":  # hundreds of local maxima
        assert found >= problem.optimum - 1e-6 * scale


@pytest.mark.parametrize("problem", ON_BOXES, ids=lambda p: f"{p.name}-{p.domain.upper[0]:g}")
def test_maximizers_are_strict_local_maxima(problem):
    """Every small step away loses something: also where there are too many peaks to search."""
    rng = np.random.default_rng(0)
    span = problem.domain.upper - problem.domain.lower
    for best in problem.maximizers:
        steps = 1e-3 * span * rng.uniform(-1, 1, (200, len(span)))
        assert np.all(problem.function(best + steps) < problem.optimum)


def test_grids_have_their_own_optimum():
    problem = SCALED["Branin"].on_grid(30)
    values = problem.values()
    assert len(problem.domain) == len(values) == 900
    assert problem.optimum == values.max() < 1.0
    np.testing.assert_array_equal(problem.function(problem.maximizers), problem.optimum)
    with pytest.raises(TypeError, match="grid"):
        problem.on_grid(30)
    with pytest.raises(TypeError, match="candidates"):
        SCALED["Branin"].values()


def test_draws_are_the_function_and_its_noise():
    problem = SCALED["Rosenbrock"]
    X = np.random.default_rng(1).random((50, 2))
    rewards = problem.draw(X, np.random.default_rng(2))
    off = np.random.default_rng(2).uniform(-0.1, 0.1, 50)
    np.testing.assert_allclose(rewards, problem.function(X) + off)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda X: 1.0, r"function\(points\) must be 3 numbers"),
        (lambda X: X[:, 0] * np.nan, r"function\(points\) must be finite, got nan"),
    ],
)
def test_a_function_that_gives_no_value_for_each_point_is_refused(function, words):
    with pytest.raises(ValueError, match=words):
        on_list("mine", nr.Candidates(np.eye(3)), function, Noise("student", 3.0), norm=1.0)
