"""What ``maximize`` reaches on the test functions of the benchmark on boxes."""

import numpy as np
import pytest

from noregret.problems.classics import BOXES


@pytest.mark.slow
@pytest.mark.parametrize("problem", BOXES)
def test_defaults_beat_random_search(benchmark_module, problem):
    """Median simple regret over 5 seeds at 80 evaluations."""
    boxes = benchmark_module("boxes")
    ours, theirs = (
        np.median([boxes.regret(problem, method, 80, seed) for seed in range(5)])
        for method in ("default", "random")
    )
    assert ours < theirs
