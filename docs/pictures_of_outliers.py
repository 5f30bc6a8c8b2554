"""What algorithms for heavy tails make of outliers, and which algorithm to choose."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from picture_tools import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    LINE,
    ORANGE,
    legend_below,
    on_line,
    picture,
    wave,
)

import noregret as nr


def _outliers() -> tuple[Any, Any]:
    """Ids and rewards of 60 evaluations, of which a few are far off."""
    rng = np.random.default_rng(4)
    ids = rng.integers(len(LINE), size=60)
    rewards = wave(LINE[ids]) + 0.08 * rng.standard_normal(60)
    rewards[[7, 21, 40]] += [3.0, 2.6, -3.4]
    return ids, rewards


@picture
def huber_gp_ucb() -> Any:
    """Least squares and Huber's regression on the same rewards."""
    ids, rewards = _outliers()
    fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for algorithm, colour, label, lam in (
        (nr.GPUCB, GREY, "least squares (GPUCB)", 0.01),
        (nr.HuberGPUCB, BLUE, "Huber (HuberGPUCB)", 0.05),
    ):
        opt = on_line(algorithm, noise=0.1, lam=lam, width=2.0)
        opt.tell(ids, rewards)
        ax.plot(LINE, opt.predict()[0], color=colour, lw=2, label=label)
    ax.plot(LINE, wave(LINE), "--", color=GREEN, label="the function, unknown")
    ax.scatter(LINE[ids], rewards, s=14, color=DARK, zorder=3, label="measured")
    ax.set(xlabel="x")
    legend_below(fig, ax)
    return fig


@picture
def truncation() -> Any:
    """What truncating and clipping do to rewards of a heavy tail."""
    rng = np.random.default_rng(2)
    rewards = 0.5 + rng.standard_t(1.6, size=200)
    t = np.arange(1, 201)
    level = np.sqrt(3.0) * t**0.25  # α = 1, v = 3
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharey=True)
    inside = np.abs(rewards) <= level
    counted = np.where(inside, rewards, 0.0)
    axes[0].fill_between(t, -level, level, color=BLUE, alpha=0.12, label="[−b, b] at time t")
    hollow = {"s": 14, "facecolors": "none", "edgecolors": GREY, "label": "measured"}
    axes[0].scatter(t[~inside], rewards[~inside], **hollow)
    axes[0].scatter(t, counted, s=7, color=BLUE, label="what counts")
    axes[0].scatter(t[~inside], counted[~inside], s=16, color=ORANGE, label="truncated: counts 0")
    axes[0].set_title("TGP-UCB truncates about zero", fontsize=10)
    cut = 3.0
    clipped = 0.5 + np.clip(rewards - 0.5, -cut, cut)
    moved = clipped != rewards
    axes[1].fill_between(t, 0.5 - cut, 0.5 + cut, color=BLUE, alpha=0.12, label="m ± c")
    axes[1].scatter(t[moved], rewards[moved], **hollow)
    axes[1].scatter(t, clipped, s=7, color=BLUE, label="what counts")
    axes[1].scatter(t[moved], clipped[moved], s=16, color=ORANGE, label="clipped: counts m ± c")
    axes[1].set_title("ClippedGPUCB clips about the arm's own middle m", fontsize=10)
    for ax in axes:
        ax.set(ylim=(-12, 10), xlabel="evaluation")
        ax.legend(
            frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2
        )
    return fig


@picture
def robust_ucb() -> Any:
    """Separate arms: truncated means with their bounds."""
    rng = np.random.default_rng(0)
    means = np.array([0.0, 0.4, 0.2, 0.9, 0.5, 0.1])
    opt = nr.RobustUCB(
        nr.Candidates(np.arange(6.0)[:, None]), nr.RBF(1.0), v=3.0, width="practical", seed=0
    )
    while opt.t < 600:
        batch = opt.ask()
        opt.tell(batch, means[batch.ids] + rng.standard_t(2.5, size=len(batch)))
    mean, std = opt.predict()
    fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    ax.errorbar(
        np.arange(6), mean, yerr=opt.beta * std, fmt="o", color=BLUE, capsize=4, label="bounds"
    )
    ax.scatter(np.arange(6), means, marker="_", s=300, color=ORANGE, label="true means, unknown")
    for arm, count in enumerate(opt.counts(np.arange(6))):
        ax.annotate(f"{count}×", (arm + 0.08, mean[arm]), fontsize=8, va="center")
    ax.set(
        xlabel="arm", title="600 evaluations with Student-t noise; how often each arm was played"
    )
    legend_below(fig, ax)
    return fig


@picture
def choose() -> Any:
    """Which algorithm? One question after the other."""
    fig, ax = plt.subplots(figsize=(5.4, 6.0), layout="constrained")
    ax.set(xlim=(0, 10), ylim=(-0.45, 8.4))
    ax.axis("off")
    questions = [
        ("Are a few answers far off?\n(latencies, prices, sensors)",
         'HuberGPUCB, or noise="heavy"\nproved: ClippedGPUCB'),
        ("Numbers within bounds,\nnot a list?", "nr.maximize, nr.minimize\n(TrustRegionUCB)"),
        ("Each candidate measured once,\na plate at a time?", "PlateUCB\n(noregret create)"),
        ("A rough function?\n(few derivatives)", "PiGPUCB"),
        ("At most a few hundred\nmeasurements?", "GPUCB, one at a time\nGPBUCB, in batches"),
        ("Strictly one at a time?", "BKB"),
    ]  # fmt: skip
    arrow = {"arrowstyle": "-|>", "color": DARK, "shrinkA": 0, "shrinkB": 0}

    def box(x: float, y: float, text: str, face: str, edge: str) -> None:
        ax.add_patch(plt.Rectangle((x - 2.25, y - 0.4), 4.5, 0.8, fc=face, ec=edge))
        ax.text(x, y, text, ha="center", va="center", fontsize=9)

    heights = np.linspace(7.9, 1.3, len(questions))
    step = heights[0] - heights[1]
    for (question, then), y in zip(questions, heights, strict=True):
        box(2.3, y, question, "#eaf3f6", BLUE)
        box(7.7, y, then, "#fbeee4", ORANGE)
        ax.annotate("", (5.45, y), (4.55, y), arrowprops=arrow)
        ax.text(5.0, y + 0.08, "yes", ha="center", va="bottom", fontsize=8)
        ax.annotate("", (2.3, y - step + 0.4), (2.3, y - 0.4), arrowprops=arrow)
        ax.text(2.42, y - step / 2, "no", va="center", fontsize=8)
    box(2.3, 1.3 - step, "BBKB", "#fbeee4", ORANGE)
    return fig
