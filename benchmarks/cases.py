"""The BBKB paper's cases: our BBKB beside the plain implementation.

Settings: q̄ = 2, C̃ = 2, F = 1, ξ = 0.01, δ = 1/T, λ = 0.01, 10 random initial arms. Ours runs with
its defaults (the proved width, bounds that only fall), with the authors' practical width and with
β = 2; the plain implementation has the practical width. Regret is cumulative, over that of uniform
choice; seconds are the processor's, which other programs disturb less than the clock's.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from benchmarks.plain import PlainBBKB
from noregret._types import Floats
from noregret.problems import datasets

NOISE, LAM, INITIAL = 0.01, 0.01, 10
#: what our runs differ in, by what the tables call them
WAYS: dict[str, dict[str, Any]] = {
    "ours": {},
    'ours, width="practical"': {"width": "practical"},
    "ours, width=2": {"width": 2.0},
}


@dataclass(frozen=True)
class Case:
    """A problem, a lengthscale and a horizon.

    Attributes
    ----------
    seeds
        Runs of ours at most.
    beside
        Evaluations that the plain code is run for; 0: it would take too long.
    plain_seeds
        Runs of the plain code at most.
    """

    name: str
    X: Floats
    f: Floats
    lengthscale: float
    horizon: int
    seeds: int = 15
    beside: int = 0
    plain_seeds: int = 0


@dataclass(frozen=True)
class Outcome:
    """Processor seconds, regret over uniform's, batches and inducing points of one run.

    ``refuted``: whether the rewards contradicted the assumptions, such as F = 1.
    """

    seconds: float
    regret: float
    batches: int
    size: int
    refuted: bool = False


def synthetic(arms: int = 4177, dimension: int = 8, draw: int = 0) -> tuple[Floats, Floats]:
    """X ~ N(0, I), f = sin(Xw/3) + 0.3 cos(2x₁) scaled to [0, 1], w ~ N(0, I)."""
    rng = np.random.default_rng(draw)
    X = rng.standard_normal((arms, dimension))
    f = np.sin(X @ rng.standard_normal(dimension) / 3) + 0.3 * np.cos(2 * X[:, 0])
    return X, (f - f.min()) / (f.max() - f.min())


def cases(draw: int = 0) -> list[Case]:
    """The five cases; data sets that are not at hand are left out, with a word.

    ``draw`` numbers the draw of the synthetic problem.
    """
    X, f = synthetic(draw=draw)
    easy = Case("synthetic 4,177 × 8, RBF 5", X, f, 5.0, 2000, beside=2000, plain_seeds=3)
    try:
        abalone, housing = datasets.abalone(), datasets.california_housing()
    except (ImportError, OSError, ValueError) as error:
        print(f"(Abalone and California housing are left out: {error})")
        return [easy]
    rings, houses = (abalone.X, abalone.f), (housing.X, housing.f)
    name = "California housing, RBF"
    return [
        Case("Abalone, RBF 5", *rings, 5.0, 2000, beside=2000, plain_seeds=15),
        easy,
        Case(f"{name} 12.5", *houses, 12.5, 10_000, beside=10_000, plain_seeds=5),
        Case(f"{name} 3", *houses, 3.0, 1176, seeds=3, beside=400, plain_seeds=1),
        Case(f"{name} 3", *houses, 3.0, 10_000, seeds=3),
    ]


def ours(case: Case, horizon: int, seed: int, **options: Any) -> Outcome:
    """One run of our BBKB."""
    opt = nr.BBKB(
        nr.Candidates(case.X),
        nr.RBF(case.lengthscale),
        noise=NOISE,
        norm=1.0,
        delta=1 / horizon,
        lam=LAM,
        qbar=2.0,
        ratio=2.0,
        seed=seed,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # counted instead
        seconds, regret, batches = play(
            case, horizon, seed, opt.tell, lambda n: opt.ask(n).ids, opt.tell
        )
        refuted = any(event["event"] == "refuted" for event in opt.events)
        return Outcome(seconds, regret, batches, len(opt.dictionary), refuted)


def plain(case: Case, horizon: int, seed: int) -> Outcome:
    """One run of the plain implementation."""
    opt = PlainBBKB(case.X, case.lengthscale, LAM, NOISE, 1 / horizon, seed)
    seconds, regret, batches = play(case, horizon, seed, opt.start, opt.ask, opt.tell)
    return Outcome(seconds, regret, batches, opt.Z.shape[1])


def play(
    case: Case,
    horizon: int,
    seed: int,
    start: Callable[[Any, Any], None],
    ask: Callable[[int], Any],
    tell: Callable[[Any, Any], None],
) -> tuple[float, float, int]:
    """The game: processor seconds from the first reward on, regret over uniform's, batches."""
    rng = np.random.default_rng(10_000 + seed)
    began = time.process_time()
    ids = rng.choice(len(case.X), INITIAL, replace=False)
    start(ids, case.f[ids] + NOISE * rng.standard_normal(INITIAL))
    t, batches, regret = INITIAL, 0, 0.0
    while t < horizon:
        ids = ask(horizon - t)
        tell(ids, case.f[ids] + NOISE * rng.standard_normal(len(ids)))
        regret += float((case.f.max() - case.f[ids]).sum())
        t += len(ids)
        batches += 1
    seconds = time.process_time() - began
    uniform = float(case.f.max() - case.f.mean())
    return seconds, regret / (horizon * uniform), batches


def row(name: str, runs: Sequence[Outcome], ratio: str) -> str:
    """A line of a case's table."""
    refuted = sum(run.refuted for run in runs)
    return tables.line(
        name + (f" ({refuted} of {len(runs)} refute F = 1)" if refuted else ""),
        len(runs),
        tables.spread([run.seconds for run in runs]),
        tables.spread([run.regret for run in runs]),
        int(np.median([run.batches for run in runs])),
        int(np.median([run.size for run in runs])),
        ratio,
    )


def show(case: Case, most: int) -> None:
    """Run a case and print its table."""
    seeds, beside = min(case.seeds, most), case.beside
    print(f"\n{case.name}, T = {case.horizon:,}; median (range) over seeds\n")
    columns = ("", "seeds", "seconds", "regret", "batches", "inducing points")
    tables.show(tables.head(*columns, "times as fast as plain"))
    base = [plain(case, beside, seed) for seed in range(min(case.plain_seeds, most))]
    for name, options in WAYS.items():
        runs = [ours(case, case.horizon, seed, **options) for seed in range(seeds)]
        same, ratio = runs, ""
        if base:
            if beside != case.horizon:
                same = [ours(case, beside, seed, **options) for seed in range(len(base))]
            clocks = [np.median([run.seconds for run in these]) for these in (base, same)]
            ratio = f"{clocks[0] / clocks[1]:.1f}"
        tables.show(row(name, runs, ratio))
    if base:
        part = "" if beside == case.horizon else f", the first {beside:,}"
        tables.show(row(f'plain, width="practical"{part}', base, "1"))


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table for each case."""
    parser = tables.parser("cases", __doc__)
    parser.add_argument("--seeds", type=int, default=15, help="at most so many runs of each")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--draw", type=int, default=0, help="which draw of the synthetic problem")
    given = parser.parse_args(arguments)
    for case in cases(given.draw):
        if given.only.lower() in case.name.lower():
            show(case, given.seeds)
