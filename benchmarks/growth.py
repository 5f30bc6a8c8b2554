"""How time grows with T, A and m, each on the synthetic problem; and a million candidates."""

import resource
import time

import numpy as np

import noregret as nr
from benchmarks.cases import LAM, NOISE, Case, ours, synthetic


def main(million: bool = True) -> None:
    """Print a table for each."""
    print("\nSeconds of a whole run (synthetic × 8), and per evaluation")
    print("        A        T   RBF   seconds   ms/evaluation   inducing points")
    for arms, horizon, lengthscale in (
        (4_000, 1_000, 10.0),
        (4_000, 4_000, 10.0),
        (4_000, 16_000, 10.0),
        (4_000, 64_000, 10.0),
        (16_000, 4_000, 10.0),
        (64_000, 4_000, 10.0),
        (16_000, 4_000, 5.0),
        (16_000, 4_000, 4.0),
    ):
        X, f = synthetic(arms)
        outcome = ours(Case("", X, f, lengthscale, horizon, 0), horizon, seed=0)
        print(
            f"  {arms:7,d} {horizon:8,d} {lengthscale:5g} {outcome.seconds:9.2f} "
            f"{1e3 * outcome.seconds / horizon:15.3f} {outcome.size:17d}",
            flush=True,
        )
    if million:
        one_million()


def one_million(horizon: int = 20_000) -> None:
    """10⁶ × 8 candidates, 20,000 evaluations: time and memory."""
    X, f = synthetic(1_000_000)
    opt = nr.BBKB(
        nr.Candidates(X), nr.RBF(10.0), noise=NOISE, delta=1 / horizon, lam=LAM, width="practical"
    )
    rng = np.random.default_rng(0)
    start, batches = time.perf_counter(), 0
    while opt.t < horizon:
        batch = opt.ask(horizon - opt.t)
        opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(len(batch)))
        batches += 1
    seconds = time.perf_counter() - start
    size = len(opt.dictionary)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    regret = float((f.max() - f[opt.history.ids]).mean() / (f.max() - f.mean()))
    print(
        f"\n10⁶ × 8 candidates, T = {horizon:,}: {seconds:.0f} s, {batches} batches, {size} "
        f"inducing points, regret {regret:.3f} of uniform's; peak memory {peak:.1f} GiB, one A × m "
        f"array is {8e6 * size / 2**30:.1f} GiB",
        flush=True,
    )


if __name__ == "__main__":
    main()
