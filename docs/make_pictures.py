"""Draws the pictures of the documentation: ``python docs/make_pictures.py [NAME ...]``.

Every picture is computed by the package itself, with fixed seeds. Without names all are drawn, into
the folder docs/images.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import noregret as nr

FOLDER = Path(__file__).parent / "images"
BLUE, ORANGE, GREEN, GREY, DARK = "#1f6f8b", "#d9722b", "#3b8f5a", "#b5b5b5", "#333333"
LINE = np.linspace(0, 1, 200)
pictures: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Register a function that draws the picture of its own name."""
    pictures[draw.__name__.replace("_", "-")] = draw
    return draw


def wave(x: Any) -> Any:
    """Two hills on a line, the right one higher; its norm is 1.22 for an RBF kernel of 0.1."""
    return 0.7 * np.exp(-50 * (x - 0.25) ** 2) + np.exp(-50 * (x - 0.72) ** 2)


def bumps(X: Any) -> Any:
    """Two hills in the plane; the norm is 1.26 for an RBF kernel of 0.2."""
    hill = np.exp(-12.5 * ((X[:, 0] - 0.7) ** 2 + (X[:, 1] - 0.35) ** 2))
    return hill + 0.75 * np.exp(-12.5 * ((X[:, 0] - 0.2) ** 2 + (X[:, 1] - 0.75) ** 2))


def play(opt: Any, f: Any, evaluations: int, noise: float, seed: int = 1) -> Any:
    """Ask and tell until so many evaluations are told."""
    rng = np.random.default_rng(seed)
    while opt.t < evaluations:
        batch = opt.ask(evaluations - opt.t if opt.adaptive else 1)
        values = f(np.asarray(batch.points))
        opt.tell(batch, np.ravel(values) + noise * rng.standard_normal(len(batch)))
    return opt


def band(ax: Any, opt: Any, colour: str = BLUE, label: str = "model: mean and bounds") -> None:
    """The posterior mean of an optimiser on the line, with its bounds."""
    mean, std = opt.predict()
    ax.fill_between(LINE, mean - opt.beta * std, mean + opt.beta * std, color=colour, alpha=0.18)
    ax.plot(LINE, mean, color=colour, label=label)


def on_line(algorithm: Any, **settings: Any) -> Any:
    """An optimiser on 200 points of a line."""
    return algorithm(nr.Candidates(LINE[:, None]), nr.RBF(0.1), seed=0, **settings)


def legend_below(fig: Any, ax: Any, columns: int = 4) -> None:
    """One legend below the picture."""
    handles, labels = ax.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


@picture
def working() -> Any:
    """The README's run: which of 5,000 candidates can still be the best."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5_000, 2))
    f = bumps(X)
    opt = nr.BBKB(nr.Candidates(X), nr.RBF(lengthscale=0.2), noise=0.1, norm=1.3, seed=0)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.9), layout="constrained", sharey=True)
    for ax, evaluations in zip(axes, (100, 1_000, 10_000), strict=True):
        while opt.t < evaluations:
            batch = opt.ask(evaluations - opt.t)
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        best = opt.recommend()
        alive = opt.moment(pending=False).bounds.upper(X) >= best.lower
        told = np.unique(opt.history.ids)
        ax.scatter(*X[~alive].T, s=2, color="#e4e4e4", label="ruled out")
        ax.scatter(*X[alive].T, s=2, color=BLUE, label="can still be the best")
        ax.scatter(*X[told].T, s=9, color=ORANGE, label="measured")
        ax.scatter(*X[best.id], s=170, marker="*", color=DARK, zorder=5, label="recommended")
        ax.set_title(
            f"{evaluations:,} measurements\n{int(alive.sum()):,} of 5,000 can still be the best",
            fontsize=9,
        )
        ax.set(xticks=[], yticks=[], aspect="equal")
    handles, labels = axes[-1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, markerscale=1.5)
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
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.1), layout="constrained")
    exact = play(on_line(nr.GPUCB, noise=0.3, width=2.0), wave, 150, 0.3)
    sparse = on_line(nr.BKB, noise=0.3, width=2.0)
    sparse.tell(exact.history.ids, exact.history.rewards)
    ax = axes[0]
    band(ax, exact, GREY, "exact model")
    mean, std = sparse.predict()
    for sign in (-1, 1):
        ax.plot(LINE, mean + sign * sparse.beta * std, ":", color=BLUE)
    ax.plot(LINE, mean, color=BLUE, label="sparse model")
    where = sparse.dictionary_points[:, 0]
    ax.scatter(where, np.full(len(where), ax.get_ylim()[0]), marker="^", color=ORANGE, zorder=3)
    ax.set_ylim(-1.6, 1.2)
    ax.set_title(
        f"150 evaluations of {len(np.unique(exact.history.ids))} points, "
        f"{len(where)} inducing points (▲)",
        fontsize=9,
    )
    ax.legend(frameon=False, fontsize=8, loc="lower center", ncols=2)
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
    axes[1].legend(frameon=False, fontsize=8)
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
        ax.scatter(*X.T, s=3, c=f, cmap="Greys", vmin=-0.6, vmax=1.6)
        ax.scatter(*X[told].T, s=10, color=BLUE, label="measured before")
        ax.scatter(*X[batch.ids].T, s=14, color=ORANGE, label="this plate")
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(f"plate {number}", fontsize=10)
        opt.tell(batch, f[batch.ids] + 0.05 * rng.standard_normal(len(batch)))
        told += batch.ids.tolist()
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
    for ax, evaluations in zip(axes, (10, 42, 56), strict=True):
        while opt.t < evaluations:
            batch = opt.ask(1)
            opt.tell(batch, bumps(batch.points) + 0.02 * rng.standard_normal(1))
        ax.contourf(side, side, bumps(grid).reshape(80, 80), levels=12, cmap="Greys", alpha=0.6)
        ax.scatter(*opt.history.points.T, s=14, color=BLUE, label="evaluated")
        lower, upper = np.asarray(opt.region.lower), np.asarray(opt.region.upper)
        ax.add_patch(
            plt.Rectangle(
                lower, *(upper - lower), fill=False, ec=ORANGE, lw=2, label="trust region"
            )
        )
        ax.set(xticks=[], yticks=[], aspect="equal", xlim=(0, 1), ylim=(0, 1))
        ax.set_title(f"after {evaluations} evaluations", fontsize=10)
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
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.1), layout="constrained", sharey=True)
    inside = np.abs(rewards) <= level
    counted = np.where(inside, rewards, 0.0)
    axes[0].fill_between(t, -level, level, color=BLUE, alpha=0.12, label="[−b, b] at time t")
    axes[0].scatter(t[~inside], rewards[~inside], s=14, facecolors="none", edgecolors=GREY)
    axes[0].scatter(t, counted, s=7, color=BLUE, label="what counts")
    axes[0].scatter(t[~inside], counted[~inside], s=16, color=ORANGE, label="truncated: counts 0")
    axes[0].set_title("TGP-UCB truncates about zero", fontsize=10)
    cut = 3.0
    clipped = 0.5 + np.clip(rewards - 0.5, -cut, cut)
    moved = clipped != rewards
    axes[1].fill_between(t, 0.5 - cut, 0.5 + cut, color=BLUE, alpha=0.12, label="m ± c")
    axes[1].scatter(t[moved], rewards[moved], s=14, facecolors="none", edgecolors=GREY)
    axes[1].scatter(t, clipped, s=7, color=BLUE, label="what counts")
    axes[1].scatter(t[moved], clipped[moved], s=16, color=ORANGE, label="clipped: counts m ± c")
    axes[1].set_title("ClippedGPUCB clips about the arm's own middle m", fontsize=10)
    for ax in axes:
        ax.set(ylim=(-9, 9), xlabel="evaluation")
        ax.legend(frameon=False, fontsize=8, loc="lower left")
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


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    mpl.use("Agg")
    plt.rcParams.update({
        "font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False,
    })  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    for name in names or list(pictures):
        fig = pictures[name]()
        path = FOLDER / f"{name}.png"
        drawn = io.BytesIO()
        fig.savefig(drawn, dpi=110)
        plt.close(fig)
        # 128 colours are enough, and make small files.
        Image.open(drawn).convert("RGB").quantize(128).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
