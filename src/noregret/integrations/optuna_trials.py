"""What Optuna's trials mean to an optimiser: choices made, pending, told, failed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from noregret.optimizer import Optimizer
from noregret.spaces import Candidates, Choice, Float, Int, Space
from noregret.spaces.parameters import Parameter

#: where the choice of a trial is kept in the storage
ATTRIBUTE = "noregret:choice"
#: choices made at a time, at most, by algorithms that choose batches
_QUEUE = 16


@dataclass(frozen=True)
class Estimate:
    """The best choice by the model's estimate, not by its luckiest value.

    Attributes
    ----------
    params
        The parameters.
    value, lower, upper
        The estimated objective and its interval, in the study's units and direction.
    trials
        How many trials evaluated just these parameters.
    """

    params: dict[str, Any]
    value: float
    lower: float
    upper: float
    trials: int


class Follower:
    """An optimiser that is told what happens to the trials of a study.

    Parameters
    ----------
    opt
        The optimiser.
    codec
        Says which choice a trial has, and what a choice is to the optimiser and to users.
    study
        Whose direction decides what is better.
    """

    def __init__(self, opt: Optimizer, codec: "Joint | Rows", study: Study) -> None:
        self._opt, self._codec = opt, codec
        self._sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        self._seen = 0  # trials before this one have been looked at
        self._open: set[int] = set()  # of those, the ones that are not finished
        self._pending: dict[int, Any] = {}  # choices that the optimiser waits for, by trial
        self._queue: list[Any] = []  # choices that no trial has yet
        self._worst: float | None = None

    def ask(self, number: int) -> Any:
        """A choice for a trial; ``None`` where there is none left."""
        if not self._queue:
            # As many as can be chosen without loss, for an algorithm that knows how many those are.
            batch = self._opt.ask(_QUEUE if self._opt.adaptive else 1)
            self._queue = [self._codec.choice(batch[i : i + 1]) for i in range(len(batch))]
        if not self._queue:
            return None
        choice = self._pending[number] = self._queue.pop(0)
        return choice

    def catch_up(self, study: Study, asking: int = -1) -> None:
        """Tell the optimiser what other trials did since it was last asked."""
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        numbers = [*sorted(self._open), *range(self._seen, len(trials))]
        self._seen = len(trials)
        told: dict[bool, list[tuple[Any, float]]] = {True: [], False: []}
        for number in numbers:
            trial = trials[number]
            self._open.discard(number)
            reward = self._reward(trial)
            if not trial.state.is_finished() or reward is None:
                self._open.add(number)
                if number != asking:
                    self._expect(number, trial)
                continue
            choice = self._codec.read(trial)
            waited = self._pending.pop(number, None)
            if waited is not None and (waited != choice or not math.isfinite(reward)):
                if not self._codec.spent:
                    self._opt.cancel(self._codec.points([waited]))
                waited = None
            if choice is not None and math.isfinite(reward):
                told[waited is not None].append((choice, reward))
        for waited, pairs in told.items():
            if pairs:
                points = self._codec.points([choice for choice, _ in pairs])
                self._opt.tell(points, [reward for _, reward in pairs], unasked=not waited)

    def _expect(self, number: int, trial: FrozenTrial) -> None:
        """Count the choice of a running trial of another process or thread as pending."""
        choice = trial.system_attrs.get(ATTRIBUTE)
        if number not in self._pending and choice is not None and self._codec.fits(choice):
            if choice in self._queue:  # another process was quicker: it is pending already
                self._queue.remove(choice)
            else:
                self._opt.expect(self._codec.points([choice]))
            self._pending[number] = choice

    def _reward(self, trial: FrozenTrial) -> float | None:
        """What the optimiser maximises; NaN for nothing; ``None`` where it is not known yet."""
        if trial.state != TrialState.COMPLETE or trial.value is None:
            return math.nan
        if any(value > 0 for value in _constraints(trial)):
            return self._worst
        reward = self._sign * float(trial.value)
        if math.isfinite(reward):
            self._worst = reward if self._worst is None else min(self._worst, reward)
        return reward

    def recommend(self, study: Study) -> Estimate:
        """The evaluated choice with the largest lower bound."""
        self.catch_up(study)
        if not self._opt.t:
            raise ValueError("study must have finished trials before there is a recommendation")
        best = self._opt.recommend()
        where = best.id if best.id >= 0 else best.point
        lower, upper = sorted((self._sign * best.lower, self._sign * best.upper))
        count = int(self._opt.counts([where])[0])
        mean = self._sign * best.mean
        return Estimate(self._codec.params(where), mean, lower, upper, count)


class Joint:
    """Choices of a space, kept in the storage as Optuna's internal numbers by name."""

    #: whether a choice that failed is not to be tried again
    spent = False

    def __init__(self, distributions: dict[str, BaseDistribution]) -> None:
        self._distributions = distributions
        self.space = Space({name: _parameter(one) for name, one in distributions.items()})

    def choice(self, batch: Any) -> dict[str, float]:
        """What is kept of a batch of one."""
        return {n: _internal(one, batch.values[0][n]) for n, one in self._distributions.items()}

    def read(self, trial: FrozenTrial) -> dict[str, float] | None:
        """The choice that a trial evaluated, where it lies in the space."""
        values = {n: trial.params[n] for n in self._distributions if n in trial.params}
        found = {n: self._distributions[n].to_internal_repr(v) for n, v in values.items()}
        return found if self.fits(found) else None

    def fits(self, choice: Any) -> bool:
        """Whether a choice lies in the space."""
        return (
            isinstance(choice, Mapping)
            and choice.keys() == self._distributions.keys()
            and all(one._contains(choice[name]) for name, one in self._distributions.items())
        )

    def points(self, choices: list[dict[str, float]]) -> list[dict[str, Any]]:
        """The choices as our space has them."""
        own = self._distributions
        return [{n: _own_value(own[n], value) for n, value in one.items()} for one in choices]

    def params(self, where: Any) -> dict[str, Any]:
        """A point as users see it."""
        own = self._distributions
        return {n: d.to_external_repr(_internal(d, where[n])) for n, d in own.items()}


class Rows:
    """Choices of a table, kept in the storage as row numbers."""

    spent = True

    def __init__(self, table: Any) -> None:
        import polars as pl

        frame = pl.DataFrame(table)
        self.candidates = Candidates(frame)
        self._columns = {name: frame[name] for name in frame.columns}
        self.distributions = {name: _distribution(column) for name, column in self._columns.items()}
        self._row_of: dict[tuple[Any, ...], int] | None = None

    def choice(self, batch: Any) -> int:
        """The row of a batch of one."""
        return int(batch.ids[0])

    def read(self, trial: FrozenTrial) -> int | None:
        """The row that a trial evaluated; of trials chosen elsewhere the one with its values."""
        found = trial.system_attrs.get(ATTRIBUTE)
        if found is not None or trial.params.keys() != self._columns.keys():
            return found if self.fits(found) else None
        if self._row_of is None:
            rows = zip(*(column.to_list() for column in self._columns.values()), strict=True)
            self._row_of = {values: row for row, values in enumerate(rows)}
        return self._row_of.get(tuple(trial.params[name] for name in self._columns))

    def fits(self, choice: Any) -> bool:
        """Whether there is such a row."""
        return isinstance(choice, int) and 0 <= choice < len(self.candidates)

    def points(self, choices: list[int]) -> list[int]:
        """The rows' ids."""
        return choices

    def values(self, row: int) -> dict[str, Any]:
        """A row as users see it."""
        return {name: column[row] for name, column in self._columns.items()}

    params = values


def key_of(study: Study) -> tuple[int, int]:
    """What tells studies apart."""
    return id(study._storage), study._study_id


def check_single(study: Study) -> None:
    """Refuse a study of several objectives."""
    if len(study.directions) > 1:
        raise ValueError("study must have one objective: noregret's samplers optimise one number")


def varied(found: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """The distributions with more than one value."""
    return {name: one for name, one in found.items() if not one.single()}


def _constraints(trial: FrozenTrial) -> list[float]:
    """Constraint values as Optuna 5 has them, or as a list under one key before."""
    new = getattr(trial, "constraints", None)
    return list(new.values()) if new is not None else trial.system_attrs.get("constraints") or []


def _parameter(given: BaseDistribution) -> Parameter:
    """The parameter that our space has for a distribution; steps and choices are counted."""
    if isinstance(given, CategoricalDistribution):
        return Choice(list(range(len(given.choices))))
    if isinstance(given, FloatDistribution) and given.step is not None:
        return Int(0, round((given.high - given.low) / given.step))
    if isinstance(given, FloatDistribution):
        return Float(given.low, given.high, log=given.log)
    assert isinstance(given, IntDistribution)
    return Int(given.low, given.high, log=given.log, step=given.step)


def _internal(given: BaseDistribution, value: Any) -> float:
    """Optuna's internal number of a value of our parameter."""
    if isinstance(given, FloatDistribution):
        number = value if given.step is None else given.low + value * given.step
        return float(min(max(number, given.low), given.high))
    return float(value)


def _own_value(given: BaseDistribution, number: float) -> Any:
    """The value of our parameter for Optuna's internal number."""
    if isinstance(given, FloatDistribution):
        return number if given.step is None else round((number - given.low) / given.step)
    return int(number)


def _distribution(column: Any) -> BaseDistribution:
    """The distribution of a table's column."""
    if column.dtype.is_integer():
        return IntDistribution(int(column.min()), int(column.max()))
    if column.dtype.is_numeric():
        return FloatDistribution(float(column.min()), float(column.max()))
    return CategoricalDistribution(column.unique(maintain_order=True).to_list())


def only_value(given: BaseDistribution) -> Any:
    """The value of a distribution that has one."""
    return given.choices[0] if isinstance(given, CategoricalDistribution) else given.low
