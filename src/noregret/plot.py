"""Pictures of runs. Needs Matplotlib: ``pip install noregret[plot]``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
