"""A study on a Dask cluster: workers stay full, and one that dies loses nothing.

    pip install "noregret[dask]"
    python examples/dask_run.py

The cluster here is three processes on this machine; ``Client("scheduler:8786")`` is any other.
"""

import tempfile
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

import noregret as nr


def simulate(x: np.ndarray) -> float:
    """Stands for an hour of simulation."""
    return float(np.sin(3 * x[0]) * np.cos(2 * x[1]) - 0.1 * np.sum(x**2))


def main(folder: Path, budget: int = 60) -> nr.Recommendation:
    """Optimise ``simulate`` over a grid; the best point."""
    grid = nr.Box([(-2, 2), (-2, 2)]).grid(40)
    cluster = LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0")
    with (
        cluster,
        Client(cluster) as client,
        nr.Study.create(
            folder / "dask.db", grid, kernel=nr.Matern(1.0), noise=0.05, width=2.0, seed=0
        ) as study,
    ):
        study.run(simulate, budget, executor=client, workers=3, trial_timeout=3600)
        best = study.best()
    print(f"best point {best.point}: {best.mean:.3f} in [{best.lower:.3f}, {best.upper:.3f}]")
    return best


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp()))
