"""This version beside an earlier one: processor time and regret, run in turns.

    git worktree add ../earlier <commit>
    python -m benchmarks versions --before ../earlier/src [--only GPUCB] [--seeds 5]

Each version has a process of its own, with one thread. They run the same task one after the other,
so that other programs disturb both alike. The table has the ratio of processor times, this version
over the earlier one, and the regret of both over that of uniform choice: medians (ranges) over
seeds.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.problems import datasets

Floats = NDArray[np.float64]
#: what a run begins with: so many rewards of random candidates
_INITIAL = 10
#: thread limits of both processes
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


@dataclass(frozen=True)
class Task:
    """An algorithm on a problem.

    Attributes
    ----------
    algorithm, problem, size
        Names of both, and the argument that the problem takes besides the seed.
    horizon, noise
        T and ξ.
    widths
        Those to be run.
    options
        More settings of the algorithm.
    """

    algorithm: str
    problem: str
    size: float
    horizon: int
    noise: float
    widths: tuple[Any, ...] = ("theory", "practical", 2.0)
    options: dict[str, Any] = field(default_factory=dict)


def synthetic(lengthscale: float, seed: int) -> tuple[Floats, Floats, Any]:
    """The synthetic problem of ``python -m benchmarks cases``."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4177, 8))
    f = np.sin(X @ rng.standard_normal(8) / 3) + 0.3 * np.cos(2 * X[:, 0])
    return X, (f - f.min()) / (f.max() - f.min()), nr.RBF(lengthscale)


def abalone(lengthscale: float, seed: int) -> tuple[Floats, Floats, Any]:
    """Abalone."""
    data = datasets.abalone()
    return data.X, data.f, nr.RBF(lengthscale)


def housing(lengthscale: float, seed: int) -> tuple[Floats, Floats, Any]:
    """California housing."""
    data = datasets.california_housing()
    return data.X, data.f, nr.RBF(lengthscale)


def plane(count: float, seed: int) -> tuple[Floats, Floats, Any]:
    """A function of 30 bumps of the RBF kernel on random points of the unit square."""
    return _bumps(np.random.default_rng([seed, 2]).random((int(count), 2)), nr.RBF(0.2), seed)


def grid(dimension: float, seed: int) -> tuple[Floats, Floats, Any]:
    """A function of 30 bumps of the Matérn kernel on 30 points a side (π-GP-UCB Section 5)."""
    axes = [np.linspace(0.0, 1.0, 30)] * int(dimension)
    X = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, int(dimension))
    return _bumps(X, nr.Matern(0.2, nu=1.5), seed)


def _bumps(X: Floats, kernel: Any, seed: int) -> tuple[Floats, Floats, Any]:
    rng = np.random.default_rng([seed, 3])
    centres, heights = rng.random((30, X.shape[1])), rng.uniform(-1.0, 1.0, 30)
    norm = float(np.sqrt(heights @ kernel(centres, centres) @ heights))
    return X, kernel(X, centres) @ heights / norm, kernel


PROBLEMS = {made.__name__: made for made in (synthetic, abalone, housing, plane, grid)}
_BBKB = {"lam": 0.01, "qbar": 2.0, "ratio": 2.0}
_CURRENT = ("practical", 2.0)
TASKS = {
    "BBKB, Abalone": Task("BBKB", "abalone", 5.0, 2000, 0.01, options=_BBKB),
    "BBKB, synthetic": Task("BBKB", "synthetic", 5.0, 2000, 0.01, options=_BBKB),
    "BBKB, housing, RBF 12.5": Task("BBKB", "housing", 12.5, 10_000, 0.01, options=_BBKB),
    "BBKB, housing, RBF 3": Task("BBKB", "housing", 3.0, 1176, 0.01, options=_BBKB),
    "GPUCB, 500 points": Task("GPUCB", "plane", 500, 300, 0.1),
    "GPUCB, 900 points": Task("GPUCB", "plane", 900, 1000, 0.1),
    "GPUCB, 2,500 points": Task("GPUCB", "plane", 2500, 1000, 0.1),
    "IGPUCB, 500 points": Task("IGPUCB", "plane", 500, 300, 0.1, _CURRENT),
    "IGPUCB, grid of 900": Task("IGPUCB", "grid", 2, 1000, 1.0, _CURRENT),
    "IGPUCB, 2,500 points": Task("IGPUCB", "plane", 2500, 1000, 0.1, _CURRENT),
    "GPBUCB, 500 points": Task("GPBUCB", "plane", 500, 300, 0.1, _CURRENT),
    "GPBUCB, 2,500 points": Task("GPBUCB", "plane", 2500, 1000, 0.1, _CURRENT),
    "BKB, 500 points": Task("BKB", "plane", 500, 300, 0.1, _CURRENT),
    "BKB, 900 points": Task("BKB", "plane", 900, 1000, 0.1, _CURRENT),
    "BKB, 2,500 points": Task("BKB", "plane", 2500, 1000, 0.1, _CURRENT),
    "PiGPUCB, grid of 30": Task(
        "PiGPUCB", "grid", 1, 1000, 1.0, _CURRENT, {"lam": 1.0, "horizon": 1000}
    ),
    "PiGPUCB, grid of 900": Task(
        "PiGPUCB", "grid", 2, 1000, 1.0, _CURRENT, {"lam": 1.0, "horizon": 1000}
    ),
    "PiGPUCB, grid of 27,000": Task(
        "PiGPUCB", "grid", 3, 1000, 1.0, _CURRENT, {"lam": 1.0, "horizon": 1000}
    ),
}


def run(task: Task, width: Any, seed: int) -> dict[str, float]:
    """One run: processor seconds, and regret over that of uniform choice."""
    X, f, kernel = PROBLEMS[task.problem](task.size, seed)
    rng = np.random.default_rng([seed, 1])
    noise = task.noise * rng.uniform(-1.0, 1.0, task.horizon)
    made = getattr(nr, task.algorithm)
    opt = made(
        nr.Candidates(X), kernel, noise=task.noise, norm=1.0, delta=1.0 / task.horizon,
        width=width, seed=seed, **task.options,
    )  # fmt: skip
    started = time.process_time()
    first = rng.choice(len(X), _INITIAL, replace=False)
    opt.tell(first, f[first] + noise[:_INITIAL])
    t, regret = _INITIAL, 0.0
    while t < task.horizon:
        batch = opt.ask(task.horizon - t) if opt.adaptive else opt.ask()
        opt.tell(batch, f[batch.ids] + noise[t : t + len(batch)])
        regret += float((f.max() - f[batch.ids]).sum())
        t += len(batch)
    seconds = time.process_time() - started
    uniform = float(f.max() - f.mean()) * (task.horizon - _INITIAL)
    return {"seconds": seconds, "regret": regret / uniform}


def answer() -> None:
    """Run what standard input asks for, line by line."""
    warnings.simplefilter("ignore", RuntimeWarning)
    run(Task("GPUCB", "plane", 20, 20, 0.1), 2.0, 0)  # what is imported late does not count
    for line in sys.stdin:
        name, width, seed = json.loads(line)
        print(json.dumps(run(TASKS[name], width, seed)), flush=True)


class Version:
    """A process that runs tasks with the package in a folder."""

    def __init__(self, source: Path) -> None:
        self._source = source.resolve()
        environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": str(self._source)}
        self._process = subprocess.Popen(
            [sys.executable, __file__], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, name: str, width: Any, seed: int) -> dict[str, float]:
        """One run of a task."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, width, seed]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{name} failed with {self._source}; its error stands above")
        found: dict[str, float] = json.loads(line)
        return found

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    from benchmarks import tables  # not at hand where the earlier version runs this file

    parser = tables.parser("versions", __doc__)
    parser.add_argument("--before", type=Path, required=True, help="src of the earlier version")
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--widths", default="", help="only these, with commas between them")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each")
    given = parser.parse_args(arguments)
    before, now = Version(given.before), Version(Path(nr.__file__).parents[1])
    columns = ("ratio of times", "ms a step", "before", "regret", "before")
    tables.show(tables.head("task", "width", *columns))
    for name, task in TASKS.items():
        for width in task.widths if given.only.lower() in name.lower() else ():
            if given.widths and str(width) not in given.widths.split(","):
                continue
            pairs = []
            for seed in range(given.seeds):
                order = (before, now) if seed % 2 else (now, before)
                found = [version.run(name, width, seed) for version in order]
                pairs.append(found[::-1] if seed % 2 else found)
            parts = [name, width, tables.spread([a["seconds"] / b["seconds"] for a, b in pairs])]
            for at in (0, 1):
                seconds = np.median([pair[at]["seconds"] for pair in pairs])
                parts.append(f"{1e3 * seconds / task.horizon:.3g}")
            parts += [tables.spread([pair[at]["regret"] for pair in pairs]) for at in (0, 1)]
            tables.show(tables.line(*parts))
    before.close()
    now.close()


if __name__ == "__main__":
    answer()
