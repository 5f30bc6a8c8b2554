"""How fast the best molecules of a library are found, from figures that the benchmarks keep."""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter, StrMethodFormatter
from picture_tools import BLUE, GREEN, GREY, ORANGE, picture

#: written by ``python -m benchmarks libraries --parts enamine --curves FILE``
CURVES = Path(__file__).parent / "results" / "data" / "libraries-enamine.json"


@picture
def molecules() -> Any:
    """The share of the true top 500 docking scores found, plate by plate."""
    kept = json.loads(CURVES.read_text())
    fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for method, look, colour, label in (
        ("study", "o-", BLUE, "noregret, defaults"),
        ("forest", "s--", ORANGE, "random forest, full depth"),
        ("molpal", "D-.", GREEN, "random forest of MolPAL"),
        ("uniform", "^:", GREY, "random choice"),
    ):
        curves = np.array(kept["methods"][method]["share of the top 500 scores"])
        mean = curves.mean(axis=0)
        ax.fill_between(
            kept["measured"], curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.2
        )
        ax.plot(kept["measured"], mean, look, color=colour)
        ax.annotate(
            f"{label}: {mean[-1]:.0%}",
            (kept["measured"][-1], mean[-1]),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )
    ax.set(
        xlabel="molecules measured, of 49,706",
        ylabel="share of the true top 500 found",
        xticks=kept["measured"],
        ylim=(0, 1),
    )
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.grid(axis="y", alpha=0.25)
    return fig
