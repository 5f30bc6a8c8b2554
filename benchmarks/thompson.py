"""Thompson sampling beside upper bounds: boxes and lists, one worker and eight.

    python -m benchmarks thompson --instances 1,3
    python -m benchmarks thompson --spaces list --workers 8
    python -m benchmarks thompson --table

Functions and scores are those of the section ``boxes``. A list is the same function at 2,000
uniform points of its box, or the table Abalone. Kernel, noise and norm are learnt, and bounds have
2 deviations, as in ``maximize``. Several workers are simulated: whenever one is free it asks for a
point, and the next to end is drawn at random. Results are appended to a file of JSON lines, and
what is there already is not run again.
"""

import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from benchmarks.boxes import table
from benchmarks.boxes.functions import NOISE_LEVEL, Task, classic
from noregret._types import Floats
from noregret.problems.datasets import abalone

#: the algorithms compared
ALGORITHMS = ("TrustRegionUCB", "GPUCB", "BBKB", "ThompsonSampling", "AsyncTS")
#: those that search boxes only
_BOXES_ONLY = ("TrustRegionUCB",)
#: functions on boxes, and on lists
FUNCTIONS = {
    "box": ("ackley-5", "cosine-4", "hartmann-3", "hartmann-6", "levy-4", "rosenbrock-4"),
    "list": ("hartmann-3", "levy-4", "abalone"),
}
#: candidates of a list
_CANDIDATES = 2000
#: the width of bounds, in deviations
_WIDTH = 2.0
#: what tells runs apart
_KEY = ("space", "workers", "method", "function", "instance", "evaluations")


def main(arguments: Sequence[str] = ()) -> None:
    """Run what has not been run, and print the tables."""
    parser = tables.parser("thompson", __doc__)
    parser.add_argument("--spaces", default="box,list")
    parser.add_argument("--workers", default="1,8")
    parser.add_argument("--instances", default="1,3", help="even ones tune, odd ones report")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--functions", default=None, help="names; those of the space by default")
    parser.add_argument("--evaluations", type=int, default=120)
    parser.add_argument("--results", type=Path, default=Path("thompson.jsonl"))
    parser.add_argument("--table", action="store_true", help="show what has been run, run nothing")
    given = parser.parse_args(arguments)
    wanted = (
        (space, workers, algorithm, name, instance, given.evaluations)
        for space in given.spaces.split(",")
        for workers in map(int, given.workers.split(","))
        for instance in map(int, given.instances.split(","))
        for name in (given.functions.split(",") if given.functions else FUNCTIONS[space])
        for algorithm in given.algorithms.split(",")
        if space != "list" or algorithm not in _BOXES_ONLY
    )
    rows = table.completed(given.results, () if given.table else wanted, _KEY, run)
    for space, workers in sorted({(row["space"], row["workers"]) for row in rows}):
        chosen = [row for row in rows if (row["space"], row["workers"]) == (space, workers)]
        print(f"\n{space}, {workers} {'worker' if workers == 1 else 'workers'}\n")
        print(table.overall(chosen), table.by_function(chosen), sep="\n\n", flush=True)


def run(
    space: str, workers: int, algorithm: str, name: str, instance: int, evaluations: int
) -> table.Row:
    """One run, scored by the noiseless values of what is recommended and of all evaluated."""
    task, domain = problem(space, name, instance)
    options: dict[str, Any] = {"noise": "auto", "norm": "auto", "width": _WIDTH, "seed": instance}
    if algorithm == "TrustRegionUCB":
        options["horizon"] = evaluations
    rng = np.random.default_rng([instance, zlib.crc32(name.encode()), evaluations])
    start = time.process_time()
    opt = nr.make(algorithm.lower(), domain, "auto", **options)
    points = play(opt, task, evaluations, workers, rng)
    found = np.asarray(opt.recommend().point)
    return {
        "space": space,
        "workers": workers,
        "method": algorithm,
        "function": name,
        "instance": instance,
        "evaluations": evaluations,
        "recommended": float(task.missing(found[None])[0]),
        "best": float(task.missing(points).min()),
        "seconds": time.process_time() - start,
    }


def problem(space: str, name: str, instance: int) -> tuple[Task, Any]:
    """A function to minimise, and the box or list that it is on."""
    if name == "abalone":
        return _table(instance)
    task = classic(name, instance, "gaussian")
    if space == "box":
        return task, nr.Box([(0.0, 1.0)] * task.dimension)
    X = np.random.default_rng(instance).uniform(size=(_CANDIDATES, task.dimension))
    values = task.value(X)
    own = replace(task, optimum=float(values.min()), median=float(np.median(values)))
    return own, nr.Candidates(X)


def _table(instance: int) -> tuple[Task, Any]:
    data = abalone()
    places = {point.tobytes(): -value for point, value in zip(data.X, data.f, strict=True)}
    scale = NOISE_LEVEL * float(data.f.std())

    def value(X: Floats) -> Floats:
        return np.array([places[np.ascontiguousarray(x).tobytes()] for x in X])

    def draw(x: Floats, rng: np.random.Generator) -> float:
        return float(value(x[None])[0]) + scale * float(rng.standard_normal())

    dimension, best, middle = data.X.shape[1], float(data.f.max()), float(np.median(data.f))
    task = Task("abalone", instance, "gaussian", dimension, value, draw, -best, -middle)
    return task, nr.Candidates(data.X)


def play(
    opt: nr.Optimizer, task: Task, evaluations: int, workers: int, rng: np.random.Generator
) -> Floats:
    """Let some workers evaluate points that they ask for one at a time: the points (n × d)."""
    running: list[Any] = []
    points: list[Floats] = []
    while opt.t < evaluations:
        while len(running) < workers and len(points) < evaluations:
            running.append(opt.ask(1))
            points.append(np.array(running[-1].points[0], dtype=np.float64))
        batch = running.pop(int(rng.integers(len(running))))
        opt.tell(batch, [-task.draw(np.asarray(batch.points[0]), rng)])
    return np.array(points)
