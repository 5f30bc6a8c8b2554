"""A small experiment, for the tests; workers import its functions by name."""

import os

import numpy as np
import polars as pl

from noregret.experiments import figures
from noregret.experiments.experiment import Experiment
from noregret.experiments.tasks import Task


def squares(seed: int, power: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"t": [1, 2, 3], "value": rng.random(3) ** power})


def dies() -> pl.DataFrame:
    os._exit(1)


def small() -> Experiment:
    def plot(table, settings):
        figure, (axis,) = figures.panels(1)
        figures.lines(axis, table, "t", "value", "power", [1, 2])
        return {"": figure}

    def measure(table, settings):
        rows = [{"power": p, "mean": table.filter(pl.col("power") == p)["value"].mean()}
                for p in (1, 2)]  # fmt: skip
        return {"rows": rows, "nothing": np.nan, "count": np.int64(len(table))}

    return Experiment(
        id="small",
        paper="none",
        figure="Figure 0",
        title="powers",
        minutes=0.1,
        sizes={"page": {"runs": 4}, "full": {"runs": 9}, "quick": {"runs": 1}},
        tasks=lambda settings: [
            Task(squares, {"seed": seed, "power": power})
            for seed in range(settings["runs"])
            for power in (1, 2)
        ],
        plot=plot,
        measure=measure,
    )
