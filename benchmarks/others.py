"""Milliseconds per decision after n observations, beside BoTorch and Optuna (extra `bench`).

Every tool has n noisy values of the synthetic problem's candidates (4,177 × 8) and is timed for its
next suggestion. BoTorch: exact GP with fitting, UCB over the list. Optuna: its GP sampler on the
box around the list.
"""

import importlib.util
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from benchmarks.cases import LAM, NOISE, synthetic
from noregret._types import Floats

OBSERVATIONS = (250, 500, 1000, 2000)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table; a tool that took too long is not asked again."""
    parser = tables.parser("others", __doc__)
    parser.add_argument("--most", type=float, default=120.0, help="seconds a decision at most")
    most = parser.parse_args(arguments).most
    print("\nSeconds per decision after n observations (4,177 × 8)")
    print("        n   BBKB, next batch   BBKB, per pick   GP-UCB, next   BoTorch   Optuna GP")
    X, f = synthetic()
    slow: set[str] = set()
    for n in OBSERVATIONS:
        row = []
        ours, picks = bbkb(X, f, n)
        row.append(f"{ours:19.4f} {ours / picks:16.5f} {gpucb(X, f, n):14.4f}")
        for name, run, width in (("botorch", botorch, 9), ("optuna", optuna, 11)):
            if importlib.util.find_spec(name) is None:
                row.append(f"{'absent':>{width}}")
            elif name in slow:
                row.append(f"{'-':>{width}}")
            else:
                seconds = run(X, f, n)
                row.append(f"{seconds:{width}.2f}")
                if seconds > most:
                    slow.add(name)
        print(f"  {n:7d} " + " ".join(row), flush=True)


def observations(X: Floats, f: Floats, n: int) -> tuple[Any, Floats]:
    """n random arms and their noisy values."""
    rng = np.random.default_rng(n)
    ids = rng.integers(len(X), size=n)
    return ids, f[ids] + NOISE * rng.standard_normal(n)


def bbkb(X: Floats, f: Floats, n: int) -> tuple[float, int]:
    """Seconds for BBKB's next batch in a run of n evaluations, and its length."""
    opt = nr.BBKB(X, nr.RBF(5.0), noise=NOISE, lam=LAM, delta=1e-3, width="practical", seed=0)
    rng = np.random.default_rng(0)
    while opt.t < n:
        batch = opt.ask(n - opt.t)
        opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(len(batch)))
    start = time.perf_counter()
    batch = opt.ask()
    return time.perf_counter() - start, len(batch)


def gpucb(X: Floats, f: Floats, n: int) -> float:
    """Seconds for exact GP-UCB's next point after n random evaluations."""
    opt = nr.GPUCB(X, nr.RBF(5.0), noise=NOISE, lam=LAM, delta=1e-3, width="practical", seed=0)
    ids, y = observations(X, f, n)
    opt.tell(ids[:-1], y[:-1])
    opt.ask()
    opt.tell(ids[-1:], y[-1:])
    start = time.perf_counter()
    opt.ask()
    return time.perf_counter() - start


def botorch(X: Floats, f: Floats, n: int) -> float:
    """Seconds for BoTorch: fit an exact GP, maximise UCB over the list."""
    import torch
    from botorch.acquisition import UpperConfidenceBound
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    ids, y = observations(X, f, n)
    points = torch.tensor(X)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SingleTaskGP(points[ids], torch.tensor(y)[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        with torch.no_grad():
            int(UpperConfidenceBound(model, beta=4.0)(points[:, None, :]).argmax())
    return time.perf_counter() - start


def optuna(X: Floats, f: Floats, n: int) -> float:
    """Seconds for Optuna's GP sampler to suggest one more trial."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ids, y = observations(X, f, n)
    names = [f"x{i}" for i in range(X.shape[1])]
    space = {
        name: optuna.distributions.FloatDistribution(float(low), float(high))
        for name, low, high in zip(names, X.min(axis=0), X.max(axis=0), strict=True)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.GPSampler(seed=0, n_startup_trials=1)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for id_, value in zip(ids, y, strict=True):
            params = dict(zip(names, X[id_].tolist(), strict=True))
            study.add_trial(
                optuna.trial.create_trial(params=params, distributions=space, value=float(value))
            )
        start = time.perf_counter()
        study.ask(space)
    return time.perf_counter() - start
