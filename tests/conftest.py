"""One BLAS thread for the naive computations too: the tests may share their machine."""

import os
import warnings

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
    """A Dask cluster of two processes on this machine, which do next to nothing while they wait."""
    import dask
    from distributed import Client, LocalCluster

    quiet = {
        "distributed.admin.system-monitor.interval": "10s",
        "distributed.admin.tick.interval": "1s",
        "distributed.worker.memory.monitor-interval": "10s",
        "distributed.worker.profile.enabled": False,
    }
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        dask.config.set(quiet),
        LocalCluster(dashboard_address=":0", **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def closed_studies(monkeypatch):
    """Studies that a test leaves open are closed after it.

    From Python 3.13 on a database that the garbage collector closes is a ResourceWarning.
    """
    from noregret.study import Study

    opened, make = [], Study.__init__

    def remember(study, *arguments, **options):
        make(study, *arguments, **options)
        opened.append(study)

    monkeypatch.setattr(Study, "__init__", remember)
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the file may be gone: no snapshot
        for study in opened:
            study.close()


@pytest.fixture
def path(tmp_path):
    """Where a study may live."""
    return tmp_path / "a.db"
