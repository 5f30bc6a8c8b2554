"""Where the maximum of two bumps lies."""

import numpy as np
import pytest

from noregret.problems.peaks import bimodal


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_lower_bump_moves_the_maximiser(dimension):
    """The gradient is zero there, not at 5."""
    problem = bimodal(dimension)
    (best,) = problem.maximizers
    assert np.all((best < 5) & (best > 4.9))
    h = 1e-5
    for e in np.eye(dimension) * h:
        slope = (problem.function(best[None] + e) - problem.function(best[None] - e)) / (2 * h)
        assert abs(slope[0]) < 1e-9
