"""Pictures of a run. Matplotlib is imported only when one is drawn."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.algorithms.pigpucb import PiGPUCB
from noregret.domains import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: points a side at which the bound is drawn on a box
_FINE = {1: 512, 2: 96}


def cover(opt: PiGPUCB, ax: "Axes | None" = None) -> "Axes":
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
    dimension = opt.box.dimension
    if dimension not in _FINE:
        raise ValueError(f"opt must have one or two dimensions to be drawn, it has {dimension}")
    if ax is None:
        ax = _new_axes()
    if isinstance(opt.domain, Box):
        where: Any = opt.domain.grid(_FINE[dimension]).points
        points = where
    else:
        where, points = np.arange(len(opt.domain)), opt.domain.points
    upper = opt.upper(where)
    if dimension == 1:
        _draw_line(opt, ax, points[:, 0], upper, opt.predict(where)[0])
    else:
        _draw_plane(opt, ax, points, upper)
    names = opt.domain.names or [f"x{i}" for i in range(dimension)]
    ax.set_xlabel(names[0])
    ax.set_ylabel("reward" if dimension == 1 else names[1])
    ax.set_title(f"{len(opt.cover)} cells after {opt.t} evaluations")
    return ax


def _new_axes() -> "Axes":
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need Matplotlib: pip install 'noregret[plot]'") from error
    return pyplot.subplots(layout="constrained")[1]


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
