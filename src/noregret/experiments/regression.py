"""BBKB (Calandriello et al. 2020) on Abalone and California housing: Figures 1, 2, 5 and 6."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.algorithms import BBKB, BKB, GPBUCB, GPUCB, EpsilonGreedy
from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import cut_bands, interval, legend, lines, panels
from noregret.experiments.play import play
from noregret.experiments.tasks import Task, grid
from noregret.experiments.tenth_ts import TenthTS
from noregret.kernels import RBF
from noregret.optimizer import Optimizer
from noregret.problems import datasets
from noregret.problems.noise import Noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: ξ of Section 5
_NOISE = 0.01
#: the evaluations that Figure 2 times
_TIMED = 2000
_DATA = {"abalone": "Abalone", "cadata": "California housing"}
#: read once in a process
_LOADERS = {
    "abalone": functools.cache(datasets.abalone),
    "cadata": functools.cache(datasets.california_housing),
}


#: by name in the tables: name in the legend, algorithm, its options
_ALGORITHMS: dict[str, tuple[str, Callable[..., Optimizer], dict[str, Any]]] = {
    "global": ("Global-BBKB", BBKB, {"qbar": 2.0}),
    "local": ("GlobalLocal-BBKB", BBKB, {"qbar": 2.0, "batch_rule": "local"}),
    "bkb": ("BKB", BKB, {"qbar": 2.0}),
    "gpucb": ("GP-UCB", GPUCB, {}),
    "gpbucb": ("GP-BUCB", GPBUCB, {}),
    "asyncts": ("AsyncTS", TenthTS, {"batch_size": 30}),
    "greedy": ("ε-greedy", EpsilonGreedy, {}),
}
_LABELS = {name: label for name, (label, _, _) in _ALGORITHMS.items()}
#: algorithms that decide after every evaluation, or after every 30, and take longest
_SLOW = ("bkb", "gpucb", "asyncts", "greedy")
#: Table 1 of the appendix; it has no row for ε-greedy, which gets BBKB's
_BANDWIDTHS: dict[str, dict[str, float]] = {
    "abalone": {
        "global": 17.5,
        "local": 17.5,
        "bkb": 17.5,
        "gpucb": 5.0,
        "gpbucb": 12.5,
        "asyncts": 10.0,
        "greedy": 17.5,
    },
    "cadata": {**dict.fromkeys(_ALGORITHMS, 12.5), "asyncts": 10.0},
}
_SWEEP = (5.0, 7.5, 10.0, 12.5, 15.0, 17.5)


def marks(horizon: int) -> Ints:
    """The evaluations to report: evenly spaced in the logarithm, and four of Figure 2."""
    spaced = np.geomspace(min(10, horizon), horizon, 20).round().astype(np.int64)
    timed = np.arange(500, _TIMED + 1, 500)
    return np.unique(np.concatenate([spaced, timed[timed < horizon]]))


def run(
    data: str, algorithm: str, bandwidth: float, horizon: int, lam: float, arms: int, seed: int
) -> pl.DataFrame:
    """Run one algorithm on a data set with at most ``arms`` candidates: a row per mark.

    The table has the columns of ``play`` and ``ratio``: cumulative regret over the expected regret
    of uniform choice, t (f* − mean f).
    """
    rng = np.random.default_rng([2020, 1, seed])
    rewards = Noise("gaussian", _NOISE).paired(horizon, rng)
    X, f = _subset(_LOADERS[data](), arms, rng)
    _, kind, options = _ALGORITHMS[algorithm]
    # F = 1, δ = 1/T, q̄ = 2 (D.1); the width is that of the authors' published code.
    opt = kind(
        X, RBF(bandwidth), noise=_NOISE, norm=1.0, delta=1.0 / horizon, lam=lam, seed=seed,
        width="practical", **options,
    )  # fmt: skip
    best = float(f.max())
    frame = play(
        opt, horizon, lambda batch: np.asarray(f[batch.ids]), rewards, best, marks=marks(horizon)
    )
    uniform = best - float(f.mean())
    return frame.with_columns((pl.col("regret") / (pl.col("t") * uniform)).alias("ratio"))


def _subset(data: datasets.Dataset, arms: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    if arms >= len(data.f):
        return data.X, data.f
    kept = rng.choice(len(data.f), arms, replace=False)
    return data.X[kept], data.f[kept]


def _repetitions(settings: Settings, algorithm: str) -> int:
    runs: int = settings["runs"]
    return min(runs, settings["slow_runs"]) if algorithm in _SLOW else runs


def _tasks(settings: Settings, data: str, algorithm: str, bandwidth: float) -> list[Task]:
    return grid(
        run,
        data=[data],
        algorithm=[algorithm],
        bandwidth=[bandwidth],
        lam=settings["lams"],
        seed=range(_repetitions(settings, algorithm)),
        horizon=[settings["horizon"]],
        arms=[settings["arms"]],
    )


# -- Figures 1 and 2: the bandwidths of Table 1 ----------------------------------------------------


def _table_tasks(settings: Settings) -> Sequence[Task]:
    return [
        task
        for data, bandwidths in _BANDWIDTHS.items()
        for algorithm in _ALGORITHMS
        for task in _tasks(settings, data, algorithm, bandwidths[algorithm])
    ]


def _plot_ratios(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    return _plot(table, settings, "ratio", "cumulative regret / uniform's", xscale="log")


def _plot_times(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    # The first 30 evaluations are one batch of AsyncTS, chosen before there is a model to compute.
    timed = table.filter(pl.col("t").is_between(30, _TIMED, closed="right"))
    return _plot(timed, settings, "seconds", "processor time, s", xscale="linear")


def _plot(
    table: pl.DataFrame, settings: Settings, y: str, label: str, xscale: str
) -> "Mapping[str, Figure]":
    """A figure for each λ, a panel for each data set."""
    drawn = {}
    for lam in settings["lams"]:
        figure, axes = panels(len(_DATA))
        for axis, (data, title) in zip(axes, _DATA.items(), strict=True):
            part = table.filter(lam=lam, data=data)
            lines(axis, part, "t", y, "algorithm", _LABELS)
            axis.set(title=f"{title}, λ = {lam:g}", xscale=xscale, yscale="log")
            axis.set(xlabel="evaluations", ylabel=label)
            cut_bands([axis])
        legend(figure, axes[0])
        drawn[f"-lam{lam:g}"] = figure
    return drawn


def _measure_ratios(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    last = table.filter(t=settings["horizon"])
    rows, ratio = [], _by_lam(settings)
    for lam, data, name, part in _groups(last, settings):
        mean, half = interval(part["ratio"])
        ratio[f"{lam:g}"][data][name] = mean
        rows.append(
            {
                "λ": lam,
                "data": _DATA[data],
                "algorithm": _LABELS[name],
                "bandwidth": _BANDWIDTHS[data][name],
                "runs": len(part),
                "regret ratio": mean,
                "95 % interval ±": half,
                "smallest": part["ratio"].min(),
                "largest": part["ratio"].max(),
                "batches": part["batches"].mean(),
            }
        )
    return {"rows": rows, "ratio": ratio}


def _measure_times(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    end = min(_TIMED, settings["horizon"])
    rows, seconds = [], _by_lam(settings)
    for lam, data, name, part in _groups(table.filter(t=end), settings):
        mean, half = interval(part["seconds"])
        found = seconds[f"{lam:g}"][data]
        found[name] = mean
        rows.append(
            {
                "λ": lam,
                "data": _DATA[data],
                "algorithm": _LABELS[name],
                "runs": len(part),
                f"s for {end:,} evaluations": mean,
                "95 % interval ±": half,
                "times Global-BBKB's": mean / found["global"],
                "batches": part["batches"].mean(),
            }
        )
    return {"rows": rows, "seconds": seconds}


def _by_lam(settings: Settings) -> dict[str, dict[str, dict[str, float]]]:
    return {f"{lam:g}": {data: {} for data in _DATA} for lam in settings["lams"]}


def _groups(table: pl.DataFrame, settings: Settings) -> list[tuple[float, str, str, pl.DataFrame]]:
    """The runs of each algorithm on each data set with each λ, in the order of the legend."""
    return [
        (lam, data, name, table.filter(lam=lam, data=data, algorithm=name))
        for lam in settings["lams"]
        for data in _DATA
        for name in _ALGORITHMS
    ]


# -- Figures 5 and 6: one bandwidth for all --------------------------------------------------------


def _sweep_tasks(settings: Settings) -> Sequence[Task]:
    return [
        task
        for bandwidth in settings["bandwidths"]
        for algorithm in _ALGORITHMS
        for task in _tasks(settings, settings["data"], algorithm, bandwidth)
    ]


def _plot_sweep(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    """A figure for each λ, a panel for each bandwidth."""
    drawn = {}
    for lam in settings["lams"]:
        figure, axes = panels(len(settings["bandwidths"]), height=2.8)
        for axis, bandwidth in zip(axes, settings["bandwidths"], strict=True):
            part = table.filter(lam=lam, bandwidth=bandwidth)
            lines(axis, part, "t", "ratio", "algorithm", _LABELS)
            axis.set(title=f"bandwidth {bandwidth:g}, λ = {lam:g}", xscale="log", yscale="log")
            axis.set(xlabel="evaluations", ylabel="regret / uniform's")
        cut_bands(axes)
        legend(figure, axes[0])
        drawn[f"-lam{lam:g}"] = figure
    return drawn


def _measure_sweep(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    last = table.filter(t=settings["horizon"])
    rows: list[dict[str, Any]] = []
    ratio: dict[str, dict[str, Any]] = {}
    for lam in settings["lams"]:
        found = ratio.setdefault(f"{lam:g}", {})
        for name, label in _LABELS.items():
            part = last.filter(lam=lam, algorithm=name)
            means = {
                bandwidth: interval(part.filter(bandwidth=bandwidth)["ratio"])[0]
                for bandwidth in settings["bandwidths"]
            }
            found[name] = {
                "best": min(means, key=lambda bandwidth: means[bandwidth]),
                "smallest": min(means.values()),
                "largest": max(means.values()),
            }
            columns = {f"bandwidth {bandwidth:g}": mean for bandwidth, mean in means.items()}
            runs = part["seed"].n_unique()
            rows.append({"λ": lam, "algorithm": label, "runs": runs, **columns})
    return {"rows": rows, "ratio": ratio}


#: the paper does not print λ: ξ² as in the example of the authors' code, and a larger one
_LAMS = [1e-4, 1e-2]
_TABLE_SIZES: dict[str, Settings] = {
    "page": {"runs": 10, "slow_runs": 3, "horizon": 10_000, "lams": _LAMS, "arms": 20_640},
    "full": {"slow_runs": 10},
    "quick": {"runs": 2, "slow_runs": 2, "horizon": 60, "arms": 300},
}


def _sweep_sizes(data: str, runs: int) -> dict[str, Settings]:
    page = {
        "data": data,
        "bandwidths": list(_SWEEP),
        "runs": runs,
        "slow_runs": runs,
        "horizon": 1000,
        "lams": _LAMS,
        "arms": 20_640,
    }
    full = {"runs": 10, "slow_runs": 10, "horizon": 10_000}
    quick = {"runs": 2, "horizon": 40, "arms": 300, "bandwidths": [5.0, 17.5]}
    return {"page": page, "full": full, "quick": quick}


EXPERIMENTS = (
    Experiment(
        id="bbkb-fig1",
        paper="BBKB",
        figure="Figure 1",
        title="regret over that of uniform choice, on Abalone and California housing",
        minutes=14,
        sizes=_TABLE_SIZES,
        tasks=_table_tasks,
        plot=_plot_ratios,
        measure=_measure_ratios,
    ),
    Experiment(
        id="bbkb-fig2",
        paper="BBKB",
        figure="Figure 2",
        title="time of 2,000 evaluations on Abalone and California housing",
        minutes=14,
        sizes=_TABLE_SIZES,
        tasks=_table_tasks,
        plot=_plot_times,
        measure=_measure_times,
    ),
    Experiment(
        id="bbkb-fig5",
        paper="BBKB",
        figure="Figure 5",
        title="one bandwidth for all algorithms on Abalone",
        minutes=4,
        sizes=_sweep_sizes("abalone", 10),
        tasks=_sweep_tasks,
        plot=_plot_sweep,
        measure=_measure_sweep,
    ),
    Experiment(
        id="bbkb-fig6",
        paper="BBKB",
        figure="Figure 6",
        title="one bandwidth for all algorithms on California housing",
        minutes=8,
        sizes=_sweep_sizes("cadata", 3),
        tasks=_sweep_tasks,
        plot=_plot_sweep,
        measure=_measure_sweep,
    ),
)
