"""Optuna's trials as an optimiser sees them: choices made, pending, told, failed."""

import math
import random
from bisect import insort
from dataclasses import dataclass
from typing import Any

from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from noregret import _checks
from noregret.integrations.optuna.choices import ATTRIBUTE, Joint, Rows
from noregret.optimizer import Optimizer

#: at first, algorithms that choose batches make at most this many choices at a time
_QUEUE = 16
#: later, they choose ahead for one in this many of the trials so far
_DELAY = 32


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
    """An optimiser that is told what happens to the trials of a study.

    Parameters
    ----------
    opt
        The optimiser.
    codec
        Says what the parameters are, which choice a trial has, and what a choice is to the
        optimiser and to users.
    study
        The study; its direction says what is better.
    """

    def __init__(self, opt: Optimizer, codec: Joint | Rows, study: Study) -> None:
        self._opt, self.codec = opt, codec
        self._sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        self._seen = 0  # trials before this one have been looked at
        self._open: set[int] = set()  # of those, the ones that are not finished
        self._pending: dict[int, Any] = {}  # choices that the optimiser waits for, by trial
        self._queue: list[Any] = []  # choices that no trial has yet
        self._rewards: list[float] = []  # of trials that were completed, sorted

    def ask(self, number: int) -> Any:
        """A choice for a trial; ``None`` if there is none left."""
        if not self._queue:
            batch = self._opt.ask(1) if not self._opt.adaptive else self._ask_ahead()
            self._queue = [self.codec.choice(batch[i : i + 1]) for i in range(len(batch))]
        if not self._queue:
            return None
        choice = self._pending[number] = self._queue.pop(0)
        return choice

    def _ask_ahead(self) -> Any:
        """Several choices at a time: on a long table it is updates that take time."""
        count = self._opt.t // _DELAY
        if count > 1:
            return self._opt.ask(count, fill=True)
        return self._opt.ask(_QUEUE)  # as many as the algorithm can choose without loss

    def is_taken(self, study: Study, number: int) -> bool:
        """Whether another process made a trial's choice since it was asked for; then give it up.

        Each process writes its choice and then looks. So if two choose at the same moment, at
        least one sees the other.
        """
        choice = self._pending[number]
        if choice not in self.catch_up(study, number):
            return False
        self._opt.cancel(self.codec.points([self._pending.pop(number)]))
        random.Random().shuffle(self._queue)  # the other process may have the same queue
        return True

    def catch_up(self, study: Study, asking: int = -1) -> list[Any]:
        """Tell the optimiser what other trials did since it was last asked.

        Returns the choices made elsewhere that it learns of now.
        """
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        numbers = [*sorted(self._open), *range(self._seen, len(trials))]
        self._seen = len(trials)
        told: dict[bool, list[tuple[Any, float]]] = {True: [], False: []}
        news = []
        for number in numbers:
            trial = trials[number]
            self._open.discard(number)
            reward = self._reward(trial) if trial.state.is_finished() else None
            if reward is None:
                self._open.add(number)
                if number != asking:
                    news += self._expect(number, trial)
                continue
            choice: Any = self.codec.read(trial)
            waited = self._pending.pop(number, None)
            if waited is not None and waited != choice:  # given up for another choice
                self._opt.cancel(self.codec.points([waited]))
                waited = None
            if choice is None:
                continue
            if waited is None:
                news.append(choice)
                waited = self._from_queue(choice)
            if math.isfinite(reward):
                told[waited is not None].append((choice, reward))
                continue
            if waited is None:
                self._opt.expect(self.codec.points([choice]))
            self._opt.fail(self.codec.points([choice]))
        for waited, pairs in told.items():
            if pairs:
                points = self.codec.points([choice for choice, _ in pairs])
                self._opt.tell(points, [reward for _, reward in pairs], unasked=not waited)
        return news

    def _expect(self, number: int, trial: FrozenTrial) -> list[Any]:
        """Count the choice of a running trial of another process or thread as pending.

        Returns that choice if it is new.
        """
        choice, known = trial.system_attrs.get(ATTRIBUTE), self._pending.get(number)
        if choice is None or choice == known or not self.codec.fits(choice):
            return []
        if known is not None:  # given up for another choice
            self._opt.cancel(self.codec.points([known]))
        if self._from_queue(choice) is None:
            self._opt.expect(self.codec.points([choice]))
        self._pending[number] = choice
        return [choice]

    def _from_queue(self, choice: Any) -> Any:
        """Remove a choice that another process made from the queue; ``None`` if it is not there."""
        if choice not in self._queue:
            return None
        self._queue.remove(choice)
        return choice

    def _reward(self, trial: FrozenTrial) -> float | None:
        """What the optimiser maximises; NaN if a trial failed; ``None`` if not known yet."""
        value = trial.value if trial.state == TrialState.COMPLETE else None
        if trial.state == TrialState.PRUNED and trial.intermediate_values:
            value = trial.intermediate_values[max(trial.intermediate_values)]
        if value is None or not abs(value) <= _checks.LARGEST:
            return math.nan
        known = self._rewards
        if any(one > 0 for one in _constraints(trial)):
            return known[0] if known else None
        reward = self._sign * float(value)
        if trial.state == TrialState.COMPLETE:
            insort(known, reward)
        elif known:  # pruned
            reward = min(reward, known[len(known) // 2])
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
        return Estimate(self.codec.params(where), mean, lower, upper, count)


def check_single(study: Study) -> None:
    """Refuse a study of several objectives."""
    if len(study.directions) > 1:
        raise ValueError("study must have one objective: noregret's samplers optimise one number")


def _constraints(trial: FrozenTrial) -> list[float]:
    """Constraint values as Optuna 5 has them, or as a list under one key before."""
    new = getattr(trial, "constraints", None)
    return list(new.values()) if new is not None else trial.system_attrs.get("constraints") or []
