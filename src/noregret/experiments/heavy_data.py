"""TGP-UCB and ATA-GP-UCB (Ray Chowdhury & Gopalan 2019) on data: Figures 1 (d), (e), Appendix E."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from scipy import linalg, stats

from noregret._types import Floats
from noregret.algorithms import make
from noregret.experiments.experiment import Settings
from noregret.experiments.heavy import (
    marks,
    measure_regret,
    options,
    regret_experiment,
    regret_tasks,
)
from noregret.experiments.heavy_bounds import Case, curves
from noregret.experiments.play import play
from noregret.experiments.tasks import Task
from noregret.kernels import RBF, Kernel, Precomputed
from noregret.problems.datasets import light_sensors, stocks
from noregret.results import Batch
from noregret.rewards.diagnosis import lilliefors

#: the sensors' kernel for quadrature features, and nodes in each dimension
_SMOOTH, _NODES = RBF(math.sqrt(0.1)), 16


@dataclass(frozen=True)
class Readings:
    """Arms with recorded rewards: a reward is the arm's entry in a row drawn at random.

    Attributes
    ----------
    number
        Of the experiment, for its seeds.
    rewards
        n × A; their means are f.
    covariance
        A × A, of the normalised readings: the kernel.
    places
        A × 2 in the unit square, for features that need coordinates.
    """

    number: int
    rewards: Floats
    covariance: Floats
    places: Floats | None = None

    @property
    def norm(self) -> float:
        """The norm of f in the kernel's RKHS."""
        f = self.rewards.mean(axis=0)
        return math.sqrt(f @ linalg.solve(self.covariance, f, assume_a="pos"))


def readings(problem: str) -> Readings:
    """``"stocks"``: prices of 823 days. ``"sensors"``: 192 test readings of 41 light sensors."""
    if problem == "stocks":
        prices = stocks()
        return Readings(14, prices, np.asarray(np.corrcoef(prices.T)))
    sensors = light_sensors()
    corner, sides = sensors.coordinates.min(axis=0), np.ptp(sensors.coordinates, axis=0)
    places = (sensors.coordinates - corner) / sides
    return Readings(15, sensors.test, np.asarray(np.corrcoef(sensors.train.T)), places)


def recorded(problem: str, algorithm: str, width: str, horizon: int, seed: int) -> pl.DataFrame:
    """The regret of one algorithm on recorded rewards, in units of the best arm's mean.

    α = 1, v is the mean square of all rewards and B the largest mean, as in the paper. Our proved
    algorithm is told the largest deviation of an arm's rewards, and the norm of f: the kernel is
    multiplied by the squared norm, which makes the norm 1.
    """
    data = readings(problem)
    f, v = data.rewards.mean(axis=0), float(np.square(data.rewards).mean())
    rng = np.random.default_rng([2019, data.number, seed])
    rows = rng.integers(len(data.rewards), size=horizon)
    domain: Any = range(len(f))
    kernel: Kernel = Precomputed(data.covariance)
    told = options(algorithm, 1.0, v, horizon, _NODES)
    if algorithm == "clipped":
        kernel = data.norm**2 * kernel
        told |= {"noise": float(data.rewards.std(axis=0).max()), "norm": 1.0}
    else:
        told["norm"] = float(f.max())
    if algorithm == "qff":
        domain, kernel = data.places, _SMOOTH
    opt = make(told.pop("name"), domain, kernel, width=width, seed=seed, **told)
    ids = np.empty(0, dtype=np.int64)

    def values(batch: Batch) -> Floats:
        nonlocal ids
        ids = batch.ids
        return np.asarray(f[ids])

    def rewards(value: Floats, t: int) -> Floats:
        return np.asarray(data.rewards[rows[t : t + len(value)], ids])

    best = float(f.max())
    frame = play(opt, horizon, values, rewards, best, marks=marks(horizon))
    return frame.with_columns(
        pl.col("regret", "simple") / best, uniform=1.0 - float(f.mean()) / best
    )


def facts(problem: str) -> pl.DataFrame:
    """Check what the paper assumes about the data: a row per arm.

    ``pvalue`` tests the arm's rewards against a Gaussian, ``kurtosis`` is their excess kurtosis.
    ``norm``, the same in all rows, is the norm of f in the kernel's RKHS, in units of B.
    """
    data = readings(problem)
    f = data.rewards.mean(axis=0)
    return pl.DataFrame(
        {
            "arm": np.arange(len(f)),
            "pvalue": [lilliefors(arm)[1] for arm in data.rewards.T],
            "kurtosis": stats.kurtosis(data.rewards, axis=0),
            "norm": data.norm / float(f.max()),
        }
    )


def recorded_bounds(problem: str, horizon: int) -> pl.DataFrame:
    """The theorems' bounds on average regret, in units of the best arm's mean."""
    data = readings(problem)
    best, v = float(data.rewards.mean(axis=0).max()), float(np.square(data.rewards).mean())
    features = None
    if data.places is not None:
        features = 2 * _NODES**2, _SMOOTH(data.places, data.places)
    told = Case(data.covariance, 1.0, v, best, 1.0, features)
    return curves(told, marks(horizon)).with_columns(pl.col("bound") / best)


def _data_tasks(settings: Settings, problem: str, names: Sequence[str]) -> list[Task]:
    """Tasks of some algorithms on recorded rewards, of the bounds, and the check of the rewards."""
    tasks = regret_tasks(settings, recorded, problem, names)
    bounds = Task(recorded_bounds, {"problem": problem, "horizon": settings["horizon"]})
    return [*tasks, bounds, Task(facts, {"problem": problem})]


def _measure_data(table: pl.DataFrame, settings: Settings) -> dict[str, Any]:
    """The numbers of average regret, and what the checks of the data found."""
    arms = table.filter(pl.col("pvalue").is_not_null())
    return {
        **measure_regret(table, settings),
        "arms": len(arms),
        "not_gaussian": int((arms["pvalue"] < 0.01).sum()),
        "heavier_than_gaussian": int((arms["kurtosis"] > 0.0).sum()),
        "norm": arms["norm"][0],
        "median_kurtosis": arms["kurtosis"].median(),
    }


#: of regret, for the axes
_UNIT = "\n(share of the best mean)"
_STOCKS = partial(_data_tasks, problem="stocks", names=("tgp", "nystrom", "huber", "clipped"))
_SENSORS = partial(
    _data_tasks, problem="sensors", names=("tgp", "qff", "nystrom", "huber", "clipped")
)
# Appendix E; runs that Figure 1 (e) has too are the same tasks.
_CELLS = partial(
    _data_tasks, problem="sensors", names=("tgp", "nystrom", "robust", "huber", "clipped")
)

EXPERIMENTS = (
    regret_experiment(
        "heavy-fig1d", "Figure 1 (d)", "average regret, 29 stocks", 3, _STOCKS,
        runs=5, full=10, unit=_UNIT, measure=_measure_data,
    ),
    regret_experiment(
        "heavy-fig1e", "Figure 1 (e)", "average regret, 41 light sensors", 4, _SENSORS,
        runs=4, full=10, unit=_UNIT, measure=_measure_data,
    ),
    regret_experiment(
        "heavy-robust", "Appendix E", "average regret, 41 light sensors, Robust UCB", 4, _CELLS,
        runs=4, full=10, theory_runs=3, unit=_UNIT, measure=_measure_data,
    ),
)  # fmt: skip
