"""Latencies, counts and failures through ``nr.minimize`` without any options.

``python -m benchmarks latencies`` tunes two settings in [0, 1], and in the mixed space also a
choice of three. It prints the true mean of the recommended configuration over that of the best one:
median / largest / runs above two. Beside it stands uniform choice: the configuration with the
smallest mean of what was measured.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables

#: what one measurement of a configuration with a given mean is
Measure = Callable[[np.random.Generator, float], float]
_CODECS = ("none", "fast", "small")


def _log_normal(rng: np.random.Generator, mean: float, sigma: float) -> float:
    return mean * rng.lognormal(-0.5 * sigma**2, sigma)


def _sometimes(value: float, share: float, sigma: float) -> Measure:
    """A share of the measurements is one value, whatever the configuration."""
    return lambda rng, mean: value if rng.random() < share else _log_normal(rng, mean, sigma)


def _stalls(rng: np.random.Generator, mean: float) -> float:
    return _log_normal(rng, mean, 0.3) * (100.0 if rng.random() < 0.01 else 1.0)


MEASURES: dict[str, Measure] = {
    "log-normal, σ = 0.3": lambda rng, mean: _log_normal(rng, mean, 0.3),
    "log-normal, σ = 1": lambda rng, mean: _log_normal(rng, mean, 1.0),
    "1 % stalls": _stalls,
    "three in ten are zero": _sometimes(0.0, 0.3, 0.5),
    "six in ten are zero": _sometimes(0.0, 0.6, 0.3),
    "three in ten are 0.5": _sometimes(0.5, 0.3, 0.2),
    "whole milliseconds": lambda rng, mean: float(np.round(_log_normal(rng, mean, 0.3))),
    "counts": lambda rng, mean: float(rng.poisson(mean)),
    "failures": lambda rng, mean: float(rng.random() < 0.06 * mean),
}


@dataclass(frozen=True)
class Program:
    """A program whose mean latency is 1 at its best and up to about 15.

    Attributes
    ----------
    best, weights
        The best settings, and how much each matters (2 each).
    codecs
        Factors of the three codecs (3).
    """

    best: np.ndarray
    weights: np.ndarray
    codecs: np.ndarray

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> "Program":
        codecs = rng.permutation([1.0, 1.4, 2.0])
        return cls(rng.uniform(0.1, 0.9, 2), rng.uniform(3.0, 12.0, 2), codecs)

    def means(self, settings: np.ndarray) -> np.ndarray:
        """Mean latencies of settings (n × 2)."""
        return np.asarray(1.0 + np.square(settings - self.best) @ self.weights)

    def mean(self, point: Any) -> float:
        """The mean latency of a point of any of the spaces."""
        if not isinstance(point, dict):
            return float(self.means(np.asarray(point)[None])[0])
        settings = np.array([[point["cache"], point["threads"]]])
        return float(self.means(settings)[0] * self.codecs[_CODECS.index(point["codec"])])


def _space(kind: str, rng: np.random.Generator) -> Any:
    if kind.startswith("list"):
        return nr.Candidates(rng.uniform(size=(int(kind[4:]), 2)))
    if kind == "box":
        return nr.Box([(0.0, 1.0)] * 2)
    return nr.Space(
        {"cache": nr.Float(0.0, 1.0), "threads": nr.Float(0.0, 1.0), "codec": nr.Choice(_CODECS)}
    )


def one_run(kind: str, measure: Measure, seed: int, budget: int, **options: Any) -> list[float]:
    """Means of the recommended configuration, ours and of uniform choice, over the best."""
    rng = np.random.default_rng([23, seed])
    program, space = Program.drawn(rng), _space(kind, rng)
    best = float(program.means(space.points).min()) if space.size is not None else 1.0

    def f(point: Any) -> float:
        return measure(rng, program.mean(point))

    ours = nr.minimize(f, space, budget, seed=seed, progress=False, **options)
    uniform = nr.make("uniform", space, "auto", noise="auto", norm="auto", seed=seed)
    drawn = uniform.ask(budget)
    values = [f(point) for point in drawn.values]
    smallest = smallest_mean([repr(point) for point in drawn.values], values)
    return [program.mean(ours.best.point) / best, program.mean(drawn.values[smallest]) / best]


def smallest_mean(names: list[str], values: list[float]) -> int:
    """The position of a configuration whose measurements have the smallest mean."""
    sums: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        sums.setdefault(name, []).append(value)
    return names.index(min(sums, key=lambda name: float(np.mean(sums[name]))))


def main(arguments: Sequence[str] = ()) -> None:
    parser = tables.parser("latencies", __doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--spaces", default="list256,list60,box,mixed")
    parser.add_argument("--noise", help='"heavy" for robust estimates')
    given = parser.parse_args(arguments)
    options = {} if given.noise is None else {"noise": given.noise}
    seeds = range(given.first, given.first + given.seeds)
    spaces = given.spaces.split(",")
    print(f"\n{given.budget} evaluations, {given.seeds} seeds: median / largest / above two\n")
    print(tables.head("", *(name for space in spaces for name in (space, "uniform choice"))))
    warnings.simplefilter("ignore")
    for label, measure in MEASURES.items():
        cells = []
        for space in spaces:
            found = np.array(
                [one_run(space, measure, seed, given.budget, **options) for seed in seeds]
            )
            cells += [f"{np.median(c):.2f} / {c.max():.2f} / {np.sum(c > 2.0)}" for c in found.T]
        tables.show(tables.line(label, *cells))
