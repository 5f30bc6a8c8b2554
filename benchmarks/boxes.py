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

import noregret as nr
from noregret._types import Floats

Bounds: TypeAlias = list[tuple[float, float]]
Function: TypeAlias = Callable[[Floats], float]
Method: TypeAlias = Callable[[Function, Bounds, int, int], Floats]

_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])


def branin(x: Floats) -> float:
    """Minimum 0.397887 at three points."""
    a, b = x
    bowl = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
    return float(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def hartmann(x: Floats) -> float:
    """Minimum −3.32237."""
    return -float(_WEIGHTS @ np.exp(-(_A * np.square(x - _P)).sum(axis=1)))


def ackley(x: Floats) -> float:
    """Minimum 0 at 0."""
    root = -20 * np.exp(-0.2 * np.sqrt(np.mean(np.square(x))))
    return float(root - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e)


def levy(x: Floats) -> float:
    """Minimum 0 at (1, …, 1)."""
    w = 1 + (x - 1) / 4
    middle = np.square(w[:-1] - 1) * (1 + 10 * np.square(np.sin(np.pi * w[:-1] + 1)))
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + middle.sum() + last)


#: name: function, bounds, minimum, standard deviation of the noise
PROBLEMS: dict[str, tuple[Function, Bounds, float, float]] = {
    "Branin": (branin, [(-5, 10), (0, 15)], 0.397887, 1.0),
    "Hartmann-6": (hartmann, [(0, 1)] * 6, -3.32237, 0.1),
    "Ackley-5": (ackley, [(-32.768, 32.768)] * 5, 0.0, 0.5),
    "Levy-4": (levy, [(-10, 10)] * 4, 0.0, 0.5),
}


def ours(**options: Any) -> Method:
    def run(f: Function, bounds: Bounds, budget: int, seed: int) -> Floats:
        result = nr.minimize(f, nr.Box(bounds), budget, seed=seed, progress=False, **options)
        return np.asarray(result.best.point)

    return run


def random_search(f: Function, bounds: Bounds, budget: int, seed: int) -> Floats:
    X = nr.Box(bounds).sample(budget, np.random.default_rng(seed))
    return np.asarray(X[int(np.argmin([f(x) for x in X]))])


def optuna_with(sampler: str) -> Method:
    def run(f: Function, bounds: Bounds, budget: int, seed: int) -> Floats:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        names = [f"x{i}" for i in range(len(bounds))]

        def objective(trial: Any) -> float:
            pairs = zip(names, bounds, strict=True)
            return f(np.array([trial.suggest_float(n, *b) for n, b in pairs]))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
            study.optimize(objective, n_trials=budget)
        return np.array([study.best_params[n] for n in names])

    return run


def botorch_log_nei(f: Function, bounds: Bounds, budget: int, seed: int) -> Floats:
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
    box, unit = nr.Box(bounds), torch.tensor([[0.0, 1.0]] * len(bounds), dtype=torch.float64).T
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
    f, bounds, minimum, noise = PROBLEMS[problem]
    rng = np.random.default_rng([seed, 77])

    def noisy(x: Floats) -> float:
        return float(f(x) + noise * rng.standard_normal())

    return f(METHODS[method](noisy, bounds, budget, seed)) - minimum


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--methods", default="default,random,tpe")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
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
