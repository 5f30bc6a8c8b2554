"""A batch beside one read of its features: the limit is one read of Z per batch at memory speed."""

import time

import numpy as np

import noregret as nr
from benchmarks.cases import LAM, NOISE, synthetic


def main() -> None:
    """Print the time of a batch over the time of one read of Z, as the dictionary grows."""
    print("\nA batch over one read of Z (20,000 × 8 synthetic, RBF 3)")
    print("  inducing points   read of Z    ask (all of a batch)   ratio   picks")
    X, f = synthetic(20_000)
    opt = nr.BBKB(X, nr.RBF(3.0), noise=NOISE, delta=1e-3, lam=LAM, width="practical", seed=0)
    rng = np.random.default_rng(0)
    ids = rng.choice(len(X), 10, replace=False)
    opt.tell(ids, f[ids])
    for goal in (100, 200, 400, 800):
        while len(opt.dictionary) < goal:
            batch = opt.ask()
            opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(len(batch)))
        seconds, picks = [], []
        for _ in range(7):
            start = time.perf_counter()
            batch = opt.ask()
            seconds.append(time.perf_counter() - start)
            picks.append(len(batch))
            opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(len(batch)))
        Z = np.ones((len(X), len(opt.dictionary)))
        reads = []
        for _ in range(7):
            start = time.perf_counter()
            Z.sum()
            reads.append(time.perf_counter() - start)
        ask, read = float(np.median(seconds)), float(np.median(reads))
        print(
            f"  {Z.shape[1]:15d} {1e3 * read:9.2f} ms {1e3 * ask:18.2f} ms {ask / read:10.1f} "
            f"{int(np.median(picks)):7d}",
            flush=True,
        )


if __name__ == "__main__":
    main()
