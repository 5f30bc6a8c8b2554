"""Evaluations until the recommended choice is proved to be within 0.1 of the best.

500 uniform points of the unit square, or all of it as a box. RBF 0.2, sums of 30 kernel bumps
scaled to the norm F = 2, ξ = 0.1, δ = 0.1. GP-UCB and BBKB with their defaults, and GP-UCB with the
width that its paper prints and the bounds of the moment.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from noregret.problems.kernel_sums import KernelSum

KERNEL, NOISE, NORM, DELTA = nr.RBF(0.2), 0.1, 2.0, 0.1
#: evaluations between two looks at the gap of a rule that picks one point at a time
_STEP = 10

#: where the largest value in the square is looked for
_GRID = nr.Box([(0, 1)] * 2).grid(201).points

Maker = Callable[..., nr.Optimizer]
WAYS: dict[str, tuple[Maker, dict[str, Any], bool]] = {
    "GP-UCB": (nr.GPUCB, {}, False),
    "BBKB": (nr.BBKB, {}, False),
    "GP-UCB, the whole square": (nr.GPUCB, {}, True),
    "BBKB, the whole square": (nr.BBKB, {}, True),
    "GP-UCB as printed": (nr.GPUCB, {"width": "paper", "bounds": "current"}, False),
}


@dataclass(frozen=True)
class Outcome:
    """Evaluations until the gap was proved, processor seconds, and what the choice really lacks.

    ``held``: whether that is at most the gap.
    """

    evaluations: int
    seconds: float
    lost: float
    held: bool


def run(
    make: Maker, options: dict[str, Any], box: bool, seed: int, tol: float, most: int
) -> Outcome:
    """One run, to a proved gap of ``tol`` or to ``most`` evaluations."""
    rng = np.random.default_rng([12, seed])
    X = rng.random((500, 2))
    bumps = KernelSum(KERNEL, rng.random((30, 2)), rng.standard_normal(30))
    f = bumps.times(NORM / bumps.norm)
    domain = nr.Box([(0, 1)] * 2) if box else X
    opt = make(domain, KERNEL, noise=NOISE, norm=NORM, delta=DELTA, seed=seed, **options)
    began = time.process_time()
    while True:
        for _ in range(1 if opt.adaptive else _STEP):
            batch = opt.ask()
            opt.tell(batch, f(batch.points) + NOISE * rng.standard_normal(len(batch)))
        best = opt.recommend()
        if best.gap <= tol or opt.t >= most:
            break
    seconds = time.process_time() - began
    lost = float(f(_GRID if box else X).max() - f(np.atleast_2d(best.point))[0])
    return Outcome(opt.t, seconds, lost, lost <= best.gap)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = tables.parser("gap", __doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tol", type=float, default=0.1)
    parser.add_argument("--most", type=int, default=6000, help="evaluations of a run at most")
    given = parser.parse_args(arguments)
    print(
        f"\nEvaluations until a proved gap ≤ {given.tol:g}: median (range), {given.seeds} seeds\n"
    )
    columns = ("evaluations", "seconds", "true gap", "true gap within the proved one")
    tables.show(tables.head("", *columns))
    for name, (make, options, box) in WAYS.items():
        seeds = range(given.seeds)
        runs = [run(make, options, box, seed, given.tol, given.most) for seed in seeds]
        every = zip(*((one.evaluations, one.seconds, one.lost) for one in runs), strict=True)
        held = f"{sum(one.held for one in runs)} of {len(runs)}"
        tables.show(tables.line(name, *map(tables.spread, every), held))
