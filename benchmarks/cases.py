"""The BBKB paper's cases: our BBKB beside the plain implementation, one BLAS thread each.

Settings: q̄ = 2, C̃ = 2, F = 1, ξ = 0.01, δ = 1/T, λ = 0.01, practical width, 10 random initial arms.
Regret is cumulative, over that of uniform choice.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import noregret as nr
from benchmarks.plain import PlainBBKB
from noregret.problems import datasets

Floats = NDArray[np.float64]
NOISE, LAM, INITIAL = 0.01, 0.01, 10


@dataclass
class Case:
    """A problem, a lengthscale, a horizon, and how far the plain code is run beside."""

    name: str
    X: Floats
    f: Floats
    lengthscale: float
    horizon: int
    beside: int


@dataclass
class Outcome:
    """Seconds, regret over uniform's, batches and inducing points of one run."""

    seconds: float
    regret: float
    batches: int
    size: int


def synthetic(arms: int = 4177, dimension: int = 8) -> tuple[Floats, Floats]:
    """X ~ N(0, I), f = sin(Xw/3) + 0.3 cos(2x₁) scaled to [0, 1], w ~ N(0, I)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((arms, dimension))
    f = np.sin(X @ rng.standard_normal(dimension) / 3) + 0.3 * np.cos(2 * X[:, 0])
    return X, (f - f.min()) / (f.max() - f.min())


def cases() -> list[Case]:
    """The four cases; data sets that are not at hand are left out, with a word."""
    found = [Case("synthetic 4,177 × 8, RBF 5", *synthetic(), 5.0, 2000, 2000)]
    try:
        abalone, housing = datasets.abalone(), datasets.california_housing()
    except (ImportError, OSError, ValueError) as error:
        print(f"(Abalone and California housing are left out: {error})")
        return found
    return [
        Case("Abalone, RBF 5", abalone.X, abalone.f, 5.0, 2000, 2000),
        *found,
        Case("California housing, RBF 12.5", housing.X, housing.f, 12.5, 10_000, 10_000),
        Case("California housing, RBF 3", housing.X, housing.f, 3.0, 1176, 400),
        Case("California housing, RBF 3", housing.X, housing.f, 3.0, 10_000, 0),
    ]


def ours(case: Case, horizon: int, seed: int, **options: Any) -> Outcome:
    """One run of our BBKB."""
    opt = nr.BBKB(
        nr.Candidates(case.X),
        nr.RBF(case.lengthscale),
        noise=NOISE,
        delta=1 / horizon,
        lam=LAM,
        width="practical",
        seed=seed,
        **options,
    )

    def size() -> int:
        return len(opt.dictionary)

    return play(case, horizon, seed, opt.tell, lambda n: opt.ask(n).ids, opt.tell, size)


def plain(case: Case, horizon: int, seed: int) -> Outcome:
    """One run of the plain implementation."""
    opt = PlainBBKB(case.X, case.lengthscale, LAM, NOISE, 1 / horizon, seed)
    with threadpool_limits(1, user_api="blas"):
        return play(case, horizon, seed, opt.start, opt.ask, opt.tell, lambda: opt.Z.shape[1])


def play(
    case: Case,
    horizon: int,
    seed: int,
    start: Callable[[Any, Any], None],
    ask: Callable[[int], Any],
    tell: Callable[[Any, Any], None],
    size: Callable[[], int],
) -> Outcome:
    """The game, timed from the first reward on."""
    rng = np.random.default_rng(10_000 + seed)
    began = time.perf_counter()
    ids = rng.choice(len(case.X), INITIAL, replace=False)
    start(ids, case.f[ids] + NOISE * rng.standard_normal(INITIAL))
    t, batches, regret = INITIAL, 0, 0.0
    while t < horizon:
        ids = ask(horizon - t)
        tell(ids, case.f[ids] + NOISE * rng.standard_normal(len(ids)))
        regret += float((case.f.max() - case.f[ids]).sum())
        t += len(ids)
        batches += 1
    seconds = time.perf_counter() - began
    uniform = float(case.f.max() - case.f.mean())
    return Outcome(seconds, regret / (horizon * uniform), batches, size())


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{np.median(values):.4g} ({min(values):.3g} to {max(values):.3g})"


def main(seeds: int = 15) -> None:
    """Print one block per case."""
    for case in cases():
        few = seeds if case.horizon * len(case.X) < 3e8 and case.lengthscale > 3 else 2
        runs = [ours(case, case.horizon, seed) for seed in range(few)]
        print(f"\n{case.name}, T = {case.horizon:,}: {few} seeds, median (range)")
        print(f"  ours   seconds {spread([run.seconds for run in runs])}")
        print(f"         regret  {spread([run.regret for run in runs])}")
        print(
            f"         batches {int(np.median([run.batches for run in runs]))}, "
            f"inducing points {int(np.median([run.size for run in runs]))}"
        )
        if case.beside:
            base = plain(case, case.beside, 0)
            same = runs[0] if case.beside == case.horizon else ours(case, case.beside, 0)
            print(
                f"  plain  seconds {base.seconds:.3g} for the first {case.beside:,} evaluations, "
                f"regret {base.regret:.4g}, {base.batches} batches, {base.size} inducing points"
            )
            print(f"  ours is {base.seconds / same.seconds:.1f} times as fast on those", flush=True)


if __name__ == "__main__":
    main()
