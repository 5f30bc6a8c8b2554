"""One style for all figures: mean and 95 % band over runs, readable in greyscale."""

import importlib.util
import io
import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats

from noregret._types import Floats
from noregret.reporting.curves import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def check() -> None:
    """Refuse to go on without Matplotlib, before anything is computed that needs drawing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("figures need Matplotlib: pip install 'noregret[experiments]'")


def panels(count: int, *, columns: int = 3, height: float = 3.2) -> "tuple[Figure, list[Axes]]":
    """A figure with this many panels, at most ``columns`` in a row, in the common style."""
    from matplotlib.figure import Figure

    across = min(count, columns)
    down = -(-count // across)
    figure = Figure(figsize=(4.2 * across, height * down), layout="constrained")
    axes = list(np.ravel(figure.subplots(down, across, squeeze=False)))
    for spare in axes[count:]:
        spare.remove()
    for axis in axes[:count]:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes[:count]


def styles(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour, a line and a mark for each label; pass the same labels to every panel."""
    every = zip(labels, cycle(STYLES), cycle(_MARKS), strict=False)
    return {
        label: {"color": colour, "linestyle": line, "marker": mark, "markersize": 4}
        for label, (colour, line), mark in every
    }


def interval(values: Any) -> tuple[float, float]:
    """Mean over runs and half-width of its 95 % interval (Student's t; NaN for a single run)."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return float(array.mean()), math.nan
    spread = float(array.std(ddof=1) / np.sqrt(len(array)))
    return float(array.mean()), float(stats.t.ppf(0.975, len(array) - 1)) * spread


def over_runs(frame: pl.DataFrame, x: str, y: str) -> tuple[Floats, Floats, Floats]:
    """x, the mean of y over runs at each x, and the half-width of its 95 % interval."""
    groups = frame.group_by(x).agg(pl.col(y)).sort(x)
    found = np.array([interval(values) for values in groups[y]])
    return groups[x].to_numpy().astype(np.float64), found[:, 0], found[:, 1]


def lines(
    axis: "Axes",
    frame: pl.DataFrame,
    x: str,
    y: str,
    by: str,
    labels: Sequence[str] | Mapping[str, str],
) -> None:
    """Draw y against x, mean and 95 % band over runs, a line for each value of ``by``.

    ``labels`` are the values in order, or their names in the legend by value; values that the
    table does not have are left out, and their style is used for no other value.
    """
    names = labels if isinstance(labels, Mapping) else {label: label for label in labels}
    for value, style in styles(list(names)).items():
        part = frame.filter(**{by: value})
        if part.is_empty():
            continue
        at, mean, half = over_runs(part, x, y)
        axis.plot(at, mean, label=names[value], markevery=max(1, len(at) // 6), **style)
        if np.any(half > 0):
            axis.fill_between(at, mean - half, mean + half, color=style["color"], alpha=0.15, lw=0)


def cut_bands(axes: "Sequence[Axes]") -> None:
    """Give these axes the same limits, by their lines: the band of a few runs may be far wider.

    A band can also reach below 0, which a logarithmic axis does not show.
    """
    values = np.concatenate([line.get_ydata() for axis in axes for line in axis.get_lines()])
    for axis in axes:
        if axis.get_yscale() == "log":
            axis.set_ylim(0.6 * values.min(), 1.6 * values.max())
        elif values.min() < 0:
            margin = 0.1 * np.ptp(values)
            axis.set_ylim(values.min() - margin, values.max() + margin)
        else:
            axis.set_ylim(0.0, 1.2 * values.max())


def legend(figure: "Figure", axis: "Axes", columns: int = 4) -> None:
    """One legend for all panels, below them, with the lines of one panel."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )


def save(figure: "Figure", path: Path) -> None:
    """Write a PNG of 256 colours: a third of the bytes, and no difference to see."""
    from PIL import Image  # comes with Matplotlib

    full = io.BytesIO()
    figure.savefig(full, format="png", dpi=110)
    with Image.open(full) as image:
        reduced = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)
