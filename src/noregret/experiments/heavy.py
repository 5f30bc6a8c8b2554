"""TGP-UCB and ATA-GP-UCB (Ray Chowdhury & Gopalan 2019): Figure 1 (a) to (c), functions of an RKHS.

Also what the other parts of the figure share: the rows, panels and numbers of average regret.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.algorithms import make
from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import cut_bands, interval, legend, lines, panels, styles
from noregret.experiments.heavy_bounds import Case, curves, rough_lower, smooth_lower
from noregret.experiments.play import play
from noregret.experiments.tasks import Task, grid
from noregret.kernels import RBF, Kernel, Matern
from noregret.problems.kernel_sums import LINE, line
from noregret.problems.noise import Noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: names in the legends; the last two algorithms are ours and not in the paper
LABELS = {
    "tgp": "TGP-UCB",
    "qff": "ATA-GP-UCB-QFF",
    "nystrom": "ATA-GP-UCB-Nyström",
    "robust": "Robust UCB",
    "huber": "HuberGPUCB (ours)",
    "clipped": "ClippedGPUCB (ours)",
}
#: pairs of algorithms: by the paper the first should have less regret than the second
_PAIRS = (("nystrom", "tgp"), ("qff", "tgp"), ("nystrom", "qff"), ("nystrom", "robust"))
#: widths "set order-wise similar to those recommended by theory", widths of the paper's theorems,
#: and that of our own, which every panel shows
WIDTHS = {
    "practical": "practical widths",
    "paper": "widths of the theorems",
    "theory": "width of Theorem 8 (ours)",
}


def marks(horizon: int) -> Ints:
    """Evaluation numbers to report: 60 evenly spaced ones, with three quarters of the horizon."""
    return np.unique(np.ceil(np.arange(1, 61) * horizon / 60).astype(np.int64))


def options(algorithm: str, alpha: float, v: float, horizon: int, nodes: int) -> dict[str, Any]:
    """The name and the options of an algorithm, with λ = 1 and ε = 0.1 as in the paper.

    Our proved algorithm has several λ, and must also be told a true noise and norm.
    """
    if algorithm == "clipped":
        return {"name": "clippedgpucb", "alpha": alpha, "horizon": horizon}
    moments = {"alpha": alpha, "v": v}
    features = {"epsilon": 0.1, "horizon": horizon}
    known: dict[str, dict[str, Any]] = {
        "tgp": {"name": "tgpucb", **moments},
        "qff": {"name": "atagpucb", "features": "qff", "nodes": nodes, **moments, **features},
        "nystrom": {"name": "atagpucb", "features": "nystrom", **moments, **features},
        "robust": {"name": "robustucb", **moments},
        "huber": {"name": "hubergpucb"},
    }
    return {"lam": 1.0, "bounds": "current", **known[algorithm]}


@dataclass(frozen=True)
class _Line:
    """A kind of random function on the line: its kernel, its noise, and the moments that are told.

    ``v`` bounds E|y|^(1+α), and ``spread`` bounds (E|y − f|^(1+α))^(1/(1+α)). ``lower`` is the
    order of the paper's lower bound.
    """

    number: int
    kernel: Kernel
    noise: Noise
    alpha: float
    v: float
    spread: float
    lower: Callable[[Floats], Floats]


# With B = 1: E y² ≤ B² + 3 for Student's t, E y^(1+α) ≤ B^(1+α) / (2^α (1 − α)) for Pareto.
# For Pareto with mean 1, (E|y − 1|^1.9)^(1/1.9) is 2.195.
_PARETO = 1.0 / (2**0.9 * 0.1)
_LINES = {
    "student": _Line(
        11, RBF(0.2), Noise("student", 3.0), 1.0, 4.0, math.sqrt(3.0), smooth_lower(1.0, 4.0, 1.0)
    ),
    "pareto": _Line(
        12, RBF(0.2), Noise("pareto", 2.0), 0.9, _PARETO, 2.2, smooth_lower(0.9, _PARETO, 1.0)
    ),
    "matern": _Line(
        13, Matern(0.2, nu=2.5), Noise("student", 3.0), 1.0, 4.0, math.sqrt(3.0),
        rough_lower(1.0, 4.0, 1.0, 2.5),
    ),
}  # fmt: skip
#: quadrature nodes on the line
_NODES = 32


def regret(problem: str, algorithm: str, width: str, horizon: int, seed: int) -> pl.DataFrame:
    """The regret of one algorithm on one random function on the line: a row per checkpoint."""
    case = _LINES[problem]
    rng = np.random.default_rng([2019, case.number, seed])
    drawn = line(case.kernel, case.noise, rng)
    f = drawn.values()
    rewards = case.noise.paired(horizon, rng)
    told = options(algorithm, case.alpha, case.v, horizon, _NODES)
    told |= {"noise": case.spread, "norm": drawn.norm} if algorithm == "clipped" else {"norm": 1.0}
    opt = make(told.pop("name"), drawn.domain, case.kernel, width=width, seed=seed, **told)
    frame = play(
        opt, horizon, lambda batch: np.asarray(f[batch.ids]), rewards, drawn.optimum,
        marks=marks(horizon),
    )  # fmt: skip
    return frame.with_columns(uniform=float(f.max() - f.mean()))


def line_bounds(problem: str, horizon: int) -> pl.DataFrame:
    """The theorems' bounds on average regret, for functions on the line with B = 1."""
    case = _LINES[problem]
    gram = case.kernel(LINE.points, LINE.points)
    features = (2 * _NODES, gram) if isinstance(case.kernel, RBF) else None
    told = Case(gram, case.alpha, case.v, 1.0, 1.0, features, case.lower)
    return curves(told, marks(horizon))


# -- panels and numbers of average regret --------------------------------------------------------


def regret_tasks(
    settings: Settings, function: Callable[..., pl.DataFrame], problem: str, names: Sequence[str]
) -> list[Task]:
    """Tasks of some algorithms on a problem.

    The first ``theory_runs`` runs also use the widths of the theorems, which the paper's figure
    does not show. ``HuberGPUCB``, which has no theorem, runs for ``huber_horizon`` rounds, and
    ``ClippedGPUCB`` has the width of its own theorem only.
    """
    wanted: list[Task] = []
    for seed in range(settings["runs"]):
        for name in names:
            horizon = settings["huber_horizon" if name == "huber" else "horizon"]
            widths = ["theory" if name == "clipped" else "practical"]
            if name not in ("huber", "clipped") and seed < settings["theory_runs"]:
                widths.append("paper")
            run = {"problem": [problem], "algorithm": [name], "horizon": [horizon]}
            wanted += grid(function, **run, width=widths, seed=[seed])
    return wanted


def plot_regret(table: pl.DataFrame, settings: Settings, unit: str = "") -> "Mapping[str, Figure]":
    """Average regret against rounds, a panel for each kind of width, and the theorems' bounds."""
    bounds = table.filter(pl.col("bound") > 0)
    table = table.filter(pl.col("regret").is_not_null())
    table = table.with_columns(average=pl.col("regret") / pl.col("t"))
    found = [width for width in WIDTHS if width != "theory" and width in table["width"]]
    figure, axes = panels(len(found) + 1, height=3.6)
    for axis, width in zip(axes, found, strict=False):
        part = table.filter(pl.col("width").is_in([width, "theory"]))
        uniform = float(np.mean(part["uniform"].to_numpy()))
        lines(axis, part, "t", "average", "algorithm", LABELS)
        axis.axhline(uniform, color="0.5", lw=0.8, label="uniform choice")
        runs = part.filter(width=width)["seed"].n_unique()
        axis.set(
            title=f"{WIDTHS[width]}, {runs} {'run' if runs == 1 else 'runs'}",
            xlabel="rounds $T$",
            ylabel=f"average regret $R_T/T${unit}",
        )
    cut_bands(axes[:-1])
    draw_bounds(axes[-1], table.filter(pl.col("width").is_in([found[-1], "theory"])), bounds)
    legend(figure, axes[0], columns=3)
    return {"": figure}


def draw_bounds(axis: "Axes", table: pl.DataFrame, bounds: pl.DataFrame) -> None:
    """Measured average regret, and the theorems' bounds on it as dashed lines, on a log scale."""
    lines(axis, table, "t", "average", "algorithm", LABELS)
    colours = {name: style["color"] for name, style in styles(list(LABELS)).items()}
    theorems = bounds.sort("theorem", "t").group_by("theorem", maintain_order=True)
    for i, ((number,), part) in enumerate(theorems):
        name = part["algorithm"][0]
        at, bound = part["t"].to_numpy(), part["bound"].to_numpy()
        axis.plot(at, bound, linestyle="--", color=colours.get(name, "0.4"), lw=1.2)
        words = f"Theorem {number}" if name else f"order of Theorem {number} (from below)"
        middle = int((0.25 + 0.2 * i) * len(at))  # curves lie close together: labels side by side
        axis.annotate(words, (at[middle], bound[middle]), ha="center", va="bottom", fontsize=7)
    axis.set_yscale("log")
    axis.set(title="dashed: bounds of the theorems", xlabel="rounds $T$")
    cut_bands([axis])


def measure_regret(table: pl.DataFrame, settings: Settings) -> dict[str, Any]:
    """Average regret at the end: a row per algorithm and width, and who was ahead how often."""
    rows: list[dict[str, Any]] = []
    ends: dict[tuple[str, str], Floats] = {}
    values: dict[str, dict[str, Any]] = {"average": {}, "late": {}, "uniform": {}}
    for width, words in WIDTHS.items():
        for name in LABELS:
            part = table.filter(width=width, algorithm=name)
            if part.is_empty():
                continue
            last = part.filter(pl.col("t") == pl.col("horizon")).sort("seed")
            horizon = int(last["horizon"][0])
            before = part.filter(pl.col("t") <= 0.75 * pl.col("horizon")).sort("t")
            before = before.group_by("seed").last().sort("seed")
            late = (last["regret"] - before["regret"]) / (last["t"] - before["t"])
            average = last["regret"].to_numpy() / horizon
            ends[width, name] = average
            mean, half = interval(average)
            rows.append(
                {
                    "widths": words,
                    "algorithm": LABELS[name],
                    "runs": len(average),
                    "rounds T": horizon,
                    "R_T / T": mean,
                    "95 % interval ±": half,
                    "deviation over runs": average.std(ddof=1) if len(average) > 1 else None,
                    "average regret, last quarter": late.mean(),
                    "uniform choice": last["uniform"].mean(),
                    "s a run": last["seconds"].mean(),
                }
            )
            for key, value in (("average", mean), ("late", late.mean())):
                values[key].setdefault(width, {})[name] = value
            values["uniform"][width] = last["uniform"].mean()
    return {"rows": rows, **values, "ahead": _ahead(ends)}


def _ahead(ends: Mapping[tuple[str, str], Floats]) -> dict[str, dict[str, dict[str, float]]]:
    """By how much, and in how many runs, one algorithm is ahead of another, by width.

    Runs with the same seed have the same function and noise, so differences are taken run by run.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for width in WIDTHS:
        for one, other in _PAIRS:
            if (width, one) in ends and (width, other) in ends:
                lead = ends[width, other] - ends[width, one]
                by, half = interval(lead)
                pair = {"by": by, "half": half, "runs": int(np.sum(lead > 0)), "of": len(lead)}
                found.setdefault(width, {})[f"{one}_{other}"] = pair
    return found


def regret_experiment(
    name: str,
    figure: str,
    title: str,
    minutes: float,
    tasks: Callable[[Settings], Sequence[Task]],
    *,
    runs: int,
    full: int,
    theory_runs: int = 0,
    unit: str = "",
    measure: Callable[[pl.DataFrame, Settings], Mapping[str, Any]] = measure_regret,
) -> Experiment:
    """A part of Figure 1 over 20,000 rounds; ``full``: the paper's number of runs."""
    page = {"runs": runs, "horizon": 20_000, "theory_runs": theory_runs, "huber_horizon": 4000}
    return Experiment(
        id=name,
        paper="TGP-UCB",
        figure=figure,
        title=title,
        minutes=minutes,
        sizes={
            "page": page,
            "full": {"runs": full},
            "quick": {"runs": 2, "horizon": 120, "huber_horizon": 60},
        },
        tasks=tasks,
        plot=partial(plot_regret, unit=unit),
        measure=measure,
    )


def _line_tasks(settings: Settings, problem: str, names: Sequence[str]) -> list[Task]:
    """Tasks of some algorithms on the line, and the task of the theorems' bounds."""
    tasks = regret_tasks(settings, regret, problem, names)
    return [*tasks, Task(line_bounds, {"problem": problem, "horizon": settings["horizon"]})]


def _part(
    letter: str, problem: str, title: str, minutes: float, names: Sequence[str], **others: Any
) -> Experiment:
    tasks = partial(_line_tasks, problem=problem, names=names)
    figure = f"Figure 1 ({letter})"
    return regret_experiment(
        f"heavy-fig1{letter}", figure, title, minutes, tasks, runs=5, full=20, **others
    )


_NAMES = ("tgp", "qff", "nystrom", "huber", "clipped")
_WITHOUT_QFF = ("tgp", "nystrom", "huber", "clipped")

EXPERIMENTS = (
    _part(
        "a", "student", "average regret, SE kernel, Student-t(3) noise", 8, _NAMES, theory_runs=5
    ),
    _part("b", "pareto", "average regret, SE kernel, Pareto(2) rewards", 6, _NAMES),
    _part("c", "matern", "average regret, Matérn-5/2 kernel, Student-t(3)", 7, _WITHOUT_QFF),
)
