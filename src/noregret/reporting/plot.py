"""Pictures of runs. Needs Matplotlib: ``pip install noregret[plot]``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.algorithms import PiGPUCB
from noregret.spaces import as_box, as_candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: points a side at which a bound is drawn on a box
_FINE = {1: 512, 2: 96}


def run(
    regret: Any,
    batch_sizes: Sequence[int],
    dictionary_sizes: Sequence[int],
    *,
    uniform: float | None = None,
    title: str = "",
) -> "Figure":
    """Regret over time, batch sizes and dictionary size of one run, side by side.

    Parameters
    ----------
    regret
        The regret of each evaluation (t).
    batch_sizes, dictionary_sizes
        One entry per batch.
    uniform
        The average regret of uniform choice, drawn beside the run.
    title
        Above the picture.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
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
    for axis in (left, middle, right):
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    if title:
        figure.suptitle(title)
    return figure


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
    if opt.domain.listed:
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
