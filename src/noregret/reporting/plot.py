"""Pictures of runs. Needs Matplotlib: ``pip install noregret[plot]``."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from noregret import _checks
from noregret._types import Floats
from noregret.algorithms import PiGPUCB
from noregret.optimizer import Optimizer
from noregret.reporting.curves import STYLES, curves_of
from noregret.reporting.slices import DEVIATIONS, MOST, Slice, importances, through_best
from noregret.spaces import as_box, as_candidates
from noregret.study import Study
from noregret.study.result import Result, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: colours of Okabe & Ito, which differ in lightness too
_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#7f7f7f"
#: how many points per side a bound is drawn at on a box
_FINE = {1: 512, 2: 96}


def run(
    regret: Any,
    batch_sizes: Sequence[int],
    dictionary_sizes: Sequence[int],
    *,
    uniform: float | None = None,
    alive: Sequence[int | None] | None = None,
    title: str = "",
) -> "Figure":
    """Regret over time, batch sizes and dictionary size of one run, side by side.

    If ``alive`` is given, also how many candidates can still be the best.

    Parameters
    ----------
    regret
        The regret of each evaluation (t).
    batch_sizes, dictionary_sizes
        One entry per batch.
    uniform
        The average regret of uniform choice, drawn beside the run.
    alive
        ``opt.alive`` after each batch; ``None`` if it is not known.
    title
        Title of the picture.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12 if alive is None else 16, 3.8), layout="constrained")
    left, middle, right, *last = figure.subplots(1, 3 if alive is None else 4)
    steps = np.arange(1, len(regret) + 1)
    left.plot(steps, np.cumsum(regret), color="black", label="this run")
    if uniform is not None:
        left.plot(steps, uniform * steps, color="grey", linestyle="--", label="uniform choice")
        left.legend(frameon=False)
    left.set(xlabel="evaluations", ylabel="cumulative regret", xscale="log", yscale="log")
    ends = np.cumsum(batch_sizes)
    middle.step(ends, batch_sizes, where="pre", color="black")
    middle.set(xlabel="evaluations", ylabel="batch size", yscale="log")
    right.step(ends, dictionary_sizes, where="pre", color="black")
    right.set(xlabel="evaluations", ylabel="inducing points", ylim=(0, None))
    if alive is not None:
        counts = [np.nan if count is None else float(count) for count in alive]
        last[0].step(ends, counts, where="post", color="black")
        last[0].set(xlabel="evaluations", ylabel="can still be the best", yscale="log")
    for axis in (left, middle, right, *last):
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    if title:
        figure.suptitle(title)
    return figure


def convergence(
    result: Result | Study, *, optimum: float | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Every value of a run, the best value so far, failures, and what is recommended in the end.

    Parameters
    ----------
    result
        What :func:`noregret.maximize` or :func:`noregret.minimize` returned, or a study.
    optimum
        The best possible value if it is known; drawn as a line.
    ax
        Where to draw; by default a new figure.
    """
    if isinstance(result, Study):
        result = result_of(result, "")
    if not isinstance(result, Result):
        raise TypeError(
            f"result must be a study, or what maximize or minimize returned, got {result!r:.200}"
        )
    ax = _axes(ax)
    ended = [trial for trial in result.trials if trial.status != "pending"]
    ended.sort(key=lambda trial: (trial.done_by or 0, trial.number))
    values = np.array([np.nan if trial.value is None else trial.value for trial in ended])
    steps = np.arange(1, len(values) + 1)
    best = np.fmax.accumulate(result.units.sign * values) * result.units.sign
    ax.scatter(steps, values, s=12, color=_GREY, label="evaluations", zorder=2)
    ax.step(steps, best, where="post", color=_BLUE, label="best value so far", zorder=3)
    failed = steps[np.isnan(values)]
    if len(failed):
        across = ax.get_xaxis_transform()
        ax.scatter(
            failed, np.full(len(failed), 0.02), s=22, marker="x", color=_RED, transform=across,
            label=f"{len(failed)} failed",
        )  # fmt: skip
    if len(result.history):
        found = result.best
        ends = [[found.mean - found.lower], [found.upper - found.mean]]
        ax.errorbar(
            len(values) * 1.02 + 0.5, found.mean, ends,
            fmt="o", markersize=5, capsize=3, color="black", label="recommended, with its interval",
        )  # fmt: skip
    if optimum is not None:
        ax.axhline(
            _checks.finite("optimum", optimum), color="black", linestyle=":", label="optimum"
        )
    ax.set(xlabel="evaluations", ylabel="value")
    ax.legend(frameon=False, fontsize=8)
    return ax


def slices(
    of: Result | Optimizer | Study,
    *,
    features: Sequence[str] | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
) -> "list[Axes]":
    """The posterior mean along one feature at a time, the others as in the recommended choice.

    The band is 2 posterior deviations on either side of the mean; a line marks the recommended
    value. Features that move the mean most come first, at most 8 of them.

    Parameters
    ----------
    of
        A result, an optimiser or a study.
    features
        Which features, by name; x0, x1, … if they have none.
    ax
        One axes for each feature; by default a new figure.
    """
    found = through_best(of)
    if features is not None:
        known = {one.name: one for one in found}
        for name in features:
            _checks.one_of("features", name, tuple(known))
        found = [known[name] for name in features]
    panels = _panels(ax, min(len(found), MOST))
    for panel, one in zip(panels, found, strict=False):
        _draw_slice(panel, one)
    return panels


def _draw_slice(ax: "Axes", one: Slice) -> None:
    if one.categories:
        ends = np.stack([one.mean - one.lower, one.upper - one.mean])
        ax.errorbar(one.x, one.mean, ends, fmt="o", capsize=3, color=_BLUE)
        ax.set_xticks(one.x, one.categories)
        ax.margins(x=0.2)
    else:
        ax.fill_between(one.x, one.lower, one.upper, color=_BLUE, alpha=0.2, linewidth=0)
        ax.plot(one.x, one.mean, color=_BLUE)
        if one.log:
            ax.set_xscale("log")
    ax.axvline(one.best, color=_RED, linestyle="--", linewidth=1)
    ax.set(xlabel=one.name, ylabel=f"mean ± {DEVIATIONS:g} deviations")


def importance(of: Result | Optimizer | Study, *, ax: "Axes | None" = None) -> "Axes":
    """How much each feature matters: its share of the variance of the posterior mean.

    The share is the total Sobol index of the posterior mean over uniform draws of the domain (not
    the lengthscales, which do not say how far the mean moves). It counts what a feature does alone
    and together with others, so that shares may add up to more than 1.

    Parameters
    ----------
    of
        A result, an optimiser or a study.
    ax
        Where to draw; by default a new figure.
    """
    ax = _axes(ax)
    found = importances(of)
    places = np.arange(len(found))[::-1]
    ax.barh(places, found["share"].to_numpy(), color=_BLUE)
    ax.set_yticks(places, found["feature"].to_list())
    ax.set(xlabel="share of the variance of the posterior mean", xlim=(0, None))
    return ax


def regret(
    runs: pl.DataFrame | Mapping[str, Any] | Sequence[Result] | Result,
    *,
    kind: Literal["simple", "regret"] = "simple",
    band: float = 0.5,
    ax: "Axes | None" = None,
) -> "Axes":
    """The regret of many runs against evaluations: the median, and a band that holds most runs.

    Parameters
    ----------
    runs
        What :func:`noregret.compare` returns; the results of runs with ``optimum`` given; or a dict
        that has such results, or an array (runs × t) to draw, for the name of each algorithm.
    kind
        ``"simple"``: how far the best choice evaluated so far is from the optimum. ``"regret"``:
        the sum of the regrets of all evaluations.
    band
        The share of runs inside the band, in the middle: 0.5 is from quartile to quartile.
    ax
        Where to draw; by default a new figure.
    """
    _checks.one_of("kind", kind, ("simple", "regret"))
    _checks.probability("band", band)
    ax = _axes(ax)
    smallest = np.inf
    for (name, curve), style in zip(curves_of(runs, kind).items(), cycle(STYLES), strict=False):
        ends = (0.5 - band / 2, 0.5, 0.5 + band / 2)
        low, middle, high = np.quantile(curve.values, ends, axis=0)
        colour, line = style
        count = len(curve.values)
        label = f"{name} ({count} run{'s' if count > 1 else ''})"
        ax.plot(curve.t, middle, color=colour, linestyle=line, label=label)
        ax.fill_between(curve.t, low, high, color=colour, alpha=0.15, linewidth=0)
        smallest = min(smallest, float(low.min()))
    ax.set(xlabel="evaluations", ylabel=f"{'simple' if kind == 'simple' else 'cumulative'} regret")
    if kind == "simple" and smallest > 0:
        ax.set_yscale("log")
    elif kind == "simple":  # logarithmic down to the smallest regret, linear from there to 0
        ax.set_yscale("symlog", linthresh=_smallest_above_zero(ax))
        ax.set_ylim(0, None)
    ax.legend(frameon=False, fontsize=8)
    return ax


def _smallest_above_zero(ax: "Axes") -> float:
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    positive: Floats = values[values > 0]
    return float(positive.min()) if len(positive) else 1.0


def _axes(ax: "Axes | None") -> "Axes":
    """Where to draw, in the common style: as given, or a new figure that notebooks show."""
    return _panels(ax, 1)[0]


def _panels(ax: "Axes | Sequence[Axes] | None", count: int) -> "list[Axes]":
    if ax is None:
        from matplotlib import pyplot

        across = min(count, 4)
        down = -(-count // across)
        size = (5.2, 3.6) if count == 1 else (3.4 * across, 2.9 * down)
        _, grid = pyplot.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
        panels = list(np.ravel(grid))
        for spare in panels[count:]:
            spare.remove()
        panels = panels[:count]
    else:
        panels = list(np.ravel(np.asarray(ax, dtype=object)))
    for panel in panels:
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    return panels


def cover(opt: PiGPUCB, ax: "Axes | None" = None) -> "Figure":
    """The cover of a :class:`~noregret.PiGPUCB` in one or two dimensions.

    Cells, evaluations told and the upper confidence bound; in one dimension also the mean.

    Parameters
    ----------
    opt
        The optimiser.
    ax
        Where to draw; by default a new figure.
    """
    if not isinstance(opt, PiGPUCB):
        raise TypeError(f"opt must be a PiGPUCB, which has a cover, got {type(opt).__name__}")
    dimension = opt.domain.dimension
    if dimension not in _FINE:
        raise ValueError(f"opt must have one or two dimensions to be drawn, it has {dimension}")
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(layout="constrained").subplots()
    if opt.domain.size is not None:
        points = as_candidates(opt.domain).points
        choices = np.arange(len(points))
    else:
        points = choices = as_box(opt.domain).grid(_FINE[dimension]).points
    upper = opt.upper(choices)
    if dimension == 1:
        _draw_line(opt, ax, points[:, 0], upper, opt.predict(choices)[0])
    else:
        _draw_plane(opt, ax, points, upper)
    names = opt.domain.names or [f"x{i}" for i in range(dimension)]
    ax.set_xlabel(names[0])
    ax.set_ylabel("reward" if dimension == 1 else names[1])
    ax.set_title(f"{len(opt.cover)} cells after {opt.t} evaluations")
    figure: Figure = ax.figure  # type: ignore[assignment]
    return figure


def _draw_line(opt: PiGPUCB, ax: "Axes", x: Any, upper: Any, mean: Any) -> None:
    order = np.argsort(x, kind="stable")
    edges = sorted({float(edge) for cell in opt.cover for edge in (cell.lower[0], cell.upper[0])})
    for edge in edges:
        ax.axvline(edge, color="0.8", linewidth=0.8, zorder=0)
    ax.plot(x[order], upper[order], color="tab:orange", label="upper bound")
    ax.plot(x[order], mean[order], color="tab:blue", label="mean")
    told = opt.history
    ax.scatter(told.points[:, 0], told.rewards, s=6, color="0.3", alpha=0.5, label="evaluations")
    ax.legend(loc="best", frameon=False)


def _draw_plane(opt: PiGPUCB, ax: "Axes", points: Any, upper: Any) -> None:
    from matplotlib.patches import Rectangle

    shown = ax.scatter(
        points[:, 0], points[:, 1], c=upper, s=12, marker="s", linewidths=0, zorder=0
    )
    ax.figure.colorbar(shown, ax=ax, label="upper bound")
    for cell in opt.cover:
        width, height = cell.upper - cell.lower
        ax.add_patch(Rectangle(tuple(cell.lower), width, height, fill=False, edgecolor="0.25"))
    told = opt.history.points
    ax.scatter(told[:, 0], told[:, 1], s=8, color="white", edgecolors="black", linewidths=0.4)
