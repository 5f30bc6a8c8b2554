"""How many candidates can still be the best, and how many a batch looks at, over a run.

BBKB with its defaults on a long list (RBF 8, λ = 0.05, ξ = 0.05) and a function with norm F = 1, so
that bounds are proved. ``opt.alive`` counts by the bounds that the run has computed so far,
``opt.certify()`` computes those of all candidates.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import noregret as nr
from benchmarks.long_lists import LAM, LENGTHSCALE, NOISE, Counted, write_list


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks shares", description=__doc__)
    parser.add_argument("--size", type=float, default=1e5, help="number of candidates")
    parser.add_argument("--evaluations", type=int, default=20_000)
    given = parser.parse_args(arguments)
    size = int(given.size)
    print(f"\nA run on {size:,} candidates\n")
    print(
        "| evaluations | batches | looked at a batch since | can still be the best, opt.alive "
        "| certify().alive | gap | certify().gap |"
    )
    print("|" + "---|" * 7, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        problem = write_list(Path(folder) / "list.npy", size, "bumps")
        points = Counted(problem.points())
        opt = nr.BBKB(
            points, nr.RBF(LENGTHSCALE), noise=NOISE, lam=LAM, delta=1 / given.evaluations, seed=0
        )
        rng = np.random.default_rng(3)
        batches = 0
        for goal in (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000):
            if goal > given.evaluations:
                break
            before = batches, points.looked
            while opt.t < goal:
                batch = opt.ask(goal - opt.t)
                f = problem.values(points.points[batch.ids])
                opt.tell(batch, f + NOISE * rng.standard_normal(len(batch)))
                batches += 1
            looked = (points.looked - before[1]) / (batches - before[0])
            proof = opt.certify()
            print(
                f"| {opt.t:,} | {batches} | {looked:,.0f} | {opt.alive:,} | {proof.alive:,} | "
                f"{opt.recommend().gap:.3g} | {proof.gap:.3g} |",
                flush=True,
            )
