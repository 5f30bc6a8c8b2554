"""π-GP-UCB (Janz, Burt & González 2020), Section 5: Table 1, Figures 1 and 2."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.algorithms import make
from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import interval, lines, panels
from noregret.experiments.play import AS_PRINTED, play
from noregret.experiments.tasks import Task, grid
from noregret.problems.classics import SCALED
from noregret.problems.kernel_sums import ROUGH, bumps
from noregret.problems.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"pigpucb": "π-GP-UCB", "igpucb": "IGP-UCB"}
#: Table 1 of the paper: regret over that of uniform choice, time of a run, for d = 1, 2, 3
_PAPER = {
    "igpucb": ((0.11, 0.71, 0.97), ("82 min", "118 min", "30 h")),
    "pigpucb": ((0.09, 0.52, 0.77), ("12 min", "97 s", "29 min")),
}
#: rows of a run's table; Figure 1 averages over two of them, which are 200 steps at T = 10,000
_ROWS = 100


def synthetic(seed: int, algorithm: str, dimension: int, side: int, horizon: int) -> pl.DataFrame:
    """Regret and time of one algorithm on 30d random bumps on a grid: a row per 1 % of the run."""
    rng = np.random.default_rng([2020, dimension, seed])
    problem = bumps(dimension, rng, side=side)
    return _run(problem, algorithm, seed, horizon, problem.norm, rng)


def classic(seed: int, algorithm: str, problem: str, side: int, horizon: int) -> pl.DataFrame:
    """The same on a classic problem of global optimisation, with B = 1 whatever its norm is."""
    rng = np.random.default_rng([2020, 4, seed])
    with warnings.catch_warnings():
        # Some of these functions have a larger norm, and the rewards refute B = 1.
        warnings.filterwarnings("ignore", "the rewards contradict norm=1", RuntimeWarning)
        return _run(SCALED[problem].on_grid(side), algorithm, seed, horizon, 1.0, rng)


def _run(
    problem: Problem,
    algorithm: str,
    seed: int,
    horizon: int,
    norm: float,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """A row per mark; ``uniform`` is the expected regret of uniform choice up to there."""
    f = problem.values()
    rewards = problem.noise.paired(horizon, rng)
    options = {"horizon": horizon} if algorithm == "pigpucb" else {}
    opt = make(
        algorithm, problem.domain, ROUGH, noise=problem.noise.xi, norm=norm, delta=0.1, lam=1.0,
        seed=seed, **AS_PRINTED, **options,
    )  # fmt: skip
    frame = play(
        opt, horizon, lambda batch: f[batch.ids], rewards, problem.optimum, at_most=1,
        marks=_marks(horizon),
    )  # fmt: skip
    each = problem.optimum - float(f.mean())
    return frame.with_columns(
        uniform=each * pl.col("t"), relative=pl.col("regret") / (each * pl.col("t"))
    )


def _marks(horizon: int) -> Ints:
    return np.unique(np.linspace(0, horizon, min(horizon, _ROWS) + 1).round().astype(np.int64))[1:]


# -- Table 1 and Figure 1: functions of the RKHS -------------------------------------------------


def _count(settings: Settings, algorithm: str, dimension: int) -> int:
    """Runs of an algorithm: IGP-UCB in three dimensions takes 20 minutes each: it has fewer."""
    most = settings["igpucb_3d_runs"] if (algorithm, dimension) == ("igpucb", 3) else np.inf
    return int(min(settings["runs"], most))


def _synthetic_tasks(settings: Settings) -> Sequence[Task]:
    shared = {"side": settings["side"], "horizon": settings["horizon"]}
    return [
        Task(synthetic, {"seed": seed, "algorithm": name, "dimension": d, **shared})
        for d in settings["dimensions"]
        for name in _NAMES
        for seed in range(_count(settings, name, d))
    ]


def _plot_table(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(len(settings["dimensions"]))
    for axis, d in zip(axes, settings["dimensions"], strict=True):
        lines(axis, table.filter(dimension=d), "t", "relative", "algorithm", _NAMES)
        axis.set(title=f"d = {d}", xlabel="evaluations", ylabel="regret / regret of uniform choice")
        axis.set_ylim(bottom=0.0)
    axes[0].legend(frameon=False)
    return {"": figure}


def _measure_table(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    last = table.filter(t=settings["horizon"])
    rows, regret, seconds = [], {}, {}
    for d in settings["dimensions"]:
        for name, label in _NAMES.items():
            part = last.filter(dimension=d, algorithm=name)
            mean, half = interval(part["relative"])
            regret[f"{name}{d}"], seconds[f"{name}{d}"] = mean, _mean(part, "seconds")
            rows.append(
                {
                    "d": d,
                    "algorithm": label,
                    "runs": len(part),
                    "regret / uniform": mean,
                    "95 % interval ±": half,
                    "paper's": _PAPER[name][0][d - 1],
                    "seconds a run": _mean(part, "seconds"),
                    "paper's time": _PAPER[name][1][d - 1],
                }
            )
    paired = {f"d{d}": _paired(last.filter(dimension=d)) for d in settings["dimensions"]}
    return {"rows": rows, "regret": regret, "seconds": seconds, "paired": paired}


def _mean(frame: pl.DataFrame, column: str) -> float:
    return float(np.mean(frame[column].to_numpy()))


def _paired(last: pl.DataFrame) -> dict[str, float]:
    """Compare π-GP-UCB with IGP-UCB over the runs that both have: runs won, ratios of the means."""
    regret, seconds = (
        last.pivot("algorithm", index="seed", values=column).drop_nulls()
        for column in ("regret", "seconds")
    )
    return {
        "pairs": len(regret),
        "won": int((regret["pigpucb"] < regret["igpucb"]).sum()),
        "regret": _mean(regret, "pigpucb") / _mean(regret, "igpucb"),
        "seconds": _mean(seconds, "igpucb") / _mean(seconds, "pigpucb"),
    }


def per_step(t: Floats, total: Floats) -> Floats:
    """How much a running total grows per step, averaged over the rows before and after each row.

    ``t`` and ``total`` (n each) are the rows of one run in order. The average at the first row
    begins at the start of the run; that at the last row ends there.
    """
    steps, sums = np.concatenate([[0.0], t]), np.concatenate([[0.0], total])
    first = np.arange(len(t))  # one row earlier, counting the start
    after = np.minimum(first + 2, len(t))
    return np.asarray((sums[after] - sums[first]) / (steps[after] - steps[first]))


def _smoothed(table: pl.DataFrame) -> pl.DataFrame:
    parts = []
    for _, part in table.group_by("algorithm", "seed", maintain_order=True):
        part = part.sort("t")
        t = part["t"].to_numpy().astype(np.float64)
        parts.append(
            part.with_columns(
                step=pl.Series(per_step(t, part["regret"].to_numpy())),
                milliseconds=pl.Series(1e3 * per_step(t, part["seconds"].to_numpy())),
            )
        )
    return pl.concat(parts)


def _plot_plane(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(3)
    smooth = _smoothed(table)
    span = 2 * settings["horizon"] // _ROWS
    labels = {
        "regret": "regret",
        "step": f"regret per step, mean of {span}",
        "milliseconds": "processor time per step, ms",
    }
    for axis, (column, label) in zip(axes, labels.items(), strict=True):
        lines(axis, smooth, "t", column, "algorithm", _NAMES)
        axis.set(xlabel="evaluations", ylabel=label)
        axis.set_ylim(bottom=0.0)
    axes[0].legend(frameon=False)
    return {"": figure}


def _measure_plane(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    smooth = _smoothed(table)
    first = settings["horizon"] // 10
    rows = []
    for name, label in _NAMES.items():
        part = smooth.filter(algorithm=name)
        early, late = part.filter(pl.col("t") <= first), part.filter(t=part["t"].max())
        mean, half = interval(late["regret"])
        rows.append(
            {
                "algorithm": label,
                "regret": mean,
                "95 % interval ±": half,
                "regret per step, first tenth": _mean(early, "step"),
                "regret per step, end": _mean(late, "step"),
                "ms per step, first tenth": _mean(early, "milliseconds"),
                "ms per step, end": _mean(late, "milliseconds"),
            }
        )
    by = dict(zip(_NAMES, rows, strict=True))
    return {
        "rows": rows,
        "regret": {name: row["regret"] for name, row in by.items()},
        "start": {name: row["regret per step, first tenth"] for name, row in by.items()},
        "end": {name: row["regret per step, end"] for name, row in by.items()},
        "ms": {name: row["ms per step, end"] for name, row in by.items()},
        "paired": _paired(table.filter(t=settings["horizon"])),
    }


# -- Figure 2: classics of global optimisation ---------------------------------------------------


def _classic_tasks(settings: Settings) -> Sequence[Task]:
    shared = {"side": [settings["side"]], "horizon": [settings["horizon"]]}
    return grid(classic, problem=SCALED, algorithm=_NAMES, seed=range(settings["runs"]), **shared)


def _plot_classics(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(len(SCALED), columns=2)
    for axis, problem in zip(axes, SCALED, strict=True):
        lines(axis, table.filter(problem=problem), "t", "regret", "algorithm", _NAMES)
        axis.set(title=problem, xlabel="evaluations", ylabel="regret")
        axis.set_ylim(bottom=0.0)
    axes[0].legend(frameon=False)
    return {"": figure}


def _measure_classics(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    last = table.filter(t=settings["horizon"])
    rows, paired = [], {}
    for problem in SCALED:
        part = last.filter(problem=problem)
        paired[problem] = _paired(part)
        for name, label in _NAMES.items():
            own = part.filter(algorithm=name)
            mean, half = interval(own["regret"])
            rows.append(
                {
                    "problem": problem,
                    "algorithm": label,
                    "regret": mean,
                    "95 % interval ±": half,
                    "regret / uniform": _mean(own, "relative"),
                    "seconds a run": _mean(own, "seconds"),
                }
            )
    regret = {f"{row['problem']}, {row['algorithm']}": row["regret"] for row in rows}
    return {"rows": rows, "regret": regret, "paired": paired}


_SYNTHETIC = {"runs": 12, "horizon": 10_000, "side": 30}
_SMALL = {"runs": 2, "horizon": 200, "side": 8}

EXPERIMENTS = (
    Experiment(
        id="pi-table1",
        paper="π-GP-UCB",
        figure="Table 1",
        title="regret over that of uniform choice, and time, in one to three dimensions",
        minutes=45,
        sizes={
            "page": {**_SYNTHETIC, "dimensions": [1, 2, 3], "igpucb_3d_runs": 3},
            "full": {"igpucb_3d_runs": 12},
            "quick": {**_SMALL, "igpucb_3d_runs": 1},
        },
        tasks=_synthetic_tasks,
        plot=_plot_table,
        measure=_measure_table,
    ),
    Experiment(
        id="pi-fig1",
        paper="π-GP-UCB",
        figure="Figure 1",
        title="two dimensions: regret, regret per step, time per step",
        minutes=1,
        sizes={"page": {**_SYNTHETIC, "dimensions": [2]}, "quick": _SMALL},
        tasks=_synthetic_tasks,
        plot=_plot_plane,
        measure=_measure_plane,
    ),
    Experiment(
        id="pi-fig2",
        paper="π-GP-UCB",
        figure="Figure 2",
        title="four two-dimensional problems of global optimisation",
        minutes=3,
        sizes={
            "page": {"runs": 8, "horizon": 10_000, "side": 30},
            "quick": {"runs": 2, "horizon": 200, "side": 10},
        },
        tasks=_classic_tasks,
        plot=_plot_classics,
        measure=_measure_classics,
    ),
)
