"""The benchmarks are no package of the library: they are found beside it."""

import importlib
from pathlib import Path

import pytest

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NOREGRET_THREADS")


@pytest.fixture
def benchmark_module(monkeypatch):
    """Imports a module of the benchmarks by its name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    for name in THREADS:  # set by the benchmarks for themselves; put back after the test
        monkeypatch.setenv(name, "1")
    return lambda name: importlib.import_module(f"benchmarks.{name}")
