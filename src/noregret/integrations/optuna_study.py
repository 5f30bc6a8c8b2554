"""A study's trials, parameters and values as our optimisers have them."""

import math
from collections.abc import Hashable
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

from noregret import _checks
from noregret.integrations.shared.table_rows import TableRows
from noregret.integrations.shared.tool_trials import ToolTrials, TrialRewards
from noregret.optimizer import Optimizer
from noregret.spaces import Choice, Float, Int, Space
from noregret.spaces.parameters import Parameter

#: where the choice of a trial is kept in the storage
ATTRIBUTE = "noregret:choice"
#: coordinates of points are compared to this many digits
_DIGITS = 12

Distributions = dict[str, BaseDistribution]


@dataclass(frozen=True)
class Estimate:
    """The best choice by the model's estimate, not by its largest noisy value.

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
    """Tells an optimiser what happens to the trials of a study.

    Parameters
    ----------
    opt
        The optimiser.
    codec
        Says which choice a trial has, and which parameters a choice has.
    study
        The study; its direction says what is better.
    """

    def __init__(self, opt: Optimizer, codec: "Joint | Table", study: Study) -> None:
        self.trials, self.codec = ToolTrials(opt), codec
        self._sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        self._seen = 0  # trials before this one have been looked at
        self._open: list[int] = []  # of those, the ones that are not finished
        self._rewards = TrialRewards()
        self._completed: set[Hashable] = set()  # choices that may be recommended
        self._others = 0  # trials that ended in another way

    def catch_up(self, study: Study, asking: int = -1) -> list[Any]:
        """Tell the optimiser what other trials did since it was last asked.

        Returns the choices made elsewhere that it learns of now.
        """
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        numbers = [*self._open, *range(self._seen, len(trials))]
        self._seen, self._open = len(trials), []
        finished: list[tuple[int, Any, float]] = []
        news = []
        for number in numbers:
            trial = trials[number]
            reward = self._reward(trial) if trial.state.is_finished() else None
            if reward is not None:
                choice = self.codec.read(trial)
                finished.append((number, choice, reward))
                if choice is not None and math.isfinite(reward) and _is_whole(trial):
                    self._completed.add(self.codec.key(choice))
                else:
                    self._others += 1
                continue
            self._open.append(number)
            if number != asking:
                news += self.trials.expect(number, trial.system_attrs.get(ATTRIBUTE))
        return news + self.trials.finish(finished)

    def _reward(self, trial: FrozenTrial) -> float | None:
        """What the optimiser maximises; NaN if a trial failed; ``None`` if not known yet."""
        value = trial.value if trial.state == TrialState.COMPLETE else None
        if trial.state == TrialState.PRUNED and trial.intermediate_values:
            value = trial.intermediate_values[max(trial.intermediate_values)]
        if value is None or not abs(value) <= _checks.LARGEST:
            return math.nan
        if _is_forbidden(trial):
            return self._rewards.forbidden()
        reward = self._sign * float(value)
        complete = trial.state == TrialState.COMPLETE
        return self._rewards.completed(reward) if complete else self._rewards.stopped(reward)

    def recommend(self, study: Study) -> Estimate:
        """Of the choices with a completed trial, the one with the largest lower bound."""
        self.catch_up(study)
        opt = self.trials.opt
        if not self._completed:
            raise ValueError("study must have completed trials before there is a recommendation")
        for best in opt.top(self._others + 1):
            where = best.id if best.id >= 0 else best.point
            if self.codec.key(where) in self._completed:
                break
        lower, upper = sorted((self._sign * best.lower, self._sign * best.upper))
        count = int(opt.counts([where])[0])
        return Estimate(self.codec.params(where), self._sign * best.mean, lower, upper, count)


class Joint:
    """Choices of a space: values of our parameters by name."""

    def __init__(self, distributions: Distributions) -> None:
        self.distributions = dict(distributions)
        self.domain = Space({name: _parameter(one) for name, one in distributions.items()})

    def read(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The choice that a trial evaluated; ``None`` if it lies outside the space."""
        choice = {}
        for name, one in self.distributions.items():
            if name not in trial.params:
                return None
            number = one.to_internal_repr(trial.params[name])
            if not one._contains(number):
                return None
            choice[name] = _own_value(one, number)
        return choice

    def key(self, choice: Any) -> Hashable:
        """The same for equal choices, also if one of them has been encoded and decoded."""
        _, points = self.domain.locate([choice])
        return tuple(points[0].round(_DIGITS).tolist())

    def params(self, where: Any) -> dict[str, Any]:
        """A point as users see it."""
        return {name: _value(one, where[name]) for name, one in self.distributions.items()}


class Table:
    """Choices of a table: row numbers."""

    def __init__(self, rows: TableRows) -> None:
        self._rows, self.domain = rows, rows.domain
        self.distributions = {name: _distribution(one) for name, one in rows.columns.items()}

    def read(self, trial: FrozenTrial) -> int | None:
        """The row that a trial evaluated; ``None`` if its values are those of no row."""
        given = {name: trial.params[name] for name in self.distributions if name in trial.params}
        chosen = trial.system_attrs.get(ATTRIBUTE)
        # A trial may ask for some of the columns only.
        if given and isinstance(chosen, int) and 0 <= chosen < len(self.domain):
            row = self.params(chosen)
            if all(row[name] == value for name, value in given.items()):
                return chosen
        return self._rows.find(given)

    def key(self, row: Any) -> Hashable:
        """The same for equal rows."""
        return int(row)

    def params(self, row: int) -> dict[str, Any]:
        """A row as users see it."""
        return self._rows.values(row)


def _constraints(trial: FrozenTrial) -> list[float]:
    """Constraint values as Optuna 5 has them, or as a list under one key before."""
    new = getattr(trial, "constraints", None)
    return list(new.values()) if new is not None else trial.system_attrs.get("constraints") or []


def _is_forbidden(trial: FrozenTrial) -> bool:
    return any(one > 0 for one in _constraints(trial))


def _is_whole(trial: FrozenTrial) -> bool:
    """Whether a trial was completed and keeps its constraints."""
    return trial.state == TrialState.COMPLETE and not _is_forbidden(trial)


def varied(found: Distributions) -> Distributions:
    """The distributions with more than one value."""
    return {name: one for name, one in found.items() if not one.single()}


def only_value(given: BaseDistribution) -> Any:
    """The value of a distribution that has one."""
    return given.choices[0] if isinstance(given, CategoricalDistribution) else given.low


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


def _value(given: BaseDistribution, own: Any) -> Any:
    """The value that Optuna has for a value of our parameter."""
    if isinstance(given, FloatDistribution):
        number = own if given.step is None else given.low + own * given.step
        return float(min(max(number, given.low), given.high))
    return given.to_external_repr(own)


def _own_value(given: BaseDistribution, number: float) -> Any:
    """The value of our parameter for Optuna's internal number."""
    if isinstance(given, FloatDistribution):
        return number if given.step is None else round((number - given.low) / given.step)
    return int(number)


def _distribution(column: Any) -> BaseDistribution:
    """The distribution of a table's column, of numbers, texts or booleans."""
    if column.dtype.is_integer():
        return IntDistribution(int(column.min()), int(column.max()))
    if column.dtype.is_numeric():
        return FloatDistribution(float(column.min()), float(column.max()))
    return CategoricalDistribution(column.unique(maintain_order=True).to_list())
