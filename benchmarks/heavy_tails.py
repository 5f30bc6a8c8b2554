"""Heavy-tailed rewards on the 100-point problem of Ray Chowdhury & Gopalan (2019).

``python -m benchmarks.heavy_tails`` prints the average regret of every algorithm under seven noises
with numeric, practical and theory's widths, then the seconds per step as t grows. Words choose a
part (``3.0``, ``practical``, ``theory``, ``cost``, ``paper``, ``sensors``), ``seeds=30`` and
``rounds=400`` its size. ``sensors`` reads the light sensors' files from ``$NOREGRET_DATA``.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import noregret as nr

POINTS = np.linspace(0.01, 1.0, 100)[:, None]
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


def _signed_pareto(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    sign = rng.choice([-1.0, 1.0], size=len(f))
    return f + sign * (1.0 + rng.pareto(1.5, len(f)))


def _stable(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return f + stats.levy_stable.rvs(1.5, 0.0, size=len(f), random_state=rng)


def _contaminated(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    y = f + rng.standard_normal(len(f))
    return np.where(rng.random(len(f)) < 0.01, 100.0 * y, y)


def _gauss(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return f + rng.standard_normal(len(f))


def _student(freedom: float) -> Draw:
    return lambda rng, f: f + rng.standard_t(freedom, len(f))


def _pareto(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return 0.5 * f * (1.0 + rng.pareto(2.0, len(f)))


def noises() -> dict[str, Noise]:
    def infinite(draw: Draw) -> Noise:
        return Noise(draw, 0.4, _moment(draw, 0.4), _spread(draw))

    return {
        "gaussian": Noise(_gauss, 1.0, 2.0, 1.0),
        "t(3)": Noise(_student(3.0), 1.0, 4.0, np.sqrt(3.0)),
        "t(1.5)": infinite(_student(1.5)),
        # Rewards are Pareto with mean f: v as in the paper, ξ from their quartiles at f = 1.
        "pareto(2)": Noise(_pareto, 0.9, 1.0 / (2**0.9 * 0.1), 0.32, positive=True),
        "sym. pareto(1.5)": infinite(_signed_pareto),
        "stable(1.5)": infinite(_stable),
        "contaminated": Noise(_contaminated, 1.0, 202.0, 1.0),
    }


def function(rng: np.random.Generator, positive: bool) -> np.ndarray:
    """f = Σ a_i k(·, x_i) with uniform a_i, scaled to max |f| = 1."""
    f = KERNEL(POINTS, POINTS) @ rng.uniform(0.0 if positive else -1.0, 1.0, len(POINTS))
    return np.asarray(f / np.abs(f).max())


def run(name: str, noise: Noise, seed: int, rounds: int, **options: Any) -> tuple[float, float]:
    """Average regret, and CPU seconds per evaluation."""
    rng = np.random.default_rng(seed)
    f = function(rng, noise.positive)
    if name == "gpucb":
        options = {"noise": noise.scale, **options}
    elif name in ("tgpucb", "atagpucb", "robustucb"):
        options = {"alpha": noise.alpha, "v": noise.v, **options}
    if name == "atagpucb":
        options = {"horizon": rounds, **options}
    optimizer = nr.make(name, POINTS, KERNEL, norm=1.0, lam=1.0, seed=seed, **options)
    regret = seconds = 0.0
    while optimizer.t < rounds:
        started = time.process_time()
        batch = optimizer.ask()[: rounds - optimizer.t]
        seconds += time.process_time() - started
        rewards = noise.draw(rng, f[batch.ids])
        regret += float((f.max() - f[batch.ids]).sum())
        started = time.process_time()
        optimizer.tell(batch, rewards)
        seconds += time.process_time() - started
    return regret / rounds, seconds / rounds


#: rows of the tables: label, algorithm, options
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("GP-UCB", "gpucb", {}),
    ("TGP-UCB", "tgpucb", {}),
    ("TGP-UCB, α = 1, v estimated", "tgpucb", {"alpha": 1.0, "v": "estimate"}),
    ("ATA, Nyström", "atagpucb", {}),
    ("ATA, QFF", "atagpucb", {"features": "qff", "nodes": 32}),
    ("ATA, Nyström, batches", "atagpucb", {"ratio": 2.0}),
    ("ATA, Nyström, α = 1, v estimated", "atagpucb", {"alpha": 1.0, "v": "estimate"}),
    ("Huber", "hubergpucb", {}),
    ("Huber, batches", "hubergpucb", {"features": "nystrom", "ratio": 2.0}),
]


def table(width: str | float, seeds: int, rounds: int) -> None:
    """Average regret: mean, 90th percentile, and how many runs were ruined.

    A run is ruined when its average regret is above half that of a uniform choice.
    """
    kinds = noises()
    print(
        f"\nwidth {width}, {rounds} rounds, {seeds} seeds: mean / 90th percentile / runs ruined\n"
    )
    print("| | " + " | ".join(kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for label, name, options in ROWS:
        estimated = "estimate" in options.values()
        if (estimated and width != 3.0) or (name == "hubergpucb" and width == "theory"):
            continue
        cells = []
        for noise in kinds.values():
            found = [run(name, noise, s, rounds, width=width, **options)[0] for s in range(seeds)]
            limits = [_uniform_regret(noise, s) / 2 for s in range(seeds)]
            ruined = int(np.sum(np.array(found) > np.array(limits)))
            cells.append(f"{np.mean(found):.3f} / {np.quantile(found, 0.9):.3f} / {ruined}")
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


def paper(rounds: int, seeds: int) -> None:
    """The paper's Figure 1 (a), Student-t(3): practical widths, average regret at the end."""
    print(
        f"\npractical widths, t(3), {rounds} rounds, {seeds} functions: average regret, s a run\n"
    )
    for label, name, options in ROWS:
        if label in ("TGP-UCB", "ATA, Nyström", "ATA, QFF", "Huber"):
            noise = noises()["t(3)"]
            found = [
                run(name, noise, s, rounds, width="practical", **options) for s in range(seeds)
            ]
            regret, seconds = np.mean(found, axis=0)
            print(f"| {label} | {regret:.3f} | {seconds * rounds:.1f} |", flush=True)


def sensors(rounds: int, seeds: int) -> None:
    """The paper's appendix E: Robust UCB beside the GP algorithms on 41 light sensors.

    f is the mean of the test readings, a reward a test reading drawn at random, the kernel the
    covariance of the standardised training readings; α = 1, v the mean square, B the largest mean.
    """
    folder = Path(os.environ["NOREGRET_DATA"]) / "lightsensor"
    train, test = (
        np.loadtxt(folder / f"{part}.csv", delimiter=",", skiprows=1) for part in ("train", "test")
    )
    kernel = nr.Precomputed(np.corrcoef(train.T))
    f, v = test.mean(axis=0), float(np.square(test).mean())
    print(f"\nlight sensors, {rounds} rounds, {seeds} seeds: average regret, mean ± deviation\n")
    print("| | theory | practical |\n|---|---|---|")
    for label, name, options in [*ROWS, ("Robust UCB", "robustucb", {})]:
        if name == "gpucb" or options.get("features") == "qff" or "estimate" in options.values():
            continue
        if name != "hubergpucb":
            options = {"alpha": 1.0, "v": v, **options}
        cells = []
        for width in ("theory", "practical"):
            if width == "theory" and name == "hubergpucb":
                cells.append("")
                continue
            found = []
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                optimizer = nr.make(
                    name,
                    range(len(f)),
                    kernel,
                    norm=f.max(),
                    lam=1.0,
                    width=width,
                    seed=seed,
                    **options,
                )
                while optimizer.t < rounds:
                    batch = optimizer.ask()[: rounds - optimizer.t]
                    optimizer.tell(batch, test[rng.integers(0, len(test), len(batch)), batch.ids])
                found.append(float(np.mean(f.max() - f[optimizer.history.ids])))
            cells.append(f"{np.mean(found):.0f} ± {np.std(found):.0f}")
        print(f"| {label} | {cells[0]} | {cells[1]} |", flush=True)
    print(f"| uniform | {f.max() - f.mean():.0f} | {f.max() - f.mean():.0f} |")


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


def main(words: list[str]) -> None:
    sizes = {"seeds": 30, "rounds": 400}
    sizes |= {w.split("=")[0]: int(w.split("=")[1]) for w in words if "=" in w}
    parts = [w for w in words if "=" not in w] or ["3.0", "practical", "theory", "cost"]
    for part in parts:
        if part == "cost":
            cost()
        elif part in ("paper", "sensors"):
            {"paper": paper, "sensors": sensors}[part](sizes["rounds"], sizes["seeds"])
        else:
            width = part if part.isalpha() else float(part)
            table(width, sizes["seeds"], sizes["rounds"])


if __name__ == "__main__":
    main(sys.argv[1:])
