"""Optuna samplers: define-by-run spaces, and fixed tables of candidates.

    from noregret.integrations.optuna import CandidateSampler, NoRegretSampler

    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=100)
    print(study.sampler.recommend(study))

Choices are written to the storage at once, as system attributes of their trials. So processes that
share a storage see each other's running trials, and a new process goes on where another stopped.
Needs Optuna: ``pip install "noregret[optuna]"``.
"""

try:
    import optuna as _optuna  # noqa: F401
except ImportError as error:
    raise ImportError(
        'noregret.integrations.optuna needs Optuna: pip install "noregret[optuna]"'
    ) from error

from noregret.integrations.optuna.samplers import CandidateSampler, NoRegretSampler
from noregret.integrations.optuna.trials import Estimate

__all__ = ["CandidateSampler", "Estimate", "NoRegretSampler"]
