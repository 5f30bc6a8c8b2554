"""What ``maximize`` reaches on the test functions of the benchmark on boxes."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from noregret.problems.functions import BOXES


@pytest.fixture
def boxes(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    return importlib.import_module("benchmarks.boxes")


@pytest.mark.slow
@pytest.mark.parametrize("problem", BOXES)
def test_defaults_beat_random_search(boxes, problem):
    """Median simple regret over 5 seeds at 80 evaluations."""
    ours, theirs = (
        np.median([boxes.regret(problem, method, 80, seed) for seed in range(5)])
        for method in ("default", "random")
    )
    assert ours < theirs
