"""Sums of kernel bumps by their definition, and their norms."""

import numpy as np
import pytest

import noregret as nr
from noregret.problems.kernel_sums import bumps, line
from noregret.problems.noise import Noise


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_bumps_and_their_norm(dimension):
    """f on the grid by the definition; ‖f‖² = Σ Σ a_i a_j k(x_i, x_j) by loops."""
    problem = bumps(dimension, np.random.default_rng(3), side=7)
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
def test_problems_on_a_line_have_height_1_and_keep_their_norm(kernel, kind):
    """max |f| = 1; not negative where rewards are Pareto; |f(x)| ≤ ‖f‖ √k(x, x)."""
    for seed in range(5):
        problem = line(kernel, Noise(kind, 3.0), np.random.default_rng(seed))
        values = problem.values()
        assert len(values) == 100
        assert np.abs(values).max() == pytest.approx(1.0)
        assert problem.norm >= 1.0 - 1e-9
        assert problem.optimum == values.max()
        if kind == "pareto":
            assert values.min() > 0
