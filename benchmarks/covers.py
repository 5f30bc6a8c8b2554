"""π-GP-UCB beside IGP-UCB: Table 1 of Janz, Burt & González (2020), and a larger problem.

    python -m benchmarks.covers [table] [large] [sparse] [ahead]

Functions of 30d bumps of the Matérn-3/2 kernel with lengthscale 1/5, noise uniform on [−1, 1],
δ = 0.1, the exact norm given, λ = 1. Regret is a fraction of that of uniform choice; seconds are
processor time, which other programs on the machine disturb less than the clock's.
"""

import argparse
import time

import numpy as np

import noregret as nr
from noregret.experiments.problems import ROUGH as KERNEL
from noregret.experiments.problems import bumps
from noregret.models import local as local_gp

PAPER = {"igpucb": (0.11, 0.71, 0.97), "pigpucb": (0.09, 0.52, 0.77)}


def run(name: str, dimension: int, side: int, evaluations: int, seed: int) -> tuple[float, float]:
    """Regret over that of uniform choice, and processor seconds."""
    rng = np.random.default_rng(seed)
    problem = bumps(dimension, rng, side=side)
    values = problem.values()
    options = {"horizon": evaluations} if name == "pigpucb" else {}
    start = time.process_time()
    fixed = {"noise": 1.0, "norm": problem.norm, "delta": 0.1, "lam": 1.0, "seed": seed}
    opt = nr.make(name, problem.domain, KERNEL, **fixed, **options)
    chosen = 0.0
    for _ in range(evaluations):
        batch = opt.ask()
        value = values[batch.ids]
        chosen += float(value[0])
        opt.tell(batch, value + rng.uniform(-1.0, 1.0, 1))
    seconds = time.process_time() - start
    best = values.max()
    return (evaluations * best - chosen) / (evaluations * (best - values.mean())), seconds


def table(runs: int, cubic_runs: int, evaluations: int) -> None:
    print(f"Table 1: 30^d points, T = {evaluations}, mean ± standard deviation over the runs")
    print("d  algorithm  runs  regret (paper)          seconds a run   times π's")
    for dimension in (1, 2, 3):
        ours = 0.0
        for name in ("pigpucb", "igpucb"):
            count = cubic_runs if (name, dimension) == ("igpucb", 3) else runs
            if not count:
                continue
            results = [run(name, dimension, 30, evaluations, seed) for seed in range(count)]
            regret, seconds = np.array(results).T
            ours = ours or float(seconds.mean())
            print(
                f"{dimension}  {name:9}  {count:4}  {regret.mean():.3f} ± {regret.std():.3f} "
                f"({PAPER[name][dimension - 1]:.2f})   {seconds.mean():8.2f} "
                f"(max {seconds.max():.2f})   {seconds.mean() / ours:7.1f}",
                flush=True,
            )


def large(evaluations: int, side: int) -> None:
    print(f"π-GP-UCB on {side}^3 points, T = {evaluations}")
    regret, seconds = run("pigpucb", 3, side, evaluations, 0)
    print(
        f"regret {regret:.3f} of uniform, {seconds:.1f} s, "
        f"{1e6 * seconds / evaluations:.0f} µs a step"
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
    parser.add_argument("parts", nargs="*", default=["table", "large", "sparse", "ahead"])
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument(
        "--cubic-runs", type=int, default=2, help="of IGP-UCB at d = 3, minutes each"
    )
    parser.add_argument("--evaluations", type=int, default=10_000)
    arguments = parser.parse_args()
    if "table" in arguments.parts:
        table(arguments.runs, arguments.cubic_runs, arguments.evaluations)
    if "large" in arguments.parts:
        large(10 * arguments.evaluations, 100)
    if "sparse" in arguments.parts:
        sparse(10 * arguments.evaluations)
    if "ahead" in arguments.parts:
        ahead(arguments.evaluations // 5)


if __name__ == "__main__":
    main()
