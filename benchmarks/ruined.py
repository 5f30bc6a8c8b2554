"""Ten choices with noise of many kinds: how many runs are ruined?

``python -m benchmarks ruined`` prints, for every noise and algorithm, the regret over that of
uniform choice: mean / largest / runs above one half, which are called ruined. Every algorithm runs
in adaptive batches of ratio 2 and is told the true norm. ``clippedgpucb``, ``gpbucb``, ``atagpucb``
and ``tgpucb`` are also told a true moment of the noise.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from benchmarks.heavy_tails import KERNEL, POINTS, Draw, contaminated, signed_pareto, student
from noregret.problems.kernel_sums import KernelSum

#: the deviation of contaminated noise
_CONTAMINATED = 14.2


@dataclass(frozen=True)
class Rewards:
    """Rewards of ten choices with f in [−1, 1], and what is true of their noise.

    ``means`` turns f into the mean rewards, ``noise`` is the largest (E|ε|^(1+α))^(1/(1+α)). If
    that is no standard deviation, ``deviation`` is that of a Gaussian with the same quartiles.
    """

    draw: Draw
    noise: float
    alpha: float = 1.0
    means: Callable[[np.ndarray], np.ndarray] = lambda f: f
    deviation: float | None = None


def kinds() -> dict[str, Rewards]:
    latency = np.exp(0.5)  # the mean of a log-normal latency
    return {
        "t(3)": Rewards(student(3.0), np.sqrt(3.0)),
        "bernoulli": Rewards(_bernoulli, 0.5, means=lambda f: 0.5 + 0.4 * f),
        "exponential": Rewards(lambda rng, f: f + rng.standard_exponential(len(f)) - 1.0, 1.0),
        "log-normal": Rewards(
            lambda rng, f: f + latency - rng.lognormal(0.0, 1.0, len(f)),
            float(np.sqrt(np.exp(2.0) - np.exp(1.0))),
        ),
        # E|ε|^1.4 of ±Pareto(1.5) is 1.5/(1.5 − 1.4).
        "±Pareto(1.5)": Rewards(signed_pareto, 15.0 ** (1 / 1.4), 0.4, deviation=2.4),
        # One reward in a hundred is 100 times as large: the mean is 1.99 f, the variance at most
        # 0.99·2 + 0.01·2·10⁴ − 1.99².
        "contaminated": Rewards(contaminated, _CONTAMINATED, means=lambda f: 1.99 * f),
        # What a variance alone allows: Gaussian noise with that of contaminated rewards.
        "gaussian as wide": Rewards(
            lambda rng, f: 1.99 * f + _CONTAMINATED * rng.standard_normal(len(f)),
            _CONTAMINATED,
            means=lambda f: 1.99 * f,
        ),
    }


def _bernoulli(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return (rng.random(len(f)) < 0.5 + 0.4 * f).astype(np.float64)


def _told(name: str, kind: Rewards, means: np.ndarray, rounds: int) -> dict[str, Any]:
    """What an algorithm is told about the noise."""
    if name == "clippedgpucb":
        return {"noise": kind.noise, "alpha": kind.alpha}
    if name == "gpbucb":
        return {"noise": kind.noise if kind.deviation is None else kind.deviation}
    if name in ("tgpucb", "atagpucb"):
        # By Minkowski's inequality; the width that the paper's authors run.
        v = float((np.abs(means).max() + kind.noise) ** (1.0 + kind.alpha))
        return {"v": v, "alpha": kind.alpha, "width": "practical", "horizon": rounds}
    return {}


def one_run(kind: Rewards, name: str, seed: int, rounds: int) -> float:
    """The regret of one run over that of uniform choice."""
    rng = np.random.default_rng([7, seed])
    points = POINTS[::11]
    f = KernelSum(KERNEL, points, rng.uniform(-1.0, 1.0, len(points)))(points)
    f = f / np.abs(f).max()
    means = kind.means(f)
    norm = float(np.sqrt(means @ np.linalg.solve(KERNEL(points, points), means)))
    told = _told(name, kind, means, rounds)
    optimizer = nr.make(name, points, KERNEL, norm=norm, seed=seed, ratio=2.0, **told)
    with warnings.catch_warnings():
        # ±Pareto(1.5) has no deviation, so that any ``noise`` may be refuted.
        warnings.filterwarnings("ignore", "the rewards contradict", RuntimeWarning)
        while optimizer.t < rounds:
            batch = optimizer.ask()[: rounds - optimizer.t]
            optimizer.tell(batch, kind.draw(rng, f[batch.ids]))
    lost = means.max() - means[optimizer.history.ids].mean()
    return float(lost / (means.max() - means.mean()))


def main(arguments: Sequence[str] = ()) -> None:
    parser = tables.parser("ruined", __doc__)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--algorithms", default="clippedgpucb,hubergpucb,gpbucb,atagpucb,tgpucb")
    parser.add_argument("--noises", default=",".join(kinds()))
    given = parser.parse_args(arguments)
    names = given.algorithms.split(",")
    print(f"\n{given.rounds} rounds, {given.seeds} seeds, regret over that of uniform choice:")
    print("mean / largest / runs above one half\n")
    print(tables.head("", *names))
    for label in given.noises.split(","):
        kind, cells = kinds()[label], []
        for name in names:
            seeds = range(given.first, given.first + given.seeds)
            found = np.array([one_run(kind, name, seed, given.rounds) for seed in seeds])
            cells.append(f"{found.mean():.3f} / {found.max():.3f} / {np.sum(found > 0.5)}")
        tables.show(tables.line(label, *cells))
