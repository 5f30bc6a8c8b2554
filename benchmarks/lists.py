"""What `nr.maximize` with its defaults finds on lists of candidates, beside random choice.

Every function has Gaussian noise of 0.3 of its standard deviation on the list. The score is the
share of the way from the median to the best value that the recommended candidate lacks: 0 is the
best, 1 is the median. Random choice recommends the candidate with the best value seen.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import noregret as nr
from benchmarks import tables
from noregret._types import Floats
from noregret.problems import datasets

#: the noise's standard deviation, as a share of that of the function on the list
_NOISE = 0.3


@dataclass(frozen=True)
class Library:
    """A list of candidates and the value of each."""

    name: str
    X: Floats
    f: Floats

    def score(self, candidate: int) -> float:
        """What a candidate lacks."""
        best = float(self.f.max())
        return (best - float(self.f[candidate])) / (best - float(np.median(self.f)))


def libraries(seed: int) -> Iterator[Library]:
    """The problems, drawn anew for every seed."""
    rng = np.random.default_rng([71, seed])
    X = rng.random((2000, 4))
    yield Library("waves, 4 columns", X, np.sin(4 * X @ rng.standard_normal(4)) + X[:, 0])
    for columns, count, size in ((2, 15, 0.1), (5, 8, 0.35)):
        X, centres = rng.random((3000, columns)), rng.random((count, columns))
        squares = np.square(X[:, None] - centres).sum(axis=2)
        bumps = np.asarray(np.exp(-squares / (2 * size**2)) @ rng.standard_normal(count))
        yield Library(f"bumps, {columns} columns", X, bumps)
    for columns in (10, 20):
        X = rng.standard_normal((4000, columns))
        f = X @ rng.standard_normal(columns) + X[:, 0] * X[:, 1]
        yield Library(f"slope, {columns} columns", X, f)
    for columns in (8, 16):
        X = rng.uniform(-1, 1, (4000, columns))
        hidden = np.tanh(2 * X @ rng.standard_normal((columns, 16)) / np.sqrt(columns))
        yield Library(f"network, {columns} columns", X, hidden @ rng.standard_normal(16))
    bits = (rng.random((3000, 30)) < 0.3).astype(np.float64)
    f = bits @ rng.standard_normal(30) + 1.5 * bits[:, 0] * bits[:, 1]
    yield Library("bits, 30 columns", bits, f)
    X = rng.uniform(-1, 1, (4000, 40))
    yield Library("4 of 40 columns", X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] * X[:, 3])
    for name, load in (("Abalone", datasets.abalone), ("housing", datasets.california_housing)):
        try:
            data = load()
        except (ImportError, OSError, ValueError) as error:
            print(f"({name} is left out: {error})")
            continue
        some = rng.permutation(len(data.f))[:5000]
        yield Library(name, data.X[some], data.f[some])


def ours(library: Library, budget: int, seed: int) -> tuple[float, float]:
    """The score of one run with the defaults, and processor milliseconds for an evaluation."""
    rng = np.random.default_rng([72, seed])
    noise = _NOISE * float(library.f.std())
    ids = {row.tobytes(): i for i, row in enumerate(library.X)}

    def f(x: Floats) -> float:
        return float(library.f[ids[x.tobytes()]] + noise * rng.standard_normal())

    began = time.process_time()
    found = nr.maximize(f, library.X, budget, seed=seed, progress=False)
    spent = time.process_time() - began
    return library.score(found.best.id), 1e3 * spent / budget


def at_random(library: Library, budget: int, seed: int) -> float:
    """The score of random choice without repeats."""
    rng = np.random.default_rng([73, seed])
    drawn = rng.choice(len(library.f), budget, replace=False)
    noise = _NOISE * float(library.f.std()) * rng.standard_normal(budget)
    return library.score(int(drawn[np.argmax(library.f[drawn] + noise)]))


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = tables.parser("lists", __doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budgets", default="60,200", help="evaluations, separated by commas")
    given = parser.parse_args(arguments)
    budgets = [int(word) for word in given.budgets.split(",")]
    rows: dict[str, list[list[tuple[float, float, float]]]] = {}
    for seed in range(given.seeds):
        for library in libraries(seed):
            cells = rows.setdefault(library.name, [[] for _ in budgets])
            for cell, budget in zip(cells, budgets, strict=True):
                score, ms = ours(library, budget, seed)
                cell.append((score, at_random(library, budget, seed), ms))
    print(f"\nScore of the recommended candidate: mean (range) over {given.seeds} seeds\n")
    heads = [f"{way}, {budget}" for budget in budgets for way in ("ours", "random", "ms")]
    print(tables.head("list", *heads))
    for name, cells in rows.items():
        print(tables.line(name, *map(_shown, cells)))
    by_budget = zip(*rows.values(), strict=True)
    means = [np.mean([np.mean(cell, axis=0) for cell in cells], axis=0) for cells in by_budget]
    print(tables.line("mean", *(f"{a:.3f} | {b:.3f} | {ms:.1f}" for a, b, ms in means)))


def _shown(cell: list[tuple[float, float, float]]) -> str:
    own, drawn, ms = np.array(cell).T
    parts = (f"{x.mean():.2f} ({x.min():.2f} to {x.max():.2f})" for x in (own, drawn))
    return " | ".join([*parts, f"{ms.mean():.1f}"])
