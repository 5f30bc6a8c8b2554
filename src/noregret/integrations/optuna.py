"""Optuna samplers: define-by-run spaces, and fixed tables of candidates.

    from noregret.integrations.optuna import CandidateSampler, NoRegretSampler

    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=100)
    print(study.sampler.recommend(study))

Choices are written to the storage at once, as system attributes of their trials. So processes that
share a storage see each other's running trials, and a new process goes on where another stopped.
Needs Optuna: ``pip install "noregret[optuna]"``.
"""

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

try:
    from optuna.distributions import BaseDistribution
    from optuna.exceptions import TrialPruned
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial
except ImportError as error:
    raise ImportError(
        'noregret.integrations.optuna needs Optuna: pip install "noregret[optuna]"'
    ) from error

from noregret.algorithms import BBKB, TrustRegionUCB
from noregret.integrations.optuna_choices import ATTRIBUTE, Joint, Rows, only_value, varied
from noregret.integrations.optuna_trials import Estimate, Follower, check_single, key_of

#: how often a trial chooses at most, if other processes make the same choice at that moment
_TRIES = 20
#: what the algorithms learn by themselves unless the user says otherwise
_LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto", "width": 2.0}
#: q̄ of tables with more rows than this: half as many inducing points as with BBKB's own q̄ = 2
_LONG, _QBAR = 20_000, 1.0


class _Sampler(BaseSampler):  # type: ignore[misc]
    """What both samplers share: an optimiser that follows the trials of a study."""

    def __init__(self, seed: int | None, options: dict[str, Any]) -> None:
        self._seed, self._options = seed, options
        self._independent = RandomSampler(seed=seed)
        self._lock = threading.Lock()
        self._followers: dict[Any, Follower] = {}

    def reseed_rng(self) -> None:
        """Draw independent parameters from another random sequence."""
        self._independent.reseed_rng()

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A random value, for parameters that not all trials have."""
        check_single(study)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def _choose(self, study: Study, trial: FrozenTrial, follower: Follower) -> Any:
        """The choice for a trial, written to the storage before others look."""
        follower.catch_up(study, trial.number)
        for _ in range(_TRIES):
            choice = follower.ask(trial.number)
            if choice is None:
                with contextlib.suppress(RuntimeError):  # not inside study.optimize
                    study.stop()
                raise TrialPruned("every row of the table has been evaluated")
            study._storage.set_trial_system_attr(trial._trial_id, ATTRIBUTE, choice)
            if not follower.is_taken(study, trial.number):
                break
        return choice


class NoRegretSampler(_Sampler):
    """Samples all parameters of a space jointly, by bounds on a Gaussian process.

    Parameters may be floats, whole numbers, steps, log scales and categories. The joint space is
    the one that all finished trials share; other parameters are sampled at random. The first trial,
    and those of the design, are random as well. Then :class:`~noregret.TrustRegionUCB` chooses,
    with a sparse model beyond 500 trials. Nothing is proved: kernel, noise and norm are learnt.

    Constraints: trials with a constraint above 0 count as the worst value seen.

    Parameters
    ----------
    seed
        Makes runs in one process repeatable.
    **options
        Settings of the algorithm, such as ``kernel``, ``noise`` and ``width``; see
        :class:`~noregret.TrustRegionUCB`.
    """

    def __init__(self, *, seed: int | None = None, **options: Any) -> None:
        super().__init__(seed, options)
        self._shared: dict[Any, IntersectionSearchSpace] = {}

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that all finished trials have."""
        with self._lock:
            return varied(self._in_common(study))

    def _in_common(self, study: Study) -> dict[str, BaseDistribution]:
        shared = self._shared.setdefault(key_of(study), IntersectionSearchSpace())
        return dict(sorted(shared.calculate(study).items()))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values for all of these parameters."""
        check_single(study)
        if not search_space:
            return {}
        with self._lock:
            choice = self._choose(study, trial, self._follower(study, search_space))
        return {name: one.to_external_repr(choice[name]) for name, one in search_space.items()}

    def _follower(self, study: Study, search_space: Mapping[str, BaseDistribution]) -> Follower:
        key = key_of(study), tuple(search_space.items())
        if key not in self._followers:
            joint = Joint(dict(search_space))
            settings = {**_LEARNT, "seed": self._seed, **self._options}
            self._followers.clear()  # a space that has shrunk does not grow again
            self._followers[key] = Follower(TrustRegionUCB(joint.space, **settings), joint, study)
        return self._followers[key]

    def recommend(self, study: Study) -> Estimate:
        """The best parameters by estimate, among those evaluated, with an interval."""
        check_single(study)
        with self._lock:
            shared = self._in_common(study)
            if not varied(shared):
                raise ValueError("study must have finished trials with parameters in common")
            found = self._follower(study, varied(shared)).recommend(study)
        fixed = {n: only_value(one) for n, one in shared.items() if n not in found.params}
        return replace(found, params={**found.params, **fixed})


class CandidateSampler(_Sampler):
    """Samples rows of a fixed table of 10⁴ to 10⁶ candidates.

    In the objective, ``params = sampler.suggest(trial)`` gives the row of a trial as a dict. Every
    row is evaluated once, unless ``repeats`` says otherwise.

    Parameters
    ----------
    table
        A pandas or polars frame, or a dict of columns, with numbers, texts and booleans.
    repeats
        How often one row may be evaluated; ``None``: without limit.
    seed
        Makes runs in one process repeatable.
    **options
        Settings of the algorithm; see :class:`~noregret.BBKB`.
    """

    def __init__(
        self, table: Any, *, repeats: int | None = 1, seed: int | None = None, **options: Any
    ) -> None:
        super().__init__(seed, {"repeats": repeats, **options})
        self._rows = Rows(table)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The columns of the table."""
        return varied(self._rows.distributions)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The values of a row; nothing if the parameters are not those of the table."""
        check_single(study)
        own = self._rows.distributions
        if any(own.get(name) != one for name, one in search_space.items()):
            return {n: self.sample_independent(study, trial, n, d) for n, d in search_space.items()}
        with self._lock:
            row = self._rows.values(self._choose(study, trial, self._follower(study)))
        return {name: row[name] for name in search_space}

    def suggest(self, trial: Any) -> dict[str, Any]:
        """The row of a trial as a dict: suggests every column of the table."""
        return {name: trial._suggest(name, one) for name, one in self._rows.distributions.items()}

    def row(self, trial: Any) -> int | None:
        """The number of a trial's row in the table; ``None`` if another sampler chose it."""
        if isinstance(trial, Trial):  # one that is running
            trial = trial.storage.get_trial(trial._trial_id)
        found = trial.system_attrs.get(ATTRIBUTE)
        return None if found is None else int(found)

    def _follower(self, study: Study) -> Follower:
        key = key_of(study)
        if key not in self._followers:
            settings = {**_LEARNT, "seed": self._seed, **self._options}
            if len(self._rows.candidates) > _LONG:
                settings = {"qbar": _QBAR, **settings}
            opt = BBKB(self._rows.candidates, **settings)
            self._followers[key] = Follower(opt, self._rows, study)
        return self._followers[key]

    def recommend(self, study: Study) -> Estimate:
        """The best row by estimate, among those evaluated, with an interval."""
        check_single(study)
        with self._lock:
            return self._follower(study).recommend(study)


__all__ = ["CandidateSampler", "Estimate", "NoRegretSampler"]
