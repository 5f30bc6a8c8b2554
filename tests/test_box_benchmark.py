"""The test functions of the benchmark on boxes, and what ``maximize`` reaches on them."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import noregret as nr

MINIMISERS = {
    "Branin": [9.42478, 2.475],
    "Hartmann-6": [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573],
    "Ackley-5": [0.0] * 5,
    "Levy-4": [1.0] * 4,
}


@pytest.fixture
def boxes(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    return importlib.import_module("benchmarks.boxes")


@pytest.mark.parametrize("problem", MINIMISERS)
def test_minima_are_where_and_what_is_claimed(boxes, problem):
    f, bounds, minimum, _ = boxes.PROBLEMS[problem]
    assert f(np.array(MINIMISERS[problem])) == pytest.approx(minimum, abs=1e-4)
    X = nr.Box(bounds).sample(2000, np.random.default_rng(0))
    assert min(f(x) for x in X) > minimum


@pytest.mark.slow
@pytest.mark.parametrize("problem", MINIMISERS)
def test_defaults_beat_random_search(boxes, problem):
    """Median simple regret over 5 seeds at 80 evaluations."""
    ours, theirs = (
        np.median([boxes.regret(problem, method, 80, seed) for seed in range(5)])
        for method in ("default", "random")
    )
    assert ours < theirs
