"""GP-UCB with and without truncation (Ray Chowdhury & Gopalan 2019): Figure 1 (f)."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret._types import Floats
from noregret.algorithms import make
from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import interval, panels, styles
from noregret.experiments.tasks import Task, grid
from noregret.kernels import RBF
from noregret.problems.kernel_sums import LINE, line
from noregret.problems.noise import Noise
from noregret.widths.evidence import Evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KERNEL = RBF(0.2)
_NAMES = {"gpucb": "GP-UCB", "tgpucb": "GP-UCB with truncation"}
#: "η takes values in {−10, 10}, uniformly, for any single random point": once, or every time?
_SIGNS = {"run": "once a run", "round": "at every evaluation"}
#: the magnitude of the noise, which only one point has
_JUMP = 10.0


def function() -> Floats:
    """f on the line (100), normalised to [0, 1]; all runs have the same f and different noise."""
    f = line(_KERNEL, Noise("student", 3.0), np.random.default_rng([2019, 16])).values()
    return np.asarray((f - f.min()) / np.ptp(f))


def _width(evidence: Evidence) -> float:
    """β_t = ln t, t counted from 1."""
    return math.log(evidence.t + 1)


def confidence(algorithm: str, signs: str, horizon: int, seed: int) -> pl.DataFrame:
    """Posterior after rounds with noise ±10 at one random point and none elsewhere: a row per x.

    ``signs``: ``"run"``, the noise's sign is drawn once; ``"round"``, at every evaluation. The
    truncated rewards are TGP-UCB's with α = 1 and v = 1, whose level is t^(1/4).
    """
    f = function()
    rng = np.random.default_rng([2019, 16, seed])
    place = int(rng.integers(len(f)))
    jumps = rng.choice([-_JUMP, _JUMP], size=horizon)
    if signs == "run":
        jumps[:] = jumps[0]
    moments = {"alpha": 1.0, "v": 1.0} if algorithm == "tgpucb" else {}
    opt = make(algorithm, LINE, _KERNEL, lam=1.0, width=_width, seed=seed, **moments)
    for t in range(horizon):
        batch = opt.ask()
        opt.tell(batch, f[batch.ids] + jumps[t] * (batch.ids == place))
    mean, std = opt.predict()
    ids = opt.history.ids
    return pl.DataFrame(
        {
            "x": LINE.points[:, 0],
            "f": f,
            "mean": mean,
            "std": std,
            "hits": int(np.sum(ids == place)),
            "average": float(np.mean(f.max() - f[ids])),
        }
    )


def _tasks(settings: Settings) -> Sequence[Task]:
    runs, horizon = range(settings["runs"]), [settings["horizon"]]
    return grid(confidence, seed=runs, signs=_SIGNS, algorithm=_NAMES, horizon=horizon)


def _averaged(table: pl.DataFrame, algorithm: str, signs: str) -> pl.DataFrame:
    """Mean and deviation over runs at each x, as the paper's figure shows them."""
    part = table.filter(algorithm=algorithm, signs=signs)
    return part.group_by("x").agg(pl.col("f", "mean", "std").mean()).sort("x")


def _plot(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(len(_SIGNS))
    for axis, (signs, words) in zip(axes, _SIGNS.items(), strict=True):
        axis.plot(LINE.points[:, 0], function(), color="0.7", lw=4, label="f")
        for (name, label), style in zip(_NAMES.items(), styles(list(_NAMES)).values(), strict=True):
            part = _averaged(table, name, signs)
            x, mean, std = (part[key].to_numpy() for key in ("x", "mean", "std"))
            axis.plot(x, mean, label=label, markevery=12, **style)
            axis.fill_between(x, mean - std, mean + std, color=style["color"], alpha=0.15, lw=0)
        axis.set(
            title=f"noise's sign drawn {words}", xlabel="x", ylabel="posterior mean ± deviation"
        )
        axis.legend(frameon=False, fontsize=7)
    return {"": figure}


def _measure(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    """Errors of the averaged posterior and of single runs, and how many points their sets hold."""
    rows = []
    values: dict[str, dict[str, Any]] = {"error": {}, "inside": {}, "hit": {}}
    for signs, words in _SIGNS.items():
        for name, label in _NAMES.items():
            mean = _averaged(table, name, signs)
            off = np.abs(mean["mean"].to_numpy() - mean["f"].to_numpy())
            inside = 100.0 * float(np.mean(off <= mean["std"].to_numpy()))
            part = table.filter(algorithm=name, signs=signs)
            part = part.with_columns(error=(pl.col("mean") - pl.col("f")).abs())
            each = part.group_by("seed").agg(
                pl.col("error").max(),
                (100.0 * (pl.col("error") <= pl.col("std"))).mean().alias("inside"),
                pl.col("average", "hits").first(),
            )
            error, half = interval(each["error"])
            met = int((each["hits"] > 0).sum())
            rows.append(
                {
                    "noise's sign drawn": words,
                    "algorithm": label,
                    "largest error of the averaged mean": off.max(),
                    "% of points inside the averaged set": inside,
                    "largest error of a run, mean": error,
                    "95 % interval ±": half,
                    "% of points inside a run's set": each["inside"].mean(),
                    "average regret": each["average"].mean(),
                    "runs that met the noise": met,
                }
            )
            for key, value in zip(values, (off.max(), inside, met), strict=True):
                values[key].setdefault(signs, {})[name] = value
    return {"rows": rows, **values}


EXPERIMENTS = (
    Experiment(
        id="heavy-fig1f",
        paper="TGP-UCB",
        figure="Figure 1 (f)",
        title="confidence sets of GP-UCB with and without truncation",
        minutes=3,
        sizes={
            "page": {"runs": 15, "horizon": 10_000},
            "full": {"runs": 50},
            "quick": {"runs": 3, "horizon": 200},
        },
        tasks=_tasks,
        plot=_plot,
        measure=_measure,
    ),
)
