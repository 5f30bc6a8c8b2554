"""π-GP-UCB on a larger problem, its sparse cells, and IGP-UCB's products ahead of their use.

    python -m benchmarks.covers [large] [sparse] [ahead]

Table 1 of Janz, Burt & González (2020) is `noregret reproduce pi-table1`.

Functions of 30d bumps of the Matérn-3/2 kernel with lengthscale 1/5, noise uniform on [−1, 1],
δ = 0.1, the exact norm given, λ = 1. Regret is a fraction of that of uniform choice; seconds are
processor time, which other programs on the machine disturb less than the clock's.
"""

import argparse
import time

import numpy as np

import noregret as nr
from noregret.experiments.pi import synthetic
from noregret.models import local as local_gp
from noregret.problems.functions import ROUGH as KERNEL
from noregret.problems.functions import bumps


def large(evaluations: int, side: int) -> None:
    print(f"π-GP-UCB on {side}^3 points, T = {evaluations}")
    last = synthetic(0, "pigpucb", 3, side, evaluations).row(-1, named=True)
    print(
        f"regret {last['relative']:.3f} of uniform, {last['seconds']:.1f} s, "
        f"{1e6 * last['seconds'] / evaluations:.0f} µs a step"
    )


def sparse(history: int, steps: int = 200) -> None:
    """Cells with many different arms: exact and sparse local GPs."""
    print(f"π-GP-UCB on [0, 1] with a history of {history} random points, then {steps} steps")
    rng = np.random.default_rng(0)
    problem = bumps(1, rng)
    function, norm = problem.function, problem.norm
    points = rng.random((history, 1))
    rewards = function(points) + rng.uniform(-1.0, 1.0, history)
    where = np.linspace(0.0, 1.0, 501)[:, None]
    for local in ("exact", "sparse"):
        opt = nr.PiGPUCB(
            nr.Box([(0.0, 1.0)]),
            KERNEL,
            noise=1.0,
            norm=norm,
            lam=1.0,
            horizon=2 * history,
            local=local,
            seed=0,
        )
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
            f"{local:6}  history {taken:6.1f} s, a step {each:6.2f} ms, largest cell "
            f"{max(cell.count for cell in opt.cover)}, largest error of the mean {error:.3f}, "
            f"mean std {std.mean():.4f}",
            flush=True,
        )


def ahead(history: int, steps: int = 200) -> None:
    """IGP-UCB on 30³ points: products computed ahead of their use against one at a time."""
    print(f"IGP-UCB on 30^3 points after {history} evaluations, milliseconds a step")
    problem = bumps(3, np.random.default_rng(0))
    grid, values = problem.domain, problem.values()
    usual = local_gp._LARGEST_LOOK
    for look in (1, usual):
        local_gp._LARGEST_LOOK = look
        rng = np.random.default_rng(1)
        opt = nr.IGPUCB(grid, KERNEL, noise=1.0, norm=problem.norm, seed=0)
        ids = rng.choice(len(values), history, replace=False)
        opt.tell(ids, values[ids] + rng.uniform(-1.0, 1.0, history))
        opt.recommend()
        start = time.process_time()
        for _ in range(steps):
            batch = opt.ask()
            opt.tell(batch, values[batch.ids] + rng.uniform(-1.0, 1.0, 1))
        print(f"{look:2} at a time  {1e3 * (time.process_time() - start) / steps:6.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["large", "sparse", "ahead"])
    parser.add_argument("--evaluations", type=int, default=10_000)
    arguments = parser.parse_args()
    if "large" in arguments.parts:
        large(10 * arguments.evaluations, 100)
    if "sparse" in arguments.parts:
        sparse(10 * arguments.evaluations)
    if "ahead" in arguments.parts:
        ahead(arguments.evaluations // 5)


if __name__ == "__main__":
    main()
