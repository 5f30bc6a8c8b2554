"""Milliseconds that our Optuna samplers add to a trial.

    python -m benchmarks optuna                              # both, 5,000 and 2,000 trials
    python -m benchmarks optuna --rows 10000 --trials 500 --space-trials 200

`CandidateSampler` chooses from a table of six columns of numbers, `NoRegretSampler` from a space of
six floats; storages are in memory. Optuna's own time is that of its `RandomSampler` with the same
parameters and as many trials, and is subtracted. Processor time, so that other work on the machine
does not count. Needs Optuna (extra `bench`).
"""

import importlib.util
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import tables
from noregret._types import Floats

DIMENSION, NOISE = 6, 0.1


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = tables.parser("optuna", __doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table")
    parser.add_argument("--trials", type=int, default=5000, help="trials on the table")
    parser.add_argument("--space-trials", type=int, default=2000, help="trials in the space")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each")
    given = parser.parse_args(arguments)
    print("\nMilliseconds of processor time a trial")
    if importlib.util.find_spec("optuna") is None:
        print("Optuna is not installed")
        return
    columns = ("mean", "Optuna's own", "ours", "median", "worst", "regret")
    tables.show(tables.head("sampler", "trials", "seed", *columns))
    for seed in range(given.seeds):
        if given.trials:
            _table(given.rows, given.trials, seed)
        if given.space_trials:
            _space(given.space_trials, seed)


def _table(rows: int, trials: int, seed: int) -> None:
    import optuna

    from noregret.integrations.optuna import CandidateSampler

    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, DIMENSION))
    sampler = CandidateSampler({f"x{i}": X[:, i] for i in range(DIMENSION)}, seed=seed)

    def ours(trial: Any) -> float:
        return _value(list(sampler.suggest(trial).values()))

    best = min(_value(row) for row in X)
    used = _run(sampler, ours, trials, seed)
    own = _run(optuna.samplers.RandomSampler(seed=seed), _suggested(DIMENSION), trials, seed)
    _print(f"`CandidateSampler`, {rows:,} rows", seed, used, own, best)


def _space(trials: int, seed: int) -> None:
    import optuna

    from noregret.integrations.optuna import NoRegretSampler

    objective = _suggested(DIMENSION)
    used = _run(NoRegretSampler(seed=seed), objective, trials, seed)
    own = _run(optuna.samplers.RandomSampler(seed=seed), objective, trials, seed)
    _print(f"`NoRegretSampler`, {DIMENSION} floats", seed, used, own, 0.0)


def _value(x: Any) -> float:
    """A smooth function with its minimum, 0, in the cube."""
    u = np.asarray(x) - 0.6
    return float(np.sum(u**2) + 0.1 * np.sum(1.0 - np.cos(6.0 * u)))


def _suggested(dimension: int) -> Callable[[Any], float]:
    return lambda trial: _value([trial.suggest_float(f"x{i}", 0, 1) for i in range(dimension)])


def _run(
    sampler: Any, objective: Callable[[Any], float], trials: int, seed: int
) -> tuple[Floats, float]:
    """Seconds of each trial, and the mean of the noiseless values of the last tenth."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=sampler)
    rng = np.random.default_rng(seed)
    values, ends = [], [time.process_time()]

    def noisy(trial: Any) -> float:
        values.append(objective(trial))
        return values[-1] + NOISE * float(rng.standard_normal())

    study.optimize(noisy, trials, callbacks=[lambda *_: ends.append(time.process_time())])
    return np.diff(ends), float(np.mean(values[-max(trials // 10, 1) :]))


def _print(
    name: str, seed: int, used: tuple[Floats, float], own: tuple[Floats, float], best: float
) -> None:
    ms, base = 1e3 * used[0], 1e3 * float(own[0].mean())
    mean = float(ms.mean())
    times = [f"{each:.2f}" for each in (mean, base, mean - base, np.median(ms))]
    worst, regret = f"{ms.max():.0f}", f"{used[1] - best:.4f}"
    tables.show(tables.line(name, f"{len(ms):,}", seed, *times, worst, regret))
