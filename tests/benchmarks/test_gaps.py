"""Evaluations until a proved gap."""

import pytest


@pytest.mark.parametrize("way", ["GP-UCB", "BBKB"])
def test_a_run_ends_with_a_proved_gap_that_holds(benchmark_module, way):
    gaps = benchmark_module("gaps")
    found = gaps.run(*gaps.WAYS[way], seed=0, tol=1.0, most=500)
    assert found.evaluations < 500
    assert found.held
    assert found.lost <= 1.0
