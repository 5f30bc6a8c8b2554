"""π-GP-UCB: proved and printed widths, rules of splitting, a larger problem, sparse cells.

    python -m benchmarks covers [--parts widths,large,sparse] [--evaluations 10000]

Table 1 of Janz, Burt & González (2020) is `noregret reproduce pi-table1`.

Functions of 30d bumps of the Matérn-3/2 kernel with lengthscale 1/5, noise uniform on [−1, 1],
δ = 0.1, the exact norm given. Regret is a fraction of that of uniform choice; seconds are processor
time, which other programs on the machine disturb less than the clock's.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from noregret.problems.kernel_sums import ROUGH, bumps

#: what the paper prints, and what the library can prove, with each rule of splitting
_VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"width": "paper", "lam": 1.0},
    "theory": {},
    "theory, gain": {"split": "gain"},
    "theory, one first cell": {"first_cells": 1},
    "theory, one first cell, gain": {"first_cells": 1, "split": "gain"},
}


def run(
    dimension: int, side: int, evaluations: int, seed: int, options: dict[str, Any]
) -> tuple[float, float, int]:
    """Regret over that of uniform choice, seconds, and cells at the end."""
    rng = np.random.default_rng(seed)
    problem = bumps(dimension, rng, side=side)
    values = problem.values()
    opt = nr.PiGPUCB(
        problem.domain, ROUGH, noise=1.0, norm=problem.norm, horizon=evaluations, seed=seed,
        **options,
    )  # fmt: skip
    noise, chosen = rng.uniform(-1.0, 1.0, evaluations), 0.0
    start = time.process_time()
    for t in range(evaluations):
        batch = opt.ask()
        chosen += float(values[batch.ids[0]])
        opt.tell(batch, values[batch.ids] + noise[t])
    seconds = time.process_time() - start
    regret = (values.max() - chosen / evaluations) / (values.max() - values.mean())
    return float(regret), seconds, len(opt.cover)


def widths(evaluations: int, runs: int = 3) -> None:
    """Proved against printed widths, and rules of splitting, on 30 points a side."""
    print(f"regret, ms a step and cells after {evaluations} evaluations, means of {runs} runs")
    for dimension in (1, 2, 3):
        for name, options in _VARIANTS.items():
            found = [run(dimension, 30, evaluations, seed, options) for seed in range(runs)]
            regret, seconds, cells = np.mean(found, axis=0)
            each = 1e3 * seconds / evaluations
            print(f"d = {dimension}  {name:30} {regret:.3f}  {each:.2f}  {cells:.0f}", flush=True)


def large(evaluations: int, side: int) -> None:
    """A long list: 10⁶ candidates at side 100."""
    print(f"π-GP-UCB on {side}^3 points, T = {evaluations}")
    for name in ("paper", "theory"):
        regret, seconds, cells = run(3, side, evaluations, 0, _VARIANTS[name])
        each = 1e6 * seconds / evaluations
        print(f"{name:7} {regret:.3f} of uniform, {seconds:.1f} s, {each:.0f} µs a step, {cells}")


def sparse(history: int, steps: int = 200) -> None:
    """Cells with many different arms: exact and sparse local GPs."""
    print(f"π-GP-UCB on [0, 1] with a history of {history} random points, then {steps} steps")
    rng = np.random.default_rng(0)
    problem = bumps(1, rng)
    function, norm = problem.function, problem.norm
    points = rng.random((history, 1))
    rewards = function(points) + rng.uniform(-1.0, 1.0, history)
    where = np.linspace(0.0, 1.0, 501)[:, None]
    box = nr.Box([(0.0, 1.0)])
    for local in ("exact", "sparse"):
        opt = nr.PiGPUCB(box, ROUGH, noise=1.0, norm=norm, horizon=2 * history, local=local, seed=0)
        start = time.process_time()
        opt.tell(points, rewards)
        mean, std = opt.predict(where)
        taken = time.process_time() - start
        start = time.process_time()
        for _ in range(steps):
            batch = opt.ask()
            opt.tell(batch, function(batch.points) + rng.uniform(-1.0, 1.0, 1))
        each = 1e3 * (time.process_time() - start) / steps
        error = float(np.abs(mean - function(where)).max())
        print(
            f"{local:6}  history {taken:6.1f} s, a step {each:6.2f} ms, inducing points "
            f"{len(opt.dictionary_points)}, largest error of the mean {error:.3f}, "
            f"mean std {std.mean():.4f}, beta {opt.beta:.2f}",
            flush=True,
        )


def main(arguments: Sequence[str] = ()) -> None:
    parser = tables.parser("covers", __doc__)
    parser.add_argument("--parts", default="widths,large,sparse")
    parser.add_argument("--evaluations", type=int, default=10_000)
    given = parser.parse_args(arguments)
    parts = given.parts.split(",")
    if "widths" in parts:
        widths(given.evaluations)
    if "large" in parts:
        large(10 * given.evaluations, 100)
    if "sparse" in parts:
        sparse(10 * given.evaluations)
