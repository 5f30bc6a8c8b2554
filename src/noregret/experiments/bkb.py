"""BKB (Calandriello et al. 2019): Figure 1, and the costs that its Theorem 1 promises."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import linalg

from noregret._types import Floats
from noregret.algorithms import make
from noregret.algorithms.bkb import BKB
from noregret.experiments.experiment import Experiment, Settings
from noregret.experiments.figures import (
    cut_bands,
    interval,
    legend,
    lines,
    over_runs,
    panels,
    styles,
)
from noregret.experiments.play import AS_PRINTED, play
from noregret.experiments.tasks import Task, grid
from noregret.kernels import RBF, Kernel
from noregret.problems.noise import Noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# -- Figure 1: variance starvation ---------------------------------------------------------------

#: "bandwidth σ² = 100" read as k(x, y) = exp(−100 ‖x − y‖² / 2): the line [0, 1] is ten long
_LINE_KERNEL = RBF(0.1)
_LINE_NOISE = 0.1
_LINE_DRAWN = 0
_METHODS = {"exact": "exact GP", "bkb": "BKB", "sor": "subset of regressors"}


def starvation(seed: int, evaluations: int) -> pl.DataFrame:
    """Three posteriors of a function on [0, 1] that was evaluated in [0, 0.5]: a row per point."""
    rng = np.random.default_rng([2019, 1, seed])
    x = np.linspace(0.0, 1.0, 401)
    root = linalg.cholesky(_LINE_KERNEL(x[:, None], x[:, None]) + 1e-9 * np.eye(401), lower=True)
    f = root @ rng.standard_normal(401)
    # The shorter histories of a seed are the beginnings of the longer ones.
    ids = rng.integers(0, 201, 1000)[:evaluations]
    y = f[ids] + _LINE_NOISE * rng.standard_normal(1000)[:evaluations]
    lam = _LINE_NOISE**2
    opt = BKB(
        x[:, None], _LINE_KERNEL, noise=_LINE_NOISE, lam=lam, qbar=2.0, seed=seed, **AS_PRINTED
    )
    opt.tell(ids, y)
    mean, std = opt.predict()
    exact = _posterior(_LINE_KERNEL, x, ids, y, lam)
    dictionary = np.unique(opt.dictionary)
    regressors = _subset_of_regressors(_LINE_KERNEL, x, ids, y, lam, dictionary)
    frames = [
        pl.DataFrame({"x": x, "f": f, "method": name, "mean": m, "std": s})
        for name, (m, s) in zip(_METHODS, (exact, (mean, std), regressors), strict=True)
    ]
    data = pl.DataFrame({"x": x[ids], "f": y, "method": "data"})
    size = pl.lit(len(dictionary)).alias("inducing")
    return pl.concat([*frames, data], how="diagonal").with_columns(size)


def _posterior(kernel: Kernel, x: Floats, ids: Any, y: Floats, lam: float) -> tuple[Floats, Floats]:
    """Mean and deviation of the exact GP, by the formula."""
    at, points = x[ids, None], x[:, None]
    factor = linalg.cho_factor(kernel(at, at) + lam * np.eye(len(ids)))
    cross = kernel(points, at)
    variance = 1.0 - np.einsum("ij,ji->i", cross, linalg.cho_solve(factor, cross.T))
    return cross @ linalg.cho_solve(factor, y), np.sqrt(np.maximum(variance, 0.0))


def _subset_of_regressors(
    kernel: Kernel, x: Floats, ids: Any, y: Floats, lam: float, dictionary: Any
) -> tuple[Floats, Floats]:
    """The GP on the features z of a dictionary alone; its variance λ zᵀV⁻¹z is too small."""
    inducing = x[dictionary, None]
    small = kernel(inducing, inducing) + 1e-10 * np.eye(len(inducing))
    z = linalg.solve_triangular(
        linalg.cholesky(small, lower=True), kernel(inducing, x[:, None]), lower=True
    ).T
    factor = linalg.cho_factor(z[ids].T @ z[ids] + lam * np.eye(len(inducing)))
    variance = lam * np.einsum("ij,ji->i", z, linalg.cho_solve(factor, z.T))
    return z @ linalg.cho_solve(factor, z[ids].T @ y), np.sqrt(np.maximum(variance, 0.0))


def _starvation_tasks(settings: Settings) -> Sequence[Task]:
    return grid(starvation, seed=range(settings["runs"]), evaluations=settings["evaluations"])


def _plot_starvation(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, axes = panels(len(settings["evaluations"]))
    for axis, t in zip(axes, settings["evaluations"], strict=True):
        one = table.filter(seed=_LINE_DRAWN, evaluations=t)
        first = one.filter(method="exact")
        axis.plot(first["x"], first["f"], color="0.6", lw=3, label="f")
        for method, style in styles(list(_METHODS)).items():
            part = one.filter(method=method)
            x, mean, std = (part[name].to_numpy() for name in ("x", "mean", "std"))
            style = {k: style[k] for k in ("color", "linestyle")}
            axis.plot(x, mean - 3 * std, lw=1.2, label=f"{_METHODS[method]}, ± 3 std", **style)
            axis.plot(x, mean + 3 * std, lw=1.2, **style)
        data = one.filter(method="data")
        axis.scatter(data["x"], data["f"], s=8, color="0.2", zorder=3, label="evaluations")
        axis.set(
            title=f"t = {t}, {first['inducing'][0]} inducing points", xlabel="x", ylabel="f(x)"
        )
    legend(figure, axes[0], columns=5)
    return {"": figure}


def _measure_starvation(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    """How often f leaves mean ± 3 std, and how far deviations are from the exact ones."""
    exact = table.filter(method="exact").select("seed", "evaluations", "x", exact="std")
    rows = []
    for t in settings["evaluations"]:
        for method, name in _METHODS.items():
            part = table.filter(method=method, evaluations=t)
            part = part.join(exact, on=["seed", "evaluations", "x"])
            outside = ((part["f"] - part["mean"]).abs() > 3 * part["std"] + 1e-6).to_numpy()
            ratio = ((part["std"] + 1e-6) / (part["exact"] + 1e-6)).to_numpy()
            share, half = interval(outside.reshape(settings["runs"], -1).mean(axis=1))
            rows.append(
                {
                    "t": t,
                    "posterior": name,
                    "% of [0, 1] outside ± 3 std": 100 * share,
                    "95 % interval ±": 100 * half,
                    "smallest std / exact": ratio.min(),
                    "largest std / exact": ratio.max(),
                    "inducing points": part["inducing"].mean(),
                }
            )
    last = {row["posterior"]: row for row in rows[-len(_METHODS) :]}
    return {
        "rows": rows,
        "outside": {m: last[n]["% of [0, 1] outside ± 3 std"] for m, n in _METHODS.items()},
        "smallest": {m: last[n]["smallest std / exact"] for m, n in _METHODS.items()},
        "largest": {m: last[n]["largest std / exact"] for m, n in _METHODS.items()},
    }


# -- The costs of Theorem 1 ----------------------------------------------------------------------

_PLANE_KERNEL = RBF(0.15)
_PLANE_NOISE = 0.1
_PLAIN = "plain"
_ALGORITHMS = {"bkb": "BKB", "gpucb": "GP-UCB", _PLAIN: "GP-UCB, a row per evaluation"}


def costs(seed: int, algorithm: str, horizon: int, arms: int) -> pl.DataFrame:
    """Processor seconds, dictionary sizes and Theorem 1's bound along a run of one algorithm.

    Our GP-UCB merges repeated evaluations of a point. ``"plain"`` makes the same choices, but times
    a posterior with a row for every evaluation: the paper compares BKB's cost with that one.
    """
    rng = np.random.default_rng([2019, 2, seed])
    points = rng.random((arms, 2))
    centres, heights = rng.random((60, 2)), rng.uniform(-1.0, 1.0, 60)
    norm = float(np.sqrt(heights @ _PLANE_KERNEL(centres, centres) @ heights))
    f = _PLANE_KERNEL(points, centres) @ heights
    rewards = Noise("gaussian", _PLANE_NOISE).paired(horizon, rng)
    name = "gpucb" if algorithm == _PLAIN else algorithm
    options: dict[str, Any] = {"qbar": 2.0} if name == "bkb" else {}
    opt = make(
        name, points, _PLANE_KERNEL, noise=_PLANE_NOISE, norm=norm, delta=1.0 / horizon, lam=1.0,
        seed=seed, width="practical", **options,
    )  # fmt: skip
    marks = np.unique(np.geomspace(50, horizon, 12).round().astype(np.int64))
    sizes: list[int] = []

    def values(batch: Any) -> Floats:
        sizes.append(0 if batch.info is None else batch.info.dictionary_size)
        return np.asarray(f[batch.ids])

    frame = play(opt, horizon, values, rewards, float(f.max()), marks=marks)
    if algorithm == _PLAIN:
        clock = _plain_seconds(points, opt.history.ids, 1.0)
        frame = frame.with_columns(pl.Series("seconds", clock[marks - 1]))
    dimension = [_effective_dimension(points[opt.history.ids[:t]], 1.0) for t in marks]
    # Theorem 1 with ε = 1/2: |S_t| ≤ 3 (1 + κ²/λ) α q̄ d_eff, α = (1 + ε) / (1 − ε) = 3.
    bound = [3.0 * (1.0 + 1.0 / 1.0) * 3.0 * 2.0 * d for d in dimension]
    return frame.with_columns(
        pl.Series("inducing", [sizes[t - 1] for t in marks]),
        pl.Series("effective", dimension),
        pl.Series("bound", bound),
        pl.Series("unique", [len(np.unique(opt.history.ids[:t])) for t in marks]),
    )


def _plain_seconds(points: Floats, ids: Any, lam: float) -> Floats:
    """Processor seconds until each evaluation (t) is part of the variances of all points.

    Row t of the features is what evaluation t adds to the Cholesky factor: O(t A) a step.
    """
    features = np.empty((len(ids), len(points)))
    variance = np.ones(len(points))
    clock = np.empty(len(ids))
    started = time.process_time()
    for t, chosen in enumerate(ids):
        row = _PLANE_KERNEL(points[chosen, None], points)[0]
        row -= features[:t, chosen] @ features[:t]
        features[t] = row / np.sqrt(max(variance[chosen], 0.0) + lam)
        variance -= features[t] ** 2
        clock[t] = time.process_time() - started
    return clock


def _effective_dimension(points: Floats, lam: float) -> float:
    """BKB eq. 5: Tr(K (K + λI)⁻¹), over distinct points with their counts."""
    rows, counts = np.unique(points, axis=0, return_counts=True)
    weights = np.sqrt(counts)
    values = linalg.eigvalsh(weights[:, None] * _PLANE_KERNEL(rows, rows) * weights)
    return float(np.sum(np.maximum(values, 0.0) / (np.maximum(values, 0.0) + lam)))


def _cost_tasks(settings: Settings) -> Sequence[Task]:
    shared = {"horizon": [settings["horizon"]], "arms": [settings["arms"]]}
    return grid(costs, seed=range(settings["runs"]), algorithm=_ALGORITHMS, **shared)


def _plot_costs(table: pl.DataFrame, settings: Settings) -> "Mapping[str, Figure]":
    figure, (left, right) = panels(2)
    lines(left, table, "t", "seconds", "algorithm", _ALGORITHMS)
    left.set(xlabel="evaluations", ylabel="processor seconds", xscale="log", yscale="log")
    bkb = table.filter(algorithm="bkb")
    columns = {
        "inducing": "|S| of BKB",
        "effective": "effective dimension",
        "bound": "bound of Theorem 1",
        "unique": "distinct points evaluated",
    }
    long = bkb.unpivot(list(columns), index=["t", "seed"], variable_name="what")
    lines(right, long, "t", "value", "what", columns)
    right.set(xlabel="evaluations", ylabel="count", xscale="log", yscale="log")
    for axis in (left, right):
        cut_bands([axis])
        axis.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, frameon=False, fontsize=8
        )
    return {"": figure}


def _measure_costs(table: pl.DataFrame, settings: Settings) -> Mapping[str, Any]:
    rows = []
    for (t,), part in table.sort("t").group_by("t", maintain_order=True):
        by = {name: part.filter(algorithm=name) for name in _ALGORITHMS}
        rows.append(
            {
                "t": t,
                "|S|": by["bkb"]["inducing"].mean(),
                "effective dimension": by["bkb"]["effective"].mean(),
                "bound of Theorem 1": by["bkb"]["bound"].mean(),
                "BKB, s": by["bkb"]["seconds"].mean(),
                "GP-UCB, s": by["gpucb"]["seconds"].mean(),
                "a row per evaluation, s": by[_PLAIN]["seconds"].mean(),
            }
        )
    ratio = (table["inducing"] / table["bound"]).filter(table["algorithm"] == "bkb")
    exponent, regret = {}, {}
    for name in _ALGORITHMS:
        part = table.filter(algorithm=name)
        t, seconds, _ = over_runs(part, "t", "seconds")
        exponent[name] = growth(t, seconds)
        regret[name] = over_runs(part, "t", "regret")[1][-1]
    return {
        "rows": rows,
        "largest_share_of_bound": ratio.max(),
        "exponent": exponent,
        "regret": regret,
    }


def growth(t: Floats, seconds: Floats) -> float:
    """The exponent p of seconds ~ t^p between the last row and the one at a quarter of its t."""
    first = max(int(np.searchsorted(t, t[-1] / 4.0, side="right")) - 1, 0)
    return float(np.log(seconds[-1] / seconds[first]) / np.log(t[-1] / t[first]))


EXPERIMENTS = (
    Experiment(
        id="bkb-fig1",
        paper="BKB",
        figure="Figure 1",
        title="variance starvation: BKB, subset of regressors, exact GP",
        minutes=1,
        sizes={
            "page": {"runs": 100, "evaluations": [6, 63, 215]},
            "quick": {"runs": 3, "evaluations": [6, 63]},
        },
        tasks=_starvation_tasks,
        plot=_plot_starvation,
        measure=_measure_starvation,
    ),
    Experiment(
        id="bkb-scaling",
        paper="BKB",
        figure="Theorem 1",
        title="time and dictionary size against t, with the theorem's bound",
        minutes=2,
        sizes={
            "page": {"runs": 5, "horizon": 4000, "arms": 4000},
            "quick": {"runs": 2, "horizon": 100, "arms": 200},
        },
        tasks=_cost_tasks,
        plot=_plot_costs,
        measure=_measure_costs,
    ),
)
