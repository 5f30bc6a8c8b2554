"""The tools compared: each minimises a noisy function on the unit cube and recommends a point."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import noregret as nr
from noregret._types import Floats

#: a noisy function of one point (d), d, evaluations and a seed → the point recommended (d)
Method = Callable[[Callable[[Floats], float], int, int, int], Floats]


def ours(f: Callable[[Floats], float], d: int, evaluations: int, seed: int) -> Floats:
    """``minimize`` with its defaults."""
    result = nr.minimize(f, nr.Box([(0, 1)] * d), evaluations, seed=seed, progress=False)
    return np.asarray(result.best.point)


def random_search(f: Callable[[Floats], float], d: int, evaluations: int, seed: int) -> Floats:
    """The best value of uniform draws."""
    X = np.random.default_rng(seed).uniform(size=(evaluations, d))
    return np.asarray(X[int(np.argmin([f(x) for x in X]))])


def cma_es(f: Callable[[Floats], float], d: int, evaluations: int, seed: int) -> Floats:
    """CMA-ES with its own noise handling's favourite: the mean of its distribution."""
    import cma

    options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9, "maxfevals": evaluations}
    search = cma.CMAEvolutionStrategy(np.full(d, 0.5), 0.25, options)
    left = evaluations
    while left > 0:
        points = search.ask()
        values = [f(np.asarray(x)) for x in points[:left]]
        left -= len(values)
        if len(values) == len(points):
            search.tell(points, values)
    return np.asarray(np.clip(search.result.xfavorite, 0.0, 1.0))


def optuna_with(sampler: str) -> Method:
    """Optuna, which recommends the trial with the best value."""

    def run(f: Callable[[Floats], float], d: int, evaluations: int, seed: int) -> Floats:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        names = [f"x{i}" for i in range(d)]

        def objective(trial: Any) -> float:
            return f(np.array([trial.suggest_float(name, 0.0, 1.0) for name in names]))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
            study.optimize(objective, n_trials=evaluations)
        return np.array([study.best_params[name] for name in names])

    return run


def botorch_log_nei(f: Callable[[Floats], float], d: int, evaluations: int, seed: int) -> Floats:
    """BoTorch's tutorial: max(5, 2d) Sobol points, then qLogNEI on ``SingleTaskGP``.

    It is fitted anew at every step, and recommends the told point with the largest mean.
    """
    import torch
    from botorch.acquisition.logei import qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from botorch.utils.sampling import draw_sobol_samples
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    unit = torch.tensor([[0.0, 1.0]] * d, dtype=torch.float64).T
    X = draw_sobol_samples(unit, n=min(max(5, 2 * d), evaluations), q=1, seed=seed).squeeze(1)
    y = [-f(x.numpy()) for x in X]

    def fitted() -> Any:
        model = SingleTaskGP(X, torch.tensor(y, dtype=torch.float64)[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(y) < evaluations:
            rule = qLogNoisyExpectedImprovement(fitted(), X, prune_baseline=True)
            x, _ = optimize_acqf(rule, unit, q=1, num_restarts=10, raw_samples=512)
            y.append(-f(x[0].numpy()))
            X = torch.cat([X, x])
        best = int(fitted().posterior(X).mean.argmax())
    return np.asarray(X[best].numpy())


METHODS: dict[str, Method] = {
    "ours": ours,
    "random": random_search,
    "cma": cma_es,
    "tpe": optuna_with("TPESampler"),
    "optuna-gp": optuna_with("GPSampler"),
    "botorch": botorch_log_nei,
}
