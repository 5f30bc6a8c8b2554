"""Curves of the benchmark of libraries."""

import json

import pytest


@pytest.fixture
def libraries(benchmark_module):
    return benchmark_module("libraries")


def test_methods_that_are_not_run_keep_their_curves(libraries, tmp_path):
    path = tmp_path / "curves.json"
    libraries.keep_curves(path, "forest", 10, [[0.1] * 6])
    libraries.keep_curves(path, "study", 10, [[0.2] * 6])
    libraries.keep_curves(path, "study", 10, [[0.3] * 6, [0.4] * 6])
    kept = json.loads(path.read_text())
    assert kept["measured"] == [10, 20, 30, 40, 50, 60]
    curves = {
        name: (one["seeds"], one["share of the top 500 scores"])
        for name, one in kept["methods"].items()
    }
    assert curves == {"forest": ([0], [[0.1] * 6]), "study": ([0, 1], [[0.3] * 6, [0.4] * 6])}
