"""Heavy-tailed rewards on the 100-point problem of Ray Chowdhury & Gopalan (2019).

``python -m benchmarks heavy`` prints the average regret of every algorithm under seven noises with
numeric, practical and theory's widths, then the seconds per step as t grows. ``--parts`` chooses
some of them: ``3.0``, ``practical``, ``theory``, ``cost``, ``long`` (one noise) and ``learnt``
(settings that are "auto"). The paper's own figures: ``noregret reproduce``.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import noregret as nr
from noregret.problems.kernel_sums import LINE, KernelSum

POINTS = LINE.points
KERNEL = nr.RBF(0.2)
Draw = Callable[[np.random.Generator, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Noise:
    """Rewards given f, the α and v = sup E|y|^(1+α) they are told to have, and a deviation ξ."""

    draw: Draw
    alpha: float
    v: float
    scale: float
    positive: bool = False  # f ≥ 0


def _moment(draw: Draw, alpha: float) -> float:
    """E|y|^(1+α) at f = 1, by drawing a million rewards."""
    rng = np.random.default_rng(0)
    return float(np.mean(np.abs(draw(rng, np.ones(1_000_000))) ** (1.0 + alpha)))


def _spread(draw: Draw) -> float:
    """The deviation of a Gaussian with the noise's quartiles, where there is no variance."""
    sample = draw(np.random.default_rng(0), np.zeros(1_000_000))
    return float(np.subtract(*np.quantile(sample, [0.75, 0.25])) / 1.349)


def signed_pareto(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    sign = rng.choice([-1.0, 1.0], size=len(f))
    return f + sign * (1.0 + rng.pareto(1.5, len(f)))


def _stable(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return np.asarray(f + stats.levy_stable.rvs(1.5, 0.0, size=len(f), random_state=rng))


def contaminated(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    y = f + rng.standard_normal(len(f))
    return np.where(rng.random(len(f)) < 0.01, 100.0 * y, y)


def _gauss(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return f + rng.standard_normal(len(f))


def student(freedom: float) -> Draw:
    return lambda rng, f: f + rng.standard_t(freedom, len(f))


def _pareto(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return 0.5 * f * (1.0 + rng.pareto(2.0, len(f)))


def noises() -> dict[str, Noise]:
    def infinite(draw: Draw) -> Noise:
        return Noise(draw, 0.4, _moment(draw, 0.4), _spread(draw))

    return {
        "gaussian": Noise(_gauss, 1.0, 2.0, 1.0),
        "t(3)": Noise(student(3.0), 1.0, 4.0, np.sqrt(3.0)),
        "t(1.5)": infinite(student(1.5)),
        # Rewards are Pareto with mean f: v as in the paper, ξ from their quartiles at f = 1.
        "pareto(2)": Noise(_pareto, 0.9, 1.0 / (2**0.9 * 0.1), 0.32, positive=True),
        "sym. pareto(1.5)": infinite(signed_pareto),
        "stable(1.5)": infinite(_stable),
        "contaminated": Noise(contaminated, 1.0, 202.0, 1.0),
    }


def function(rng: np.random.Generator, positive: bool) -> np.ndarray:
    """f = Σ a_i k(·, x_i) with uniform a_i at all the points x_i, scaled to max |f| = 1."""
    heights = rng.uniform(0.0 if positive else -1.0, 1.0, len(POINTS))
    f = KernelSum(KERNEL, POINTS, heights)(POINTS)
    return np.asarray(f / np.abs(f).max())


def run(name: str, kind: Noise, seed: int, rounds: int, **options: Any) -> np.ndarray:
    """Average regret, the last quarter's, CPU seconds per evaluation, the recommendation's."""
    rng = np.random.default_rng(seed)
    f = function(rng, kind.positive)
    options = {"kernel": KERNEL, "norm": 1.0, "lam": 1.0, "seed": seed, **options}
    if name == "gpucb":
        options = {"noise": kind.scale, **options}
    elif name != "hubergpucb":
        options = {"alpha": kind.alpha, "v": kind.v, **options}
    if name == "atagpucb":
        options = {"horizon": rounds, **options}
    optimizer = nr.make(name, POINTS, **options)
    seconds = 0.0
    while optimizer.t < rounds:
        started = time.process_time()
        batch = optimizer.ask()[: rounds - optimizer.t]
        seconds += time.process_time() - started
        rewards = kind.draw(rng, f[batch.ids])
        started = time.process_time()
        optimizer.tell(batch, rewards)
        seconds += time.process_time() - started
    regret = f.max() - f[optimizer.history.ids]
    last = regret[-(rounds // 4) :].mean()
    return np.array([regret.mean(), last, seconds / rounds, f.max() - f[optimizer.recommend().id]])


#: rows of the tables: label, algorithm, options
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("GP-UCB", "gpucb", {}),
    ("TGP-UCB", "tgpucb", {}),
    ("ATA, Nyström", "atagpucb", {}),
    ("ATA, QFF", "atagpucb", {"features": "qff", "nodes": 32}),
    ("ATA, Nyström, batches", "atagpucb", {"ratio": 2.0}),
    (
        "ATA, Nyström, batches, α = 1, v estimated",
        "atagpucb",
        {"ratio": 2.0, "v": "estimate", "alpha": 1.0},
    ),
    ("Huber", "hubergpucb", {}),
    ("Huber, practical width", "hubergpucb", {"width": "practical"}),
    (
        "Huber, batches, practical width",
        "hubergpucb",
        {"features": "nystrom", "ratio": 2.0, "width": "practical"},
    ),
]


def table(width: str | float, seeds: range, rounds: int, kinds: dict[str, Noise]) -> None:
    """Average regret: mean, 90th percentile, and how many runs were ruined.

    A run is ruined when it is stuck: the regret of its last quarter is above half that of a uniform
    choice.
    """
    sizes = f"width {width}, {rounds} rounds, {len(seeds)} seeds"
    print(f"\n{sizes}: mean / 90th percentile / runs ruined\n")
    print("| | " + " | ".join(kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for label, name, options in ROWS:
        if width != 3.0 and ("estimate" in options.values() or name == "hubergpucb"):
            continue
        cells = []
        for noise in kinds.values():
            options = {"width": width, **options}
            found = np.array([run(name, noise, s, rounds, **options) for s in seeds])
            limits = [_uniform_regret(noise, s) / 2 for s in seeds]
            average, ruined = found[:, 0], int(np.sum(found[:, 1] > limits))
            cells.append(f"{average.mean():.3f} / {np.quantile(average, 0.9):.3f} / {ruined}")
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def _uniform_regret(noise: Noise, seed: int) -> float:
    f = function(np.random.default_rng(seed), noise.positive)
    return float(f.max() - f.mean())


def cost(rounds: int = 100_000) -> None:
    """Milliseconds per step around t = 10³ and at the end, in one run each, and the whole run."""
    print("\n| | ms per step, t = 10³ | ms per step, t = 10⁵ | ratio | 20,000 rounds, s |")
    print("|---|---|---|---|---|")
    noise = noises()["t(3)"]
    for label, name, options in ROWS:
        if label not in ("TGP-UCB", "ATA, Nyström", "ATA, QFF", "Huber"):
            continue
        rng = np.random.default_rng(0)
        f = function(rng, positive=False)
        if name != "hubergpucb":
            options = {"alpha": 1.0, "v": 4.0, **options}
        optimizer = nr.make(name, POINTS, KERNEL, lam=1.0, width=3.0, seed=0, **options)
        early = _steps(optimizer, noise, f, rng, 500, 1500)
        whole = _steps(optimizer, noise, f, rng, 1500, 20_000) * 18_500 + early * 1500
        # The rest of the history comes in one piece, spread as the run so far has been.
        ids = rng.choice(optimizer.history.ids, rounds - 20_000)
        optimizer.tell(ids, noise.draw(rng, f[ids]))
        late = _steps(optimizer, noise, f, rng, rounds + 100, rounds + 1100)
        cells = (f"{1e3 * early:.2f}", f"{1e3 * late:.2f}", f"{late / early:.2f}", f"{whole:.1f}")
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def learnt(rounds: int, seeds: int) -> None:
    """Kernel, noise and norm given and learnt: average regret, and the recommendation's."""
    auto: dict[str, Any] = dict.fromkeys(("kernel", "noise", "norm"), "auto") | {"lam": None}
    kinds = {kind: noises()[kind] for kind in ("gaussian", "t(1.5)", "contaminated")}
    print(f"\n{rounds} rounds, {seeds} seeds: average regret / median of the recommendation's\n")
    print("| | " + " | ".join(kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    rows: list[tuple[str, str, dict[str, Any]]] = [
        ("GP-UCB, width 3.0, given", "gpucb", {"width": 3.0}),
        ("GP-UCB, width 3.0, learnt", "gpucb", {"width": 3.0, **auto}),
        ("Huber, practical width, given", "hubergpucb", {"width": "practical"}),
        ("Huber, practical width, learnt", "hubergpucb", {"width": "practical", **auto}),
        ("ATA, Nyström, width 3.0, given", "atagpucb", {"width": 3.0}),
        ("ATA, Nyström, width 3.0, learnt", "atagpucb", {"width": 3.0, **auto}),
    ]
    for label, name, options in rows:
        cells = []
        for noise in kinds.values():
            found = np.array([run(name, noise, s, rounds, **options) for s in range(seeds)])
            cells.append(f"{found[:, 0].mean():.3f} / {np.median(found[:, 3]):.3f}")
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def _steps(
    optimizer: nr.Optimizer,
    noise: Noise,
    f: np.ndarray,
    rng: np.random.Generator,
    first: int,
    last: int,
) -> float:
    """CPU seconds per step between two times, the steps before the first untimed."""
    started = time.process_time()
    while optimizer.t < last:
        if optimizer.t == first:
            started = time.process_time()
        batch = optimizer.ask()
        optimizer.tell(batch, noise.draw(rng, f[batch.ids]))
    return (time.process_time() - started) / (last - first)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks heavy", description=__doc__)
    parser.add_argument("--parts", default="3.0,practical,theory,cost")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rounds", type=int, default=300)
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.seeds)
    for part in given.parts.split(","):
        if part == "cost":
            cost()
        elif part == "long":
            worst = "sym. pareto(1.5)"
            table(3.0, seeds, given.rounds, {worst: noises()[worst]})
        elif part == "learnt":
            learnt(given.rounds, given.seeds)
        else:
            width = part if part.isalpha() else float(part)
            table(width, seeds, given.rounds, noises())
