"""Both samplers of the package, from OptunaHub."""

import optuna
import optunahub

module = optunahub.load_module("samplers/noregret")


def objective(trial: optuna.Trial) -> float:
    """A function of a float, a whole number and a category."""
    x = trial.suggest_float("x", -5, 5)
    n = trial.suggest_int("n", 1, 100, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return (x - 1) ** 2 + abs(n - 20) / 20 + (kind == "b")


sampler = module.NoRegretSampler(seed=0)
study = optuna.create_study(sampler=sampler)
study.optimize(objective, n_trials=50)
print(sampler.recommend(study))

table = {"x": [i / 100 for i in range(500)], "kind": ["a", "b"] * 250}
rows = module.CandidateSampler(table, seed=0)
study = optuna.create_study(sampler=rows)
study.optimize(lambda trial: (rows.suggest(trial)["x"] - 2) ** 2, n_trials=30)
print(rows.recommend(study))
