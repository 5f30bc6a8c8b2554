"""Noisy test functions on boxes: ``maximize`` with its defaults beside other tools.

    python -m benchmarks.boxes --seeds 20 --methods default,random,tpe

Simple regret is the noiseless value lost at the point each tool recommends: for random search and
Optuna the point of the best reward seen, for BoTorch the one of the largest posterior mean. All see
the same noise level. Time is the processor's, over all threads, as other programs may be running.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.problems.classics import BOXES
from noregret.spaces import as_box

Floats = NDArray[np.float64]
Function: TypeAlias = Callable[[Floats], float]
Method: TypeAlias = Callable[[Function, nr.Box, int, int], Floats]


def ours(**options: Any) -> Method:
    def run(f: Function, box: nr.Box, budget: int, seed: int) -> Floats:
        result = nr.minimize(f, box, budget, seed=seed, progress=False, **options)
        return np.asarray(result.best.point)

    return run


def random_search(f: Function, box: nr.Box, budget: int, seed: int) -> Floats:
    _, X = box.sample(budget, np.random.default_rng(seed))
    return np.asarray(X[int(np.argmin([f(x) for x in X]))])


def optuna_with(sampler: str) -> Method:
    def run(f: Function, box: nr.Box, budget: int, seed: int) -> Floats:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        names = [f"x{i}" for i in range(box.dimension)]

        def objective(trial: Any) -> float:
            pairs = zip(names, box.bounds.tolist(), strict=True)
            return f(np.array([trial.suggest_float(n, *b) for n, b in pairs]))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
            study.optimize(objective, n_trials=budget)
        return np.array([study.best_params[n] for n in names])

    return run


def botorch_log_nei(f: Function, box: nr.Box, budget: int, seed: int) -> Floats:
    """BoTorch as its tutorials have it: a GP of all data, log noisy expected improvement."""
    import torch
    from botorch.acquisition.logei import qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    unit = torch.tensor([[0.0, 1.0]] * box.dimension, dtype=torch.float64).T
    span = box.upper - box.lower
    first = max(10, 4 * box.dimension)  # the design that ours starts from
    X = torch.rand(min(first, budget), box.dimension, dtype=torch.float64)
    y = [-f(box.lower + x.numpy() * span) for x in X]

    def fitted() -> Any:
        rewards = torch.tensor(y, dtype=torch.float64)[:, None]
        model = SingleTaskGP(X, rewards, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(y) < budget:
            rule = qLogNoisyExpectedImprovement(fitted(), X, prune_baseline=True)
            x, _ = optimize_acqf(rule, unit, q=1, num_restarts=5, raw_samples=128)
            y.append(-f(box.lower + x[0].numpy() * span))
            X = torch.cat([X, x])
        best = int(fitted().posterior(X).mean.argmax())
    return np.asarray(box.lower + X[best].numpy() * span)


METHODS: dict[str, Method] = {
    "default": ours(),
    "bbkb": ours(algorithm="bbkb", width=2.0, batch_size=10),
    "thompson": ours(algorithm="thompsonsampling"),
    "random": random_search,
    "tpe": optuna_with("TPESampler"),
    "optuna-gp": optuna_with("GPSampler"),
    "botorch": botorch_log_nei,
}


def regret(problem: str, method: str, budget: int, seed: int) -> float:
    """Simple regret of one run."""
    chosen = BOXES[problem]
    rng = np.random.default_rng([seed, 77])

    def noisy(x: Floats) -> float:
        return -float(chosen.draw(x[None], rng)[0])

    found = METHODS[method](noisy, as_box(chosen.domain), budget, seed)
    return chosen.optimum - float(chosen.function(found[None])[0])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--methods", default="default,random,tpe")
    parser.add_argument("--problems", default=",".join(BOXES))
    given = parser.parse_args(arguments)
    print(f"{given.budget} evaluations, {given.seeds} seeds: median simple regret [quartiles]")
    print("| problem | method | regret | processor ms per suggestion |\n|---|---|---|---|")
    for problem in given.problems.split(","):
        for method in given.methods.split(","):
            start = time.process_time()
            found = [regret(problem, method, given.budget, seed) for seed in range(given.seeds)]
            spent = 1000 * (time.process_time() - start) / (given.seeds * given.budget)
            low, middle, high = np.quantile(found, [0.25, 0.5, 0.75])
            cell = f"{middle:.3g} [{low:.3g}, {high:.3g}]"
            print(f"| {problem} | {method} | {cell} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    main()
