"""Run a slice of the benchmark on boxes, or show what has been run."""

import time
import zlib
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import tables
from benchmarks.boxes import __doc__ as about
from benchmarks.boxes import table
from benchmarks.boxes.functions import BBOB, CLASSICS, task
from benchmarks.boxes.methods import METHODS
from noregret._types import Floats


def run(method: str, name: str, instance: int, noise: str, evaluations: int) -> table.Row:
    """One run, scored by the noiseless values of what is recommended and of all evaluated."""
    chosen = task(name, instance, noise)
    rng = np.random.default_rng([instance, zlib.crc32(name.encode()), evaluations])
    points: list[Floats] = []

    def noisy(x: Floats) -> float:
        points.append(np.array(x, dtype=np.float64))
        return chosen.draw(points[-1], rng)

    start = time.process_time()
    found = METHODS[method](noisy, chosen.dimension, evaluations, instance)
    seconds = time.process_time() - start
    return {
        "method": method,
        "function": name,
        "instance": instance,
        "noise": chosen.noise,
        "evaluations": evaluations,
        "recommended": float(chosen.missing(found[None])[0]),
        "best": float(chosen.missing(np.array(points)).min()),
        "seconds": seconds,
    }


def main(arguments: list[str] | None = None) -> None:
    parser = tables.parser("boxes", about)
    parser.add_argument("--functions", default="classic", help="classic, bbob, or names")
    parser.add_argument("--instances", default="1,3,5", help="even ones tune, odd ones report")
    parser.add_argument("--methods", default="ours,random", help=", ".join(METHODS))
    parser.add_argument("--noise", default="gaussian", choices=("gaussian", "heavy"))
    parser.add_argument("--evaluations", default="120", help="such as 60,120,300")
    parser.add_argument("--results", type=Path, default=Path("boxes.jsonl"))
    parser.add_argument("--half", default="all", choices=("all", "tuning", "reporting"))
    parser.add_argument("--table", action="store_true", help="show what has been run, run nothing")
    parser.add_argument("--each", action="store_true", help="a table by function too")
    given = parser.parse_args(arguments)
    names = {"classic": list(CLASSICS), "bbob": list(BBOB)}.get(given.functions)
    wanted = product(
        map(int, given.evaluations.split(",")),
        map(int, given.instances.split(",")),
        names or given.functions.split(","),
        given.methods.split(","),
    )
    runs = (
        (method, name, instance, "own" if name in BBOB else given.noise, evaluations)
        for evaluations, instance, name, method in wanted
    )
    rows = table.completed(given.results, () if given.table else runs, table.KEY, run)
    print(table.show(table.half(rows, given.half), each=given.each))
