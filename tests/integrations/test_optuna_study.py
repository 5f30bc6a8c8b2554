"""How trials of an Optuna study become data: those that fail, are pruned, or come from others."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from optuna_table import table  # noqa: E402

from noregret.integrations.optuna import CandidateSampler, NoRegretSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore")


def test_failed_and_pruned_trials_do_no_harm():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.number % 5 == 3:
            raise optuna.TrialPruned
        if trial.number % 5 == 4:
            raise ValueError("no luck")
        return float("inf") if trial.number == 10 else (x - 0.2) ** 2

    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=40, catch=ValueError)
    assert abs(study.sampler.recommend(study).params["x"] - 0.2) < 0.15


@pytest.mark.parametrize("kind", ["nan", "error", "huge", "pruned"])
def test_a_region_that_gives_no_values_is_left(kind):
    """The best values would lie beyond 0.5, where there are none."""

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x <= 0.5:
            return -x
        if kind == "error":
            raise ValueError("too large")
        if kind == "pruned":
            trial.report(-x, step=1)
            raise optuna.TrialPruned
        return {"nan": float("nan"), "huge": 1e200}[kind]

    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=30, catch=ValueError)
    values = [trial.params["x"] <= 0.5 for trial in study.trials]
    assert sum(values) >= 12
    assert 0.35 < study.sampler.recommend(study).params["x"] <= 0.5


@pytest.mark.parametrize("make", [NoRegretSampler, lambda seed: CandidateSampler(table(), seed=0)])
def test_only_what_was_completed_is_recommended(make):
    """Most trials are pruned at a value that is better than all others."""
    sampler = make(seed=0)

    def objective(trial):
        columns = {"a": trial.suggest_float("a", 0, 1)}
        if isinstance(sampler, CandidateSampler):
            columns = sampler.suggest(trial)
        if trial.number % 4:
            trial.report(-5.0, step=1)
            raise optuna.TrialPruned
        return columns["a"]

    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=20)
    completed = [t.params for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    assert sampler.recommend(study).params in completed


def test_pruned_trials_count_as_what_they_reported():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in range(4):
            trial.report((x - 0.2) ** 2 + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return (x - 0.2) ** 2

    pruner = optuna.pruners.MedianPruner(n_startup_trials=3)
    study = optuna.create_study(sampler=NoRegretSampler(seed=0), pruner=pruner)
    study.optimize(objective, n_trials=30)
    assert sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.trials) >= 10
    assert abs(study.sampler.recommend(study).params["x"] - 0.2) < 0.1


def test_warm_starts_and_trials_of_other_samplers_are_used():
    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    space = {"x": optuna.distributions.FloatDistribution(0, 1)}
    for x in np.linspace(0, 1, 21):
        trial = optuna.trial.create_trial(params={"x": x}, distributions=space, value=abs(x - 0.35))
        study.add_trial(trial)
    study.enqueue_trial({"x": 0.36})
    study.optimize(lambda trial: abs(trial.suggest_float("x", 0, 1) - 0.35), n_trials=8)
    assert abs(study.sampler.recommend(study).params["x"] - 0.35) < 0.05
