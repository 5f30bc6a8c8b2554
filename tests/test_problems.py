"""The papers' problems: their stated optima by search, their noise by its moments."""

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret.problems import functions as problems
from noregret.problems.noise import Noise

ON_BOXES = [
    *problems.BOXES.values(),
    *problems.SCALED.values(),
    problems.bimodal(1),
    problems.bimodal(2),
    problems.unimodal(0.5),
]


def searched(function, box, seed=0):
    """The largest value of a function on a box: 20,000 points, and climbs from the best."""
    rng = np.random.default_rng(seed)
    X = box.spread(20_000, rng)
    best = -np.inf
    for start in X[np.argsort(-function(X))[:20]]:
        found = minimize(lambda x: -function(x[None])[0], start, bounds=box.bounds, tol=1e-14)
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("problem", ON_BOXES, ids=lambda p: f"{p.name}-{p.domain.upper[0]:g}")
def test_stated_optima_are_attained_and_not_beaten(problem):
    assert isinstance(problem.domain, nr.Box)
    assert problem.maximizers.shape[1] == problem.domain.dimension
    problem.domain.check(problem.maximizers)
    scale = max(abs(problem.optimum), 1.0)
    np.testing.assert_allclose(
        problem.function(problem.maximizers), problem.optimum, atol=1e-12 * scale
    )
    found = searched(problem.function, problem.domain)
    assert found <= problem.optimum + 1e-12 * scale
    if problem.name not in ("Ackley-5", "Bohachevsky"):  # hundreds of local maxima
        assert found >= problem.optimum - 1e-6 * scale


@pytest.mark.parametrize("problem", ON_BOXES, ids=lambda p: f"{p.name}-{p.domain.upper[0]:g}")
def test_maximizers_are_strict_local_maxima(problem):
    """Every small step away loses something: also where there are too many peaks to search."""
    rng = np.random.default_rng(0)
    span = problem.domain.upper - problem.domain.lower
    for best in problem.maximizers:
        steps = 1e-3 * span * rng.uniform(-1, 1, (200, len(span)))
        assert np.all(problem.function(best + steps) < problem.optimum)


@pytest.mark.parametrize("problem", problems.SCALED.values(), ids=lambda p: p.name)
def test_scaled_problems_fill_their_range(problem):
    lowest = -searched(lambda X: -problem.function(X), problem.domain)
    assert lowest == pytest.approx(-1.0, abs=1e-9)
    X = np.random.default_rng(1).random((100_000, 2))
    assert np.all(np.abs(problem.function(X)) <= 1.0)


@pytest.mark.parametrize(
    ("function", "x", "value"),
    [
        # by hand, away from the optima
        (problems.branin, [0.0, 0.0], 36 + 10 * (1 - 1 / (8 * np.pi)) + 10),
        (problems.six_hump_camel, [1.0, 1.0], (4 - 2.1 + 1 / 3) + 1 + 0),
        (problems.rosenbrock, [2.0, 3.0], 101.0),
        (problems.bohachevsky, [1.0, 0.5], 1 + 0.5 + 0.3 - 0.4 + 0.7),
        (problems.ackley, [1.0, 1.0, 1.0], 20 - 20 * np.exp(-0.2)),
        (problems.levy, [5.0, 1.0], 1 * (1 + 10 * np.sin(1) ** 2)),
    ],
)
def test_classics_by_hand(function, x, value):
    assert function(np.array([x]))[0] == pytest.approx(value)


def test_a_known_value_of_hartmann():
    """−0.5053 at the cube's centre, and vectorised as one point at a time."""
    X = np.random.default_rng(0).random((5, 6))
    alone = [problems.hartmann(x[None])[0] for x in X]
    np.testing.assert_allclose(problems.hartmann(X), alone)
    assert problems.hartmann(np.full((1, 6), 0.5))[0] == pytest.approx(-0.5053, abs=1e-3)


def test_grids_have_their_own_optimum():
    problem = problems.SCALED["Branin"].on_grid(30)
    values = problem.values()
    assert len(problem.domain) == len(values) == 900
    assert problem.optimum == values.max() < 1.0
    np.testing.assert_array_equal(problem.function(problem.maximizers), problem.optimum)
    with pytest.raises(TypeError, match="grid"):
        problem.on_grid(30)
    with pytest.raises(TypeError, match="candidates"):
        problems.SCALED["Branin"].values()


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_lower_bump_moves_the_maximiser(dimension):
    """The gradient is zero there, not at 5."""
    problem = problems.bimodal(dimension)
    (best,) = problem.maximizers
    assert np.all((best < 5) & (best > 4.9))
    h = 1e-5
    for e in np.eye(dimension) * h:
        slope = (problem.function(best[None] + e) - problem.function(best[None] - e)) / (2 * h)
        assert abs(slope[0]) < 1e-9


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_bumps_and_their_norm(dimension):
    """f on the grid by the definition; ‖f‖² = Σ Σ a_i a_j k(x_i, x_j) by loops."""
    problem = problems.bumps(dimension, np.random.default_rng(3), side=7)
    rng = np.random.default_rng(3)
    centres = rng.random((30 * dimension, dimension))
    heights = rng.uniform(-1.0, 1.0, 30 * dimension)
    kernel = nr.Matern(0.2, nu=1.5)
    values = [heights @ kernel(centres, x[None])[:, 0] for x in problem.domain.points]
    np.testing.assert_allclose(problem.values(), values, atol=1e-12)
    assert problem.optimum == pytest.approx(max(values))
    square = sum(
        a * b * kernel(x[None], y[None])[0, 0]
        for a, x in zip(heights, centres, strict=True)
        for b, y in zip(heights, centres, strict=True)
    )
    assert problem.norm == pytest.approx(np.sqrt(square))


@pytest.mark.parametrize("kernel", [nr.RBF(0.2), nr.Matern(0.2, nu=2.5)])
@pytest.mark.parametrize("kind", ["student", "pareto"])
def test_lines(kernel, kind):
    """max |f| = 1; not negative where rewards are Pareto; |f(x)| ≤ ‖f‖ √k(x, x)."""
    for seed in range(5):
        problem = problems.line(kernel, Noise(kind, 3.0), np.random.default_rng(seed))
        values = problem.values()
        assert len(values) == 100
        assert np.abs(values).max() == pytest.approx(1.0)
        assert problem.norm >= 1.0 - 1e-9
        assert problem.optimum == values.max()
        if kind == "pareto":
            assert values.min() > 0


@pytest.mark.parametrize(
    ("noise", "deviation"),
    [
        (Noise("gaussian", 0.3), 0.3),
        (Noise("uniform", 0.6), 0.6 / np.sqrt(3)),
        (Noise("student", 5.0), np.sqrt(5 / 3)),
        # scale f (a − 1)/a, variance scale² a/((a − 1)²(a − 2))
        (Noise("pareto", 6.0), 0.8 / np.sqrt(6 * 4)),
    ],
)
def test_rewards_have_their_mean_and_deviation(noise, deviation):
    rewards = noise.draw(np.full(200_000, 0.8), np.random.default_rng(0))
    assert rewards.mean() == pytest.approx(0.8, abs=5 * deviation / np.sqrt(200_000))
    assert rewards.std() == pytest.approx(deviation, rel=0.03)
    assert np.isfinite(noise.xi) == (noise.kind in ("gaussian", "uniform"))


def test_bad_noise_is_refused():
    with pytest.raises(ValueError, match="kind"):
        Noise("cauchy", 1.0)
    with pytest.raises(ValueError, match="parameter"):
        Noise("uniform", 0.0)
    with pytest.raises(ValueError, match="mean"):
        Noise("student", 1.0)
    with pytest.raises(ValueError, match="negative"):
        Noise("pareto", 2.0).draw(np.array([-0.1]), np.random.default_rng(0))


def test_draws_are_the_function_and_its_noise():
    problem = problems.SCALED["Rosenbrock"]
    X = np.random.default_rng(1).random((50, 2))
    rewards = problem.draw(X, np.random.default_rng(2))
    off = np.random.default_rng(2).uniform(-0.1, 0.1, 50)
    np.testing.assert_allclose(rewards, problem.function(X) + off)
