"""One BLAS thread for the naive computations too: the tests may share their machine."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a study may live."""
    return tmp_path / "a.db"
