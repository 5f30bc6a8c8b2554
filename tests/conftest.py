"""One BLAS thread for the naive computations too: the tests may share their machine."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest
from hypothesis import settings

# The same examples in every run, so that the suite passes or fails alike on every machine.
# `pytest --hypothesis-profile=search` draws new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("same")


@pytest.fixture(scope="session")
def dask_client():
    """A Dask cluster of two processes on this machine."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(dashboard_address=":0", **options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def path(tmp_path):
    """Where a study may live."""
    return tmp_path / "a.db"
