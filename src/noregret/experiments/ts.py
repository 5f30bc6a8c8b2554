"""ξ-greedy Thompson sampling (Basu & Ghosh 2017), Section 5: Figures 1 to 4."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import cut_bands, interval, legend, lines, panels, styles
from noregret.experiments.tasks import Task, grid
from noregret.experiments.ts_runs import CONVERGED, DRAWS, decay, explained, problem_of, settled
from noregret.problems.peaks import bimodal, unimodal
from noregret.spaces import as_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FUNCTIONS = {"f1": "f¹", "f2": "f²"}
#: the largest σ, which Figure 3 shows
_LOUDEST = 5.0
_KERNELS = ("learnt", "given")
_GIVEN = ", kernel given"


# -- Figure 2: how x_t goes to the maximiser ----------------------------------------------------


def _decay_tasks(settings: Settings) -> Sequence[Task]:
    """Tasks of Figure 2; with the largest σ also runs with a given kernel, for Figure 3."""
    return [
        Task(
            decay,
            {
                "seed": seed,
                "function": function,
                "level": sigma,
                "kernel": kernel,
                "iterations": settings["iterations"],
                "keep": sigma == _LOUDEST,
            },
        )
        for function in _FUNCTIONS
        for sigma in settings["sigmas"]
        for kernel in (_KERNELS if sigma == _LOUDEST else _KERNELS[:1])
        for seed in range(settings["runs"])
    ]


def _stages(table: pl.DataFrame, letter: str) -> pl.DataFrame:
    """Rows of iterations, with σ or β as a text."""
    names = {level: _name(level, letter) for level in table["level"].unique().to_list()}
    named = pl.col("level").replace_strict(names, return_dtype=pl.String)
    given = pl.when(pl.col("kernel") == "given").then(pl.lit(_GIVEN)).otherwise(pl.lit(""))
    return table.filter(pl.col("error").is_not_null()).with_columns(name=named + given)


def _modelled(table: pl.DataFrame, letter: str) -> pl.DataFrame:
    """The same without uniform iterations."""
    return _stages(table, letter).filter(~pl.col("uniform"))


def _name(level: float, letter: str) -> str:
    return f"{letter} = {level:g}"


_ERROR = "log₁₀ of squared relative error of $x_t$"


def _plot_decay(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(4, columns=2)
    stages, names = _stages(table, "σ"), [_name(sigma, "σ") for sigma in settings["sigmas"]]
    names.append(_name(_LOUDEST, "σ") + _GIVEN)
    for column, (function, title) in enumerate(_FUNCTIONS.items()):
        part = stages.filter(function=function)
        one, mean = axes[column], axes[column + 2]
        for name, style in styles(names).items():
            if name not in (names[0], names[-2]):  # five lines of spikes cannot be read
                continue
            run = part.filter(name=name, seed=0).sort("iteration")
            plain = {key: style[key] for key in ("color", "linestyle")}
            one.plot(run["iteration"], run["error"], lw=1, **plain)
        one.set_title(f"{title}, run 0: uniform iterations are spikes")
        lines(mean, part.filter(~pl.col("uniform")), "iteration", "error", "name", names)
        mean.set_title(f"{title}, mean, uniform iterations left out")
        for axis in (one, mean):
            axis.set(xlabel="iteration (30 evaluations)", ylabel=_ERROR)
    cut_bands(axes[2:])  # where all but two runs drew uniformly, the band is very wide
    legend(figure, axes[2], columns=5)
    return {"": figure}


def _rows(stages: pl.DataFrame, letter: str, iterations: int) -> list[dict[str, Any]]:
    """Errors early and late, and when they stay below −2, by σ or β."""
    rows = []
    late = iterations - max(iterations // 10, 1)
    for (level,), part in stages.sort("level").group_by("level", maintain_order=True):
        ends, begins, when, lengths = [], [], [], []
        for _, run in part.sort("iteration").group_by("seed", maintain_order=True):
            tail = run.filter(pl.col("iteration") > late)
            ends.append(float(np.mean((tail if len(tail) else run[-1:])["error"].to_numpy())))
            begins.append(float(run["error"][0]))
            lengths.append(float(run["lengthscale"][-1]))
            when.append(settled(run["iteration"].to_list(), run["error"].to_list()))
        mean, half = interval(ends)
        rows.append(
            {
                letter: level,
                "runs": len(ends),
                "error, first draws": interval(begins)[0],
                "error, last tenth": mean,
                "95 % interval ±": half,
                "runs that end below −2": int(np.sum(np.array(ends) < CONVERGED)),
                "median iteration from which below −2": float(np.median(when)),
                "last lengthscale, shortest": min(lengths),
                "longest": max(lengths),
            }
        )
    return rows


def _measure_decay(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    rows = []
    for (function, kernel), part in _modelled(table, "σ").group_by(
        "function", "kernel", maintain_order=True
    ):
        found = _rows(part, "σ", settings["iterations"])
        rows += [{"function": _FUNCTIONS[str(function)], "kernel": kernel, **r} for r in found]
    keys = [f"{row['function']} {row['σ']:g} {row['kernel']}" for row in rows]
    columns = {
        "end": "error, last tenth",
        "below": "runs that end below −2",
        "runs": "runs",
        "shortest": "last lengthscale, shortest",
    }
    named = {
        name: {key: row[column] for key, row in zip(keys, rows, strict=True)}
        for name, column in columns.items()
    }
    share = {title: 100 * explained(name, _LOUDEST) for name, title in _FUNCTIONS.items()}
    return {"rows": rows, **named, "percent_explained": share}


# -- Figure 3: the distribution of the maximiser -------------------------------------------------


def _distribution_tasks(settings: Settings) -> Sequence[Task]:
    return _decay_tasks({**settings, "sigmas": [_LOUDEST]})


def _draws(table: pl.DataFrame, function: str, kernel: str) -> pl.DataFrame:
    return table.filter(pl.col("a").is_not_null(), function=function, kernel=kernel)


def _plot_distribution(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(6, columns=3)
    for row, kernel in enumerate(_KERNELS):
        line, *planes = axes[3 * row : 3 * row + 3]
        _plot_line(line, _draws(table, "f1", kernel))
        line.set_title(f"f¹, kernel {kernel}")
        draws = _draws(table, "f2", kernel)
        shown = sorted(draws["iteration"].unique().to_list())
        for axis, iteration in zip(planes, (shown[len(shown) // 2], shown[-1]), strict=True):
            _plot_plane(axis, draws.filter(iteration=iteration))
            axis.set_title(f"f², kernel {kernel}, after iteration {iteration}")
    return {"": figure}


def _plot_plane(axis: "Axes", draws: pl.DataFrame) -> None:
    """Draws of all runs on the contours of f²."""
    problem, grid = bimodal(2), np.linspace(0.0, 8.0, 81)
    a, b = np.meshgrid(grid, grid)
    levels = problem.function(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
    axis.contour(a, b, levels, levels=5, colors="0.6", linewidths=0.8)
    axis.scatter(draws["a"], draws["b"], s=8, color="#0072B2", alpha=0.5, lw=0)
    axis.plot(*problem.maximizers[0], "k*", markersize=11, markeredgecolor="w")
    axis.set(xlabel="x₁", ylabel="x₂", xlim=(-0.1, 8.1), ylim=(-0.1, 8.1))


def _plot_line(axis: "Axes", draws: pl.DataFrame) -> None:
    """A histogram on its side for each iteration, all runs together, scaled to its mode."""
    edges = np.linspace(0.0, 8.0, 41)
    shown = sorted(draws["iteration"].unique().to_list())
    for place, iteration in enumerate(shown):
        at = draws.filter(iteration=iteration)["a"].to_numpy()
        heights = np.histogram(at, edges)[0]
        width = 0.9 * heights / heights.max()
        axis.barh(edges[:-1], width, np.diff(edges), place, align="edge", color="#0072B2", lw=0)
    best, local = bimodal(1).maximizers[0, 0], 2.0
    axis.axhline(best, color="k", lw=0.8, ls="--")
    axis.axhline(local, color="k", lw=0.8, ls=":")
    axis.set(
        xlabel="after iteration", ylabel="x (dashed: x*, dotted: local)",
        xticks=np.arange(len(shown)) + 0.45, xticklabels=shown, ylim=(0.0, 8.0),
    )  # fmt: skip


def _measure_distribution(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    """The share of F_t within 1 of x*, and the number of runs in which it is more than half."""
    rows, there, end = [], {}, {}
    kept = table.filter(pl.col("a").is_not_null())
    columns = ["function", "kernel", "iteration"]
    for (function, kernel, iteration), part in kept.group_by(columns, maintain_order=True):
        best = problem_of(str(function), _LOUDEST).maximizers[0]
        points = part.select(list("ab")[: len(best)]).to_numpy()
        distance = np.linalg.norm(points - best, axis=1).reshape(-1, DRAWS)
        near = (distance < 1.0).mean(axis=1)
        mean, half = interval(near)
        title = _FUNCTIONS[str(function)]
        rows.append(
            {
                "function": title,
                "kernel": kernel,
                "after iteration": iteration,
                "runs": len(near),
                "share within 1 of x*": mean,
                "95 % interval ±": half,
                "runs with more than half": int(np.sum(near > 0.5)),
                "median distance to x*": float(np.median(distance)),
            }
        )
        there[f"{title} {kernel}"], end[f"{title} {kernel}"] = int(np.sum(near > 0.5)), mean
    runs = {f"{row['function']} {row['kernel']}": row["runs"] for row in rows}
    return {"rows": rows, "there": there, "end": end, "runs": runs}


# -- Figure 4: flatter functions -----------------------------------------------------------------


def _flat_tasks(settings: Settings) -> Sequence[Task]:
    shared = {"kernel": ["learnt"], "iterations": [settings["iterations"]], "keep": [False]}
    levels, seeds = settings["betas"], range(settings["runs"])
    return grid(decay, function=["f_beta"], level=levels, seed=seeds, **shared)


def _plot_flat(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, (left, right) = panels(2)
    names = [_name(beta, "β") for beta in settings["betas"]]
    x = np.linspace(0.0, 10.0, 201)
    for beta, style in zip(settings["betas"], styles(names).values(), strict=True):
        left.plot(x, unimodal(beta).function(x[:, None]), markevery=40, **style)
    left.set(xlabel="x", ylabel="$f_β(x)$")
    lines(right, _modelled(table, "β"), "iteration", "error", "name", names)
    right.set(xlabel="iteration (30 evaluations)", ylabel=_ERROR)
    right.legend(frameon=False, fontsize=8, ncols=2)
    return {"": figure}


def _measure_flat(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    rows = _rows(_modelled(table, "β"), "β", settings["iterations"])
    return {"rows": rows, "end": {_name(row["β"], "β"): row["error, last tenth"] for row in rows}}


# -- Figure 1: the functions ---------------------------------------------------------------------


def sampled(seed: int, sigma: float, count: int) -> pl.DataFrame:
    """Noisy evaluations of f¹ at uniform points."""
    problem = bimodal(1, sigma)
    rng = np.random.default_rng([2017, 1, seed])
    _, x = as_box(problem.domain).sample(count, rng)
    return pl.DataFrame({"x": x[:, 0], "f": problem.function(x), "y": problem.draw(x, rng)})


def _function_tasks(settings: Settings) -> Sequence[Task]:
    return grid(sampled, seed=[0], count=[settings["count"]], sigma=settings["sigmas"])


def _plot_functions(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(len(settings["sigmas"]) + 1, columns=2)
    x = np.linspace(0.0, 8.0, 201)
    f = bimodal(1).function(x[:, None])
    for axis, sigma in zip(axes, settings["sigmas"], strict=False):
        part = table.filter(sigma=sigma)
        axis.fill_between(
            x, f - 1.96 * sigma, f + 1.96 * sigma, color="0.85", lw=0, label="95 % of evaluations"
        )
        axis.scatter(part["x"], part["y"], s=8, color="#0072B2", label="evaluations")
        axis.plot(x, f, color="k", label="f¹")
        axis.set(title=f"f¹, σ = {sigma:g}", xlabel="x", ylabel="f¹(x)")
    axes[0].legend(frameon=False, fontsize=8)
    a, b = np.meshgrid(x, x)
    values = bimodal(2).function(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
    filled = axes[-1].contourf(a, b, values, levels=12, cmap="Greys")
    figure.colorbar(filled, ax=axes[-1], label="f²(x)")
    axes[-1].set(title="f²", xlabel="x₁", ylabel="x₂")
    return {"": figure}


def _measure_functions(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    """Where the maxima are, and how large the noise is beside them."""
    rows = []
    for function, title in _FUNCTIONS.items():
        problem = problem_of(function, 1.0)
        rows.append(
            {
                "function": title,
                "x*, each coordinate": float(problem.maximizers[0, 0]),
                "f(x*)": problem.optimum,
                **{f"σ / f(x*), σ = {s:g}": s / problem.optimum for s in settings["sigmas"]},
            }
        )
    inside = (table["y"] - table["f"]).abs() <= 1.96 * table["sigma"]
    best = {row["function"]: row["x*, each coordinate"] for row in rows}
    return {"rows": rows, "best": best, "percent_inside": 100 * float(np.mean(inside.to_numpy()))}


EXPERIMENTS = (
    Experiment(
        id="ts-fig1",
        paper="ξ-greedy TS",
        figure="Figure 1",
        title="the functions f¹, with evaluations for several σ, and f²",
        minutes=0.1,
        sizes={"page": {"sigmas": [0.1, 1.0, 5.0], "count": 100}},
        tasks=_function_tasks,
        plot=_plot_functions,
        measure=_measure_functions,
    ),
    Experiment(
        id="ts-fig2",
        paper="ξ-greedy TS",
        figure="Figure 2",
        title="decay of the error of x_t for several σ, in one and two dimensions",
        minutes=3,
        sizes={
            "page": {
                "runs": 6,
                "iterations": 200,
                "sigmas": [0.1, 1.0, 2.0, _LOUDEST],
            },
            "quick": {"runs": 2, "iterations": 2, "sigmas": [0.1, _LOUDEST]},
        },
        tasks=_decay_tasks,
        plot=_plot_decay,
        measure=_measure_decay,
    ),
    Experiment(
        id="ts-fig3",
        paper="ξ-greedy TS",
        figure="Figure 3",
        title="distribution of the maximiser over iterations, σ = 5",
        minutes=1,
        sizes={
            "page": {"runs": 6, "iterations": 200},
            "quick": {"runs": 2, "iterations": 2},
        },
        tasks=_distribution_tasks,
        plot=_plot_distribution,
        measure=_measure_distribution,
    ),
    Experiment(
        id="ts-fig4",
        paper="ξ-greedy TS",
        figure="Figure 4",
        title="decay of the error of x_t for flatter and flatter f_β",
        minutes=0.4,
        sizes={
            "page": {"runs": 10, "iterations": 50, "betas": [0.1, 0.3, 1.0, 3.0, 10.0]},
            "quick": {"runs": 2, "iterations": 3, "betas": [0.3, 3.0]},
        },
        tasks=_flat_tasks,
        plot=_plot_flat,
        measure=_measure_flat,
    ),
)
