"""BBKB (Calandriello et al. 2020) on NAS-Bench-101: Figures 3, 4 and 7."""

import functools
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret._types import Floats
from noregret.algorithms import make
from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import cut_bands, interval, legend, lines, panels
from noregret.experiments.play import play
from noregret.experiments.tasks import Task, grid
from noregret.kernels import RBF
from noregret.problems.nasbench import nasbench101
from noregret.results import Batch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: the paper prints neither ξ nor λ for this data: we use ξ of its other experiments, and λ = ξ²
_NOISE = 0.01
_LABELS = {
    "global": "Global-BBKB",
    "local": "GlobalLocal-BBKB",
    "evolution": "regularised evolution",
}
#: "bandwidth" of D.2, with and without initial evaluations
_BANDWIDTH, _BANDWIDTH_ALONE = 125.0, 100.0
#: axis labels, by the columns they show
_AXES = {
    "ratio": "cumulative regret / uniform's",
    "simple": "simple regret, accuracy",
    "batch": "batch size",
    "seconds": "processor time, s",
    "hours": "total time with training, h",
}
#: simple regret is also reported after this many evaluations
_EARLY = 100
_NASBENCH = functools.cache(nasbench101)


def run(
    algorithm: str, initial: int, bandwidth: float, horizon: int, arms: int, seed: int
) -> pl.DataFrame:
    """Run one algorithm after ``initial`` uniform evaluations, on at most ``arms`` networks.

    The table has the columns of ``play``, which begins after the initial evaluations, and four
    more. ``ratio``: cumulative regret over the expected regret of uniform choice. ``hours``:
    processor time and training time; a batch trains at once and takes as long as its slowest
    network. ``start``: processor seconds of taking in the initial evaluations. ``initial_gap``:
    their simple regret.
    """
    data = _NASBENCH()
    rng = np.random.default_rng([2020, 3, seed])
    repeat = rng.integers(3, size=horizon)  # which of a network's three runs evaluation t returns
    kept = np.sort(rng.choice(len(data.f), min(arms, len(data.f)), replace=False))
    f, repeats, seconds = data.f[kept], data.repeats[kept], data.seconds[kept]
    options: dict[str, Any]
    if algorithm == "evolution":
        name, options = "regularizedevolution", {"features": data.features[kept]}
    else:
        name, options = "bbkb", {"batch_rule": algorithm, "qbar": 2.0}
    opt = make(
        name, data.X[kept], RBF(bandwidth), noise=_NOISE, norm=1.0, delta=1.0 / horizon,
        lam=_NOISE**2, seed=seed, width="practical", **options,
    )  # fmt: skip
    best = float(f.max())
    start, gap = 0.0, None
    if initial:
        ids = rng.choice(len(f), initial, replace=False)
        told = repeats[ids, rng.integers(3, size=initial)]
        started = time.process_time()
        opt.tell(ids, told)
        if algorithm != "evolution":
            _ = opt.beta  # BLESS draws the dictionary from the initial evaluations here
        start = time.process_time() - started
        gap = best - float(f[ids].max())
    asked: list[Batch] = []

    def values(batch: Batch) -> Floats:
        asked.append(batch)
        return np.asarray(f[batch.ids])

    def rewards(value: Floats, t: int) -> Floats:
        return np.asarray(repeats[asked[-1].ids, repeat[t : t + len(value)]])

    marks = np.unique(np.geomspace(min(10, horizon), horizon, 40).round().astype(np.int64))
    frame = play(opt, horizon, values, rewards, best, marks=marks)
    training = np.cumsum([seconds[batch.ids].max() for batch in asked])
    uniform = best - float(f.mean())
    return frame.with_columns(
        (pl.col("regret") / (pl.col("t") * uniform)).alias("ratio"),
        ((pl.Series(training[frame["batches"].to_numpy() - 1]) + pl.col("seconds")) / 3600.0).alias(
            "hours"
        ),
        pl.lit(start).alias("start"),
        pl.lit(gap, dtype=pl.Float64).alias("initial_gap"),
    )


def _tasks(settings: Settings, starts: Mapping[int, float]) -> Sequence[Task]:
    """Every algorithm after each number of initial evaluations, with its bandwidth."""
    shared = {"horizon": [settings["horizon"]], "arms": [settings["arms"]]}
    tasks: list[Task] = []
    for n, width in starts.items():
        runs = {"seed": range(settings["runs"]), "algorithm": _LABELS}
        tasks += grid(run, initial=[n], bandwidth=[width], **runs, **shared)
    return tasks


def _initial_tasks(settings: Settings) -> Sequence[Task]:
    return _tasks(settings, {settings["initial"]: _BANDWIDTH})


def _alone_tasks(settings: Settings) -> Sequence[Task]:
    return _tasks(settings, {0: _BANDWIDTH_ALONE})


def _both_tasks(settings: Settings) -> Sequence[Task]:
    return [*_initial_tasks(settings), *_alone_tasks(settings)]


def _panel(axis: "Axes", table: pl.DataFrame, column: str) -> None:
    lines(axis, table, "t", column, "algorithm", _LABELS)
    axis.set(xlabel="evaluations", ylabel=_AXES[column], xscale="log")
    if column == "simple":  # in the end it is 0
        axis.set_yscale("symlog", linthresh=1e-4)
    elif column != "ratio":
        axis.set_yscale("log")
    cut_bands([axis])


def _plot(
    table: pl.DataFrame, settings: Settings, columns: Sequence[str], across: int
) -> "Mapping[str, Figure]":
    figure, axes = panels(len(columns), columns=across, height=2.8)
    for axis, column in zip(axes, columns, strict=True):
        _panel(axis, table, column)
    legend(figure, axes[0])
    return {"": figure}


def _plot_regrets(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(3)
    known, alone = (table.filter((pl.col("initial") > 0) == has) for has in (True, False))
    start = f"{settings['initial']:,} initial evaluations"
    titles = (start, start, "no initial evaluations")
    shown = ((known, "ratio"), (known, "simple"), (alone, "simple"))
    for axis, (part, column), title in zip(axes, shown, titles, strict=True):
        _panel(axis, part, column)
        axis.set_title(title)
    cut_bands(axes[1:])
    legend(figure, axes[0])
    return {"": figure}


def _measure(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    """All numbers at the end of the runs, with and without initial evaluations."""
    last = table.filter(t=settings["horizon"])
    early = table.filter(t=table["t"].filter(table["t"] <= _EARLY).max())
    rows: list[dict[str, Any]] = []
    found: dict[str, dict[str, dict[str, float]]] = {}
    for initial in sorted(last["initial"].unique(), reverse=True):
        names = found.setdefault("initial" if initial else "alone", {})
        for name, label in _LABELS.items():
            chosen = {"initial": initial, "algorithm": name}
            part = last.filter(**chosen)
            means = {column: interval(part[column]) for column in ("ratio", "simple", "hours")}
            rest = {column: interval(part[column])[0] for column in ("seconds", "batches", "start")}
            rest["early"] = interval(early.filter(**chosen)["simple"])[0]
            largest = table.filter(**chosen).group_by("seed").agg(pl.max("batch"))
            rest["largest"] = interval(largest["batch"])[0]
            rest["behind"] = _behind(table.filter(initial=initial), name)
            best = int((part["simple"] == 0.0).sum())
            names[name] = {**{k: mean for k, (mean, _) in means.items()}, **rest, "found": best}
            rows.append(
                {
                    "initial evaluations": initial,
                    "algorithm": label,
                    "runs": len(part),
                    "regret ratio": means["ratio"][0],
                    "ratio ±": means["ratio"][1],
                    f"simple regret, t = {early['t'][0]}": rest["early"],
                    "simple regret": means["simple"][0],
                    "simple ±": means["simple"][1],
                    "runs that found the best": best,
                    "batches": rest["batches"],
                    "processor s": rest["seconds"],
                    "hours with training": means["hours"][0],
                }
            )
    gaps = last["initial_gap"].drop_nulls()
    gap = interval(gaps)[0] if len(gaps) else None
    return {"rows": rows, "end": found, "initial_gap": gap}


def _behind(table: pl.DataFrame, name: str) -> int:
    """The largest t at which evolution has taken less processor time than this algorithm, or 0."""
    mean = table.group_by("t", "algorithm").agg(pl.mean("seconds"))
    both = mean.pivot("algorithm", index="t", values="seconds")
    return max(both.filter(pl.col("evolution") < pl.col(name))["t"].to_list(), default=0)


_SIZES: dict[str, Settings] = {
    "page": {"runs": 10, "initial": 2000, "horizon": 10_000, "arms": 12_416},
    "quick": {"runs": 2, "initial": 200, "horizon": 200, "arms": 800},
}

EXPERIMENTS = (
    Experiment(
        id="bbkb-fig3",
        paper="BBKB",
        figure="Figure 3",
        title="NAS-Bench-101: time, batch sizes, total time with training",
        minutes=1,
        sizes=_SIZES,
        tasks=_initial_tasks,
        plot=functools.partial(_plot, columns=("seconds", "batch", "hours"), across=3),
        measure=_measure,
    ),
    Experiment(
        id="bbkb-fig4",
        paper="BBKB",
        figure="Figure 4",
        title="NAS-Bench-101: regret, and simple regret with and without initial evaluations",
        minutes=2,
        sizes=_SIZES,
        tasks=_both_tasks,
        plot=_plot_regrets,
        measure=_measure,
    ),
    Experiment(
        id="bbkb-fig7",
        paper="BBKB",
        figure="Figure 7",
        title="NAS-Bench-101 without initial evaluations: regret, batch sizes, times",
        minutes=1,
        sizes=_SIZES,
        tasks=_alone_tasks,
        plot=functools.partial(_plot, columns=("ratio", "batch", "seconds", "hours"), across=2),
        measure=_measure,
    ),
)
