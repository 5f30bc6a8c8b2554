"""How algorithms with Gaussian models choose."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from picture_tools import (
    BLUE,
    DARK,
    GREY,
    LINE,
    ORANGE,
    band,
    bumps,
    legend_below,
    on_line,
    picture,
    play,
    wave,
)

import noregret as nr
from noregret.picking.boxes.gaps import Difference


@picture
def working() -> Any:
    """The README's run: which of its 5,000 candidates can still be the best."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5_000, 2))
    f = np.sin(6 * X[:, 0]) * np.cos(5 * X[:, 1])
    opt = nr.BBKB(nr.Candidates(X), nr.RBF(lengthscale=0.3), noise=0.1, norm=4.0, seed=0)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.9), layout="constrained", sharey=True)
    for ax, evaluations in zip(axes, (20, 200, 2_000), strict=True):
        while opt.t < evaluations:
            batch = opt.ask()
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        best, bounds = opt.recommend(), opt.situation(pending=False).bounds
        block = bounds.fantasy.block
        # Bounds kept from earlier batches rule out a few more, which opt.alive counts.
        alive = bounds.differences(block(X), block(X[[best.id]]))[:, 0] >= 0.0
        told = np.unique(opt.history.ids)
        ax.scatter(*X[~alive].T, s=2, color="#e4e4e4", label="ruled out")
        ax.scatter(*X[alive].T, s=2, color=BLUE, label="can still be the best")
        ax.scatter(*X[told].T, s=9, color=ORANGE, label="measured")
        ax.scatter(*X[best.id], s=170, marker="*", color=DARK, zorder=5, label="recommended")
        ax.set_title(
            f"{opt.t:,} measurements\n{opt.alive:,} of 5,000 can still be the best",
            fontsize=9,
        )
        ax.set(xticks=[], yticks=[], aspect="equal", xlabel="first column")
    axes[0].set_ylabel("second column")
    handles, labels = axes[-1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, markerscale=1.5)
    return fig


@picture
def box_gap() -> Any:
    """The cells of a proof that no point of a box is better than the recommended one by much."""
    rng, box = np.random.default_rng(0), nr.Box([(0, 1)] * 2)
    opt = nr.BBKB(box, nr.RBF(lengthscale=0.2), noise=0.1, norm=1.3, seed=0)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.9), layout="constrained", sharey=True)
    for ax, evaluations in zip(axes, (50, 200, 800), strict=True):
        while opt.t < evaluations:
            batch = opt.ask(evaluations - opt.t)
            opt.tell(batch, bumps(batch.points) + 0.1 * rng.standard_normal(len(batch)))
        best, now = opt.recommend(), opt.situation(pending=False)
        proof = Difference(now.bounds.posterior, box, np.asarray(best.point)[None])
        cells = proof.cells(now.bounds.widths, opt.norm, 2e9)
        corners = cells.centres - cells.halves
        sides = [
            Rectangle(corner, *(2.0 * half))
            for corner, half in zip(corners, cells.halves, strict=True)
        ]
        drawn = PatchCollection(sides, cmap="Blues", edgecolor="white", linewidth=0.3)
        drawn.set_array(cells.bounds)
        drawn.set_clim(-0.5, 1.5)
        ax.add_collection(drawn)
        ax.scatter(*opt.history.points.T, s=4, color=ORANGE, label="measured")
        ax.scatter(*best.point, s=170, marker="*", color=DARK, zorder=5, label="recommended")
        ax.set_title(
            f"{evaluations:,} measurements\nno point is better by more than {best.gap:.2f}",
            fontsize=9,
        )
        ax.set(xticks=[0, 1], yticks=[0, 1], aspect="equal", xlim=(0, 1), ylim=(0, 1), xlabel="x₁")
    axes[0].set_ylabel("x₂")
    fig.colorbar(drawn, ax=axes, shrink=0.7, label="by how much a point here can be better")
    legend_below(fig, axes[0])
    return fig


@picture
def gp_ucb() -> Any:
    """The model after 4 and after 12 evaluations, and the next one."""
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.1), layout="constrained", sharey=True)
    for ax, count in zip(axes, (4, 12), strict=True):
        opt = play(on_line(nr.GPUCB, noise=0.1, width=2.0), wave, count, 0.1)
        band(ax, opt)
        ax.plot(LINE, wave(LINE), "--", color=GREY, label="the function, unknown")
        points, rewards = opt.history.points[:, 0], opt.history.rewards
        ax.scatter(points, rewards, s=18, color=DARK, zorder=3, label="measured")
        mean, std = opt.predict()
        chosen = int(opt.ask().ids[0])
        upper = (mean + opt.beta * std)[chosen]
        ax.scatter(LINE[chosen], upper, marker="v", s=70, color=ORANGE, zorder=4, label="next")
        ax.set(title=f"after {count} evaluations", xlabel="x")
    legend_below(fig, axes[0])
    return fig


@picture
def gp_bucb() -> Any:
    """A batch: bounds shrink with every pick, the mean stays."""
    settings = {"noise": 0.5, "width": 2.0, "ratio": 12.0, "batch_rule": "global"}
    opt = play(on_line(nr.GPBUCB, **settings), wave, 6, 0.3)
    fig, ax = plt.subplots(figsize=(7, 3.1), layout="constrained")
    band(ax, opt, label="model at the batch start")
    batch = opt.ask()
    mean, std = opt.predict()
    upper = mean + opt.beta * std
    ax.plot(LINE, upper, "--", color=ORANGE, label="upper bound after all picks of the batch")
    ax.set_ylim(-4.2, 2.2)
    for number, x in enumerate(np.ravel(batch.points), start=1):
        ax.axvline(x, color=ORANGE, alpha=0.35, lw=1)
        ax.annotate(str(number), (x, -1.9 - 0.22 * number), color=ORANGE, ha="center")
    ax.scatter(
        opt.history.points[:, 0], opt.history.rewards, s=18, color=DARK, zorder=3, label="measured"
    )
    ax.set(xlabel="x", title=f"one batch of {len(batch)}: numbers show the order of the picks")
    legend_below(fig, ax, 3)
    return fig


@picture
def bkb() -> Any:
    """Few inducing points give nearly the bounds of the exact model."""
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.7), layout="constrained")
    exact = play(on_line(nr.GPUCB, noise=0.3, width=2.0), wave, 150, 0.3)
    sparse = on_line(nr.BKB, noise=0.3, width=2.0)
    sparse.tell(exact.history.ids, exact.history.rewards)
    ax = axes[0]
    band(ax, exact, GREY, "exact model: mean and bounds")
    mean, std = sparse.predict()
    for sign in (-1, 1):
        ax.plot(LINE, mean + sign * sparse.beta * std, ":", color=BLUE)
    ax.plot(LINE, mean, "--", color=BLUE, label="sparse model: mean, bounds dotted")
    where = sparse.dictionary_points[:, 0]
    ax.scatter(where, np.full(len(where), ax.get_ylim()[0]), marker="^", color=ORANGE, zorder=3)
    ax.set_ylim(-1.2, 1.2)
    ax.set_title(
        f"150 evaluations of {len(np.unique(exact.history.ids))} points, "
        f"{len(where)} inducing points (▲)",
        fontsize=9,
    )
    ax.set_xlabel("x")
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2_000, 2))
    opt = nr.BKB(nr.Candidates(X), nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    sizes: list[tuple[int, int, int]] = []
    f = bumps(X)
    while opt.t < 2_000:
        ids = rng.integers(len(X), size=50)
        opt.tell(ids, f[ids] + 0.1 * rng.standard_normal(50))
        sizes.append((opt.t, len(np.unique(opt.history.ids)), len(opt.dictionary)))
    t, unique, size = np.array(sizes).T
    axes[1].plot(t, unique, color=GREY, label="different points evaluated")
    axes[1].plot(t, size, color=BLUE, label="inducing points")
    axes[1].set(xlabel="evaluations", yscale="log")
    axes[1].set_title("the model grows far slower than the data", fontsize=9)
    axes[1].legend(
        frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1
    )
    return fig


@picture
def bbkb() -> Any:
    """Batches grow, and a decision costs less and less."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5_000, 2))
    f = bumps(X)
    opt = nr.BBKB(nr.Candidates(X), nr.RBF(0.2), noise=0.1, norm=1.3, seed=0)
    starts, sizes = [], []
    while opt.t < 3_000:
        batch = opt.ask(3_000 - opt.t)
        starts.append(opt.t)
        sizes.append(len(batch))
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
    regret = np.cumsum(f.max() - f[opt.history.ids])
    fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    axes[0].step(np.array(starts) + 1, sizes, where="post", color=BLUE)
    axes[0].set(xscale="log", yscale="log", xlabel="evaluations told", title="size of the batch")
    axes[1].plot(regret, color=BLUE, label="BBKB")
    axes[1].plot(np.arange(len(regret)) * (f.max() - f.mean()), color=GREY, label="uniform choice")
    axes[1].set(xlabel="evaluations", title="regret so far", ylim=(0, 4 * regret[-1]))
    axes[1].legend(frameon=False)
    return fig


@picture
def plate_ucb() -> Any:
    """Three plates of 48 from a library of 1,500 in two dimensions."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(1_500, 2))
    f = bumps(X)
    opt = nr.PlateUCB(nr.Candidates(X), seed=0, repeats=1)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.1), layout="constrained")
    told: list[int] = []
    for number, ax in enumerate(axes, start=1):
        batch = opt.ask(48)
        drawn = ax.scatter(*X.T, s=3, c=f, cmap="Greys", vmin=-0.6, vmax=1.6)
        ax.scatter(*X[told].T, s=10, color=BLUE, label="measured before")
        ax.scatter(*X[batch.ids].T, s=14, color=ORANGE, label="this plate")
        ax.set(xticks=[], yticks=[], aspect="equal", xlabel="first column")
        ax.set_title(f"plate {number}", fontsize=10)
        opt.tell(batch, f[batch.ids] + 0.05 * rng.standard_normal(len(batch)))
        told += batch.ids.tolist()
    axes[0].set_ylabel("second column")
    fig.colorbar(drawn, ax=axes, shrink=0.8, boundaries=np.linspace(0, 1, 21), label="true value")
    legend_below(fig, axes[-1])
    return fig


@picture
def trust_region_ucb() -> Any:
    """The region around the best point, in a box of two dimensions."""
    box = nr.Box([(0, 1), (0, 1)])
    rng = np.random.default_rng(0)
    opt = nr.TrustRegionUCB(box, "auto", noise="auto", norm="auto", width=2.0, seed=1)
    side = np.linspace(0, 1, 80)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained", sharey=True)
    for ax, evaluations in zip(axes, (10, 50, 60), strict=True):
        while opt.t < evaluations:
            batch = opt.ask(1)
            opt.tell(batch, bumps(batch.points) + 0.02 * rng.standard_normal(1))
        drawn = ax.contourf(
            side, side, bumps(grid).reshape(80, 80), levels=12, cmap="Greys", alpha=0.6
        )
        ax.scatter(*opt.history.points.T, s=14, color=BLUE, label="evaluated")
        lower, upper = np.asarray(opt.region.lower), np.asarray(opt.region.upper)
        ax.add_patch(
            plt.Rectangle(
                lower, *(upper - lower), fill=False, ec=ORANGE, lw=2, label="trust region"
            )
        )
        ax.set(xticks=[0, 1], yticks=[0, 1], aspect="equal", xlim=(0, 1), ylim=(0, 1), xlabel="x₁")
        ax.set_title(f"after {evaluations} evaluations", fontsize=10)
    axes[0].set_ylabel("x₂")
    fig.colorbar(drawn, ax=axes, shrink=0.8, label="true value")
    legend_below(fig, axes[-1])
    return fig


@picture
def thompson_sampling() -> Any:
    """Functions drawn from the posterior, and the maximiser of each."""
    opt = on_line(nr.ThompsonSampling, noise=0.1, n_init=5, xi=0.0)
    opt = play(opt, wave, 7, 0.1)
    mean, std = opt.predict()
    kernel = nr.RBF(0.1)
    where = opt.history.points
    grid = LINE[:, None]
    gain = np.linalg.solve(kernel(where, where) + 0.01 * np.eye(len(where)), kernel(where, grid))
    covariance = kernel(grid, grid) - kernel(grid, where) @ gain
    draws = np.random.default_rng(5).multivariate_normal(
        mean, covariance + 1e-8 * np.eye(len(LINE)), size=5
    )
    fig, ax = plt.subplots(figsize=(7, 3.1), layout="constrained")
    ax.fill_between(LINE, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.12)
    for number, draw in enumerate(draws):
        ax.plot(
            LINE,
            draw,
            lw=1,
            color=BLUE,
            alpha=0.8,
            label="functions drawn" if number == 0 else None,
        )
        top = int(draw.argmax())
        ax.scatter(
            LINE[top], draw[top], marker="v", s=60, color=ORANGE, zorder=4,
            label="their maximisers: what may come next" if number == 0 else None,
        )  # fmt: skip
    ax.scatter(where[:, 0], opt.history.rewards, s=20, color=DARK, zorder=3, label="measured")
    ax.set(xlabel="x")
    legend_below(fig, ax, 3)
    return fig


@picture
def pi_gp_ucb() -> Any:
    """The cells of a cover after a run on a line: small where evaluations gathered."""
    opt = nr.PiGPUCB(
        nr.Candidates(LINE[:, None]), nr.Matern(0.15, nu=1.5), noise=0.3, width=2.0,
        first_cells=1, horizon=1_000, seed=0,
    )  # fmt: skip
    opt = play(opt, wave, 1_000, 0.3)
    fig, (ax, below) = plt.subplots(
        2, 1, figsize=(7.5, 3.8), layout="constrained", height_ratios=[3, 1], sharex=True
    )
    ax.plot(LINE, wave(LINE), "--", color=GREY, label="the function, unknown")
    band(ax, opt, label="the cells' models: mean and bounds")
    edges = sorted({float(end) for cell in opt.cover for end in (cell.lower[0], cell.upper[0])})
    for number, edge in enumerate(edges):
        label = "edges of the cells" if number == 0 else None
        ax.axvline(edge, color=ORANGE, lw=1, label=label)
        below.axvline(edge, color=ORANGE, lw=1)
    below.hist(opt.history.points[:, 0], bins=100, range=(0, 1), color=BLUE)
    below.set(xlabel="x", ylabel="evaluations")
    ax.set_title(f"1,000 evaluations, {len(opt.cover)} cells", fontsize=10)
    legend_below(fig, ax)
    return fig
