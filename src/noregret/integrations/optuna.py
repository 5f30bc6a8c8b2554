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
import zlib
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

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
from noregret.integrations.optuna_study import (
    ATTRIBUTE,
    Estimate,
    Follower,
    Joint,
    Table,
    only_value,
    varied,
)
from noregret.integrations.shared.settings import checked_settings
from noregret.integrations.shared.table_rows import TableRows
from noregret.optimizer import Optimizer
from noregret.spaces import Box

__all__ = ["CandidateSampler", "Estimate", "NoRegretSampler"]

#: how often a trial chooses at most, if other processes make the same choice at that moment
_TRIES = 20
#: q̄ of tables with more rows than this: half as many inducing points as with BBKB's own q̄ = 2
_LONG, _QBAR = 20_000, 1.0

Distributions = dict[str, BaseDistribution]


@dataclass
class _Followed:
    """What a sampler keeps of a study."""

    shared: IntersectionSearchSpace = field(default_factory=IntersectionSearchSpace)
    follower: Follower | None = None


class _Sampler(BaseSampler):  # type: ignore[misc]
    """What both samplers share: an optimiser that follows the trials of a study."""

    def __init__(
        self, algorithm: type[Optimizer], seed: int | None, options: Any, example: Any
    ) -> None:
        self._algorithm = algorithm
        self._settings = checked_settings(algorithm, seed, options, example)
        self._seed = seed
        self._independent = RandomSampler(seed=seed)
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        #: by storage and the number of a study in it
        self._studies: WeakKeyDictionary[Any, dict[int, _Followed]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the settings. A copy reads the storage anew."""
        return {k: v for k, v in vars(self).items() if k not in ("_lock", "_studies")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a sampler of what was pickled."""
        self.__dict__.update(state)
        self._start()

    def reseed_rng(self) -> None:
        """Draw independent parameters from another random sequence."""
        self._seed = None
        self._independent.reseed_rng()

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: Any
    ) -> Any:
        """A random value, for parameters that not all trials have."""
        _check_single(study)
        source = self._independent
        if self._seed is not None:  # by trial: so processes with one seed do not draw the same
            words = [abs(self._seed), trial.number, zlib.crc32(param_name.encode())]
            source = RandomSampler(seed=int(np.random.SeedSequence(words).generate_state(1)[0]))
        return source.sample_independent(study, trial, param_name, param_distribution)

    @abstractmethod
    def _codec(self, distributions: Distributions) -> Joint | Table:
        """What says how choices of these parameters look to the optimiser."""

    def _followed(self, study: Study) -> _Followed:
        return self._studies.setdefault(study._storage, {}).setdefault(study._study_id, _Followed())

    def _follower(self, study: Study, distributions: Distributions) -> Follower:
        """What tells an optimiser over these parameters about the study's trials."""
        followed = self._followed(study)
        found = followed.follower
        if found is None or found.codec.distributions != distributions:
            codec = self._codec(distributions)
            opt = self._algorithm(codec.domain, **self._settings)
            found = followed.follower = Follower(opt, codec, study)
        return found

    def _choose(
        self, study: Study, trial: FrozenTrial, distributions: Distributions
    ) -> dict[str, Any]:
        """Parameters for a trial; its choice is written to the storage before others look.

        Each process writes its choice and then looks. So if two choose at the same moment, at
        least one sees the other, and gives its choice up.
        """
        follower = self._follower(study, distributions)
        follower.catch_up(study, trial.number)
        for _ in range(_TRIES):
            choice = follower.trials.ask(trial.number)
            if choice is None:
                with contextlib.suppress(RuntimeError):  # not inside study.optimize
                    study.stop()
                raise TrialPruned("every row of the table has been evaluated")
            study._storage.set_trial_system_attr(trial._trial_id, ATTRIBUTE, choice)
            if choice not in follower.catch_up(study, trial.number):
                break
            follower.trials.give_up(trial.number)
        return follower.codec.params(choice)


class NoRegretSampler(_Sampler):
    """Samples all parameters of a space jointly, by bounds on a Gaussian process.

    Parameters may be floats, whole numbers, steps, log scales and categories. The joint space is
    the one that all finished trials share; other parameters are sampled at random. The first trial,
    and those of the design, are random as well. Then :class:`~noregret.TrustRegionUCB` chooses,
    with a sparse model beyond 500 trials. Nothing is proved: kernel, noise and norm are learnt.

    A trial that violates a constraint counts as the worst value seen. A pruned trial counts as its
    last reported value, but never as better than the median of the completed trials. A trial that
    fails is not tried again, and a region with several failures counts as bad.

    Parameters
    ----------
    seed
        Makes runs in one process repeatable.
    **options
        Settings of the algorithm, such as ``kernel``, ``noise`` and ``width``; see
        :class:`~noregret.TrustRegionUCB`.
    """

    def __init__(self, *, seed: int | None = None, **options: Any) -> None:
        super().__init__(TrustRegionUCB, seed, options, Box([(0.0, 1.0)]))

    def _codec(self, distributions: Distributions) -> Joint:
        return Joint(distributions)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        """The parameters that all finished trials have."""
        with self._lock:
            return varied(self._in_common(study))

    def _in_common(self, study: Study) -> Distributions:
        return dict(sorted(self._followed(study).shared.calculate(study).items()))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Distributions
    ) -> dict[str, Any]:
        """Values for all of these parameters."""
        _check_single(study)
        if not search_space:
            return {}
        with self._lock:
            return self._choose(study, trial, search_space)

    def recommend(self, study: Study) -> Estimate:
        """The best parameters by estimate, among those of completed trials, with an interval.

        Parameters that not all trials have are left out.
        """
        _check_single(study)
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

    Trials that fail, are pruned or violate a constraint count as in :class:`NoRegretSampler`.

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
        self._table = Table(TableRows("table", table))
        own = {"qbar": _QBAR} if len(self._table.domain) > _LONG else {}
        super().__init__(BBKB, seed, {"repeats": repeats, **own, **options}, self._table.domain)
        BBKB(self._table.domain, **self._settings)  # refuses a kernel for other dimensions

    def _codec(self, distributions: Distributions) -> Table:
        return self._table

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        """The columns of the table."""
        return varied(self._table.distributions)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Distributions
    ) -> dict[str, Any]:
        """The values of a row; random values if the parameters are not those of the table."""
        _check_single(study)
        own = self._table.distributions
        if any(own.get(name) != one for name, one in search_space.items()):
            return {n: self.sample_independent(study, trial, n, d) for n, d in search_space.items()}
        with self._lock:
            row = self._choose(study, trial, own)
        return {name: row[name] for name in search_space}

    def suggest(self, trial: Any) -> dict[str, Any]:
        """The row of a trial as a dict: suggests every column of the table."""
        own = self._table.distributions
        found = {name: trial._suggest(name, one) for name, one in own.items()}
        if self.row(trial) is None:
            raise ValueError(
                f"trial must have the values of a row of the table, got {found}. Make the study "
                "with this sampler; trials that you enqueue must have all values of a row"
            )
        return found

    def row(self, trial: Any) -> int | None:
        """The number of a trial's row in the table; ``None`` if its values are no row."""
        if isinstance(trial, Trial):  # one that is running
            trial = trial.storage.get_trial(trial._trial_id)
        return self._table.read(trial)

    def recommend(self, study: Study) -> Estimate:
        """The best row by estimate, among those of completed trials, with an interval."""
        _check_single(study)
        with self._lock:
            return self._follower(study, self._table.distributions).recommend(study)


def _check_single(study: Study) -> None:
    if len(study.directions) > 1:
        raise ValueError("study must have one objective: noregret's samplers optimise one number")
