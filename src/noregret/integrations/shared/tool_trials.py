"""An optimiser beside a tool that keeps the trials: it is told what becomes of them."""

import math
import random
from bisect import insort
from collections.abc import Hashable, Iterable
from typing import Any

from noregret.optimizer import Optimizer

#: at first, algorithms that choose batches make at most this many choices at a time
_QUEUE = 16
#: later, they choose ahead for one in this many of the trials so far
_DELAY = 32


class TrialRewards:
    """What trials count as: those that were completed, and those that were not.

    Trials are taken in the order in which they ended.
    """

    def __init__(self) -> None:
        self._completed: list[float] = []  # sorted

    def completed(self, reward: float) -> float:
        """The reward of a trial that was completed: itself."""
        insort(self._completed, reward)
        return reward

    def stopped(self, reward: float) -> float:
        """What a trial counts as that was stopped early, at a reward.

        Never more than the median of the completed trials.
        """
        known = self._completed
        return min(reward, known[len(known) // 2]) if known else reward

    def forbidden(self) -> float | None:
        """What a trial counts as that violates a constraint: the worst reward so far.

        ``None`` if no trial has been completed.
        """
        return self._completed[0] if self._completed else None


class ToolTrials:
    """Choices that an optimiser made for the trials of another tool, or that others made.

    Each trial has a key of the tool's own, and a choice: an id on a list, else a dict of values.

    Parameters
    ----------
    opt
        The optimiser.
    """

    def __init__(self, opt: Optimizer) -> None:
        self.opt = opt
        self._pending: dict[Hashable, Any] = {}  # choices that the optimiser waits for, by trial
        self._queue: list[Any] = []  # choices that no trial has yet

    def ask(self, key: Hashable) -> Any:
        """A choice for a trial; ``None`` if there is none left."""
        if not self._queue:
            batch = self._ask_ahead() if self.opt.adaptive else self.opt.ask(1)
            self._queue = list(self.opt.domain.references(batch.ids.tolist(), batch.values))
        if not self._queue:
            return None
        choice = self._pending[key] = self._queue.pop(0)
        return choice

    def _ask_ahead(self) -> Any:
        """Several choices at a time: on a long list it is updates that take time."""
        count = self.opt.t // _DELAY
        if count > 1:
            return self.opt.ask(count, fill=True)
        return self.opt.ask(_QUEUE)  # as many as the algorithm can choose without loss

    def expect(self, key: Hashable, choice: Any) -> list[Any]:
        """Count the choice of a running trial as pending, if it lies in the optimiser's domain.

        Returns that choice if it is new.
        """
        known = self._pending.get(key)
        if choice is None or choice == known or not self._is_possible(choice):
            return []
        if known is not None:  # given up for another choice
            self.opt.cancel([known])
        if not self._leaves_queue(choice):
            self.opt.expect([choice])
        self._pending[key] = choice
        return [choice]

    def give_up(self, key: Hashable) -> None:
        """A trial takes another choice, because another process has made the same one."""
        self.opt.cancel([self._pending.pop(key)])
        random.Random().shuffle(self._queue)  # the other process may have the same queue

    def finish(self, outcomes: Iterable[tuple[Hashable, Any, float]]) -> list[Any]:
        """Tell what became of trials: the key, the choice and the reward of each.

        A choice is ``None`` if it lies outside the optimiser's domain, and a reward NaN if the
        trial failed. Returns the choices that the optimiser did not know of.
        """
        told: dict[bool, list[tuple[Any, float]]] = {True: [], False: []}
        news = []
        for key, choice, reward in outcomes:
            waited = self._pending.pop(key, None)
            if waited is not None and waited != choice:  # given up for another choice
                self.opt.cancel([waited])
                waited = None
            if choice is None:
                continue
            asked = waited is not None
            if not asked:
                news.append(choice)
                asked = self._leaves_queue(choice)
            if math.isfinite(reward):
                told[asked].append((choice, reward))
                continue
            if not asked:
                self.opt.expect([choice])
            self.opt.fail([choice])
        for asked, pairs in told.items():
            if pairs:
                choices, rewards = zip(*pairs, strict=True)
                self.opt.tell(list(choices), list(rewards), unasked=not asked)
        return news

    def _is_possible(self, choice: Any) -> bool:
        try:
            self.opt.domain.locate([choice])
        except (TypeError, ValueError):
            return False
        return True

    def _leaves_queue(self, choice: Any) -> bool:
        """Remove a choice that another process made from the queue; whether it was there."""
        if choice not in self._queue:
            return False
        self._queue.remove(choice)
        return True
