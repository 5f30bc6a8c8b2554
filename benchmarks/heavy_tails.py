"""Heavy-tailed rewards on the 100-point problem of Ray Chowdhury & Gopalan (2019).

``python -m benchmarks heavy`` prints the average regret of GP-UCB and of ``HuberGPUCB`` under seven
noises. The paper's own figures: ``noregret reproduce``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import noregret as nr
from benchmarks import tables
from noregret.problems.kernel_sums import LINE, KernelSum

POINTS = LINE.points
KERNEL = nr.RBF(0.2)
Draw = Callable[[np.random.Generator, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Noise:
    """Rewards given f, and the deviation ξ that GP-UCB is told."""

    draw: Draw
    scale: float
    positive: bool = False  # f ≥ 0


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
    return {
        "gaussian": Noise(_gauss, 1.0),
        "t(3)": Noise(student(3.0), np.sqrt(3.0)),
        "t(1.5)": Noise(student(1.5), _spread(student(1.5))),
        # Rewards are Pareto with mean f: ξ from their quartiles at f = 1.
        "pareto(2)": Noise(_pareto, 0.32, positive=True),
        "sym. pareto(1.5)": Noise(signed_pareto, _spread(signed_pareto)),
        "stable(1.5)": Noise(_stable, _spread(_stable)),
        "contaminated": Noise(contaminated, 1.0),
    }


def function(rng: np.random.Generator, positive: bool) -> np.ndarray:
    """f = Σ a_i k(·, x_i) with uniform a_i at all the points x_i, scaled to max |f| = 1."""
    heights = rng.uniform(0.0 if positive else -1.0, 1.0, len(POINTS))
    f = KernelSum(KERNEL, POINTS, heights)(POINTS)
    return np.asarray(f / np.abs(f).max())


def run(name: str, kind: Noise, seed: int, rounds: int, **options: Any) -> np.ndarray:
    """Average regret, and the last quarter's."""
    rng = np.random.default_rng(seed)
    f = function(rng, kind.positive)
    if name == "gpucb":
        options = {"noise": kind.scale, **options}
    optimizer = nr.make(name, POINTS, KERNEL, norm=1.0, lam=1.0, seed=seed, **options)
    while optimizer.t < rounds:
        batch = optimizer.ask()[: rounds - optimizer.t]
        optimizer.tell(batch, kind.draw(rng, f[batch.ids]))
    regret = f.max() - f[optimizer.history.ids]
    return np.array([regret.mean(), regret[-(rounds // 4) :].mean()])


#: rows of the table: label, algorithm, options
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("GP-UCB", "gpucb", {"width": 3.0}),
    ("Huber", "hubergpucb", {}),
    ("Huber, batches", "hubergpucb", {"features": "nystrom", "ratio": 2.0}),
]


def table(seeds: range, rounds: int) -> None:
    """Average regret: mean, 90th percentile, and how many runs were ruined.

    A run is ruined when it is stuck: the regret of its last quarter is above half that of a uniform
    choice.
    """
    kinds = noises()
    print(f"\n{rounds} rounds, {len(seeds)} seeds: mean / 90th percentile / runs ruined\n")
    print(tables.head("", *kinds))
    for label, name, options in ROWS:
        cells = []
        for noise in kinds.values():
            found = np.array([run(name, noise, s, rounds, **options) for s in seeds])
            limits = [_uniform_regret(noise, s) / 2 for s in seeds]
            average, ruined = found[:, 0], int(np.sum(found[:, 1] > limits))
            cells.append(f"{average.mean():.3f} / {np.quantile(average, 0.9):.3f} / {ruined}")
        tables.show(tables.line(label, *cells))


def _uniform_regret(noise: Noise, seed: int) -> float:
    f = function(np.random.default_rng(seed), noise.positive)
    return float(f.max() - f.mean())


def main(arguments: Sequence[str] = ()) -> None:
    parser = tables.parser("heavy", __doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rounds", type=int, default=300)
    given = parser.parse_args(arguments)
    table(range(given.first, given.first + given.seeds), given.rounds)
