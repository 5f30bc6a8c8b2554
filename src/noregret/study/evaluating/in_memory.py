"""Studies without a file: what a run needs of a study, and one that is kept in memory."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from noregret.optimizer import Optimizer
from noregret.results import Recommendation
from noregret.spaces import Domain
from noregret.study.answers import Units
from noregret.study.trials import Trial, Trials, choices_of, end_failed, new_trials, trials_of


class StudyLike(Protocol):
    """What a run asks and tells: a :class:`~noregret.Study`, or a :class:`MemoryStudy`."""

    units: Units

    @property
    def domain(self) -> Domain:
        """What may be chosen."""

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings; ``"batch"`` is the n of an ask if none is given, or ``None``."""

    def ask(self, n: int | None = None, *, adaptive: bool = False, origin: str = "ask") -> Trials:
        """Trials to evaluate next: n, or with ``adaptive`` as many as the algorithm wants, or none.

        There are none if no candidate may be evaluated any more.
        """

    def tell(self, trials: Any, values: Any = None, *, failed: str | None = None) -> None:
        """Answer trials, by number: a value each, or why all of them failed."""

    def tell_history(self, points: Any, values: Any) -> Any:
        """Answers that nobody asked for: ids (or points of a box) and values."""

    def set_aside(self, ids: Any) -> None:
        """Stop asking for these candidates of a list."""

    def get(self, numbers: Sequence[int]) -> Trials:
        """These trials."""

    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without an answer."""

    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""

    def reassign(self, trial: int) -> None:
        """Note that a trial was given to another worker."""

    def note(self, event: str, **details: Any) -> None:
        """Write an event down."""

    def best(self) -> Recommendation:
        """The choice with the best guaranteed value, in the sign of the user's values."""

    def rows(self) -> list[Trial]:
        """Every trial, in the order asked for."""


class MemoryStudy:
    """Ask and tell as in a :class:`~noregret.Study`: the trials of one optimiser, in memory.

    Parameters
    ----------
    optimizer
        Fresh, or with a history of its own, which becomes trials of the origin ``"history"``.
    direction
        ``"maximize"`` or ``"minimize"``.
    """

    def __init__(self, optimizer: Optimizer, direction: str) -> None:
        self.optimizer = optimizer
        self.domain = optimizer.domain
        self.units = Units(-1.0 if direction == "minimize" else 1.0, 0.0)
        self.settings: dict[str, Any] = {"direction": direction, "batch": None}
        self._trials: list[Trial] = []
        self._open: dict[int, str] = {}  # pending trials and who asked
        self._told = 0  # how many tells there were
        self._counts = {"pending": 0, "told": 0, "failed": 0, "history": 0}
        past = optimizer.history
        if len(past) and (self.domain.size is None or (past.ids >= 0).all()):
            numbers = self._add(past.ids, past.points, "history")
            self._end(numbers, self.units.values(past.rewards), None)
            self._counts["history"] = len(numbers)

    def ask(self, n: int | None = None, *, adaptive: bool = False, origin: str = "ask") -> Trials:
        """Trials to evaluate next, as :meth:`noregret.Study.ask`."""
        with uninterrupted():
            batch = self.optimizer.ask(n, fill=n is not None and not adaptive)
            numbers = self._add(batch.ids, batch.points, origin)
        return Trials(np.array(numbers, dtype=np.int64), batch.ids, batch.points, batch.values)

    def _add(self, ids: Any, points: Any, origin: str) -> list[int]:
        choices, first = self.domain.pack(ids, points), len(self._trials)
        self._trials += new_trials(first, choices, None, origin, 0, time.time())
        numbers = list(range(first, len(self._trials)))
        self._open.update(dict.fromkeys(numbers, origin))
        self._counts["pending"] += len(numbers)
        return numbers

    def tell(self, trials: Any, values: Any = None, *, failed: str | None = None) -> None:
        """Answer pending trials: a value each, or why all of them failed."""
        numbers = [int(number) for number in np.atleast_1d(trials)]
        chosen = [self._trials[number] for number in numbers]
        with uninterrupted():
            if failed is None:
                values = np.atleast_1d(np.asarray(values, dtype=np.float64))
                self.optimizer.tell(choices_of(chosen, self.domain), self.units.rewards(values))
            else:
                end_failed(self.optimizer, chosen)
            self._end(numbers, values, failed)

    def tell_history(self, points: Any, values: Any) -> None:
        """Answers that nobody asked for."""
        ids, where = self.domain.locate(points)
        with uninterrupted():
            self.optimizer.tell(points, self.units.rewards(values), unasked=True)
            numbers = self._add(ids, where, "history")
            self._end(numbers, values, None)
            self._counts["history"] += len(numbers)

    def _end(self, numbers: Sequence[int], values: Any, reason: str | None) -> None:
        status = "told" if reason is None else "failed"
        self._told += 1
        for position, number in enumerate(numbers):
            self._trials[number] = replace(
                self._trials[number],
                status=status,
                value=float(values[position]) if reason is None else None,
                reason=reason,
                done_by=self._told,
                done_at=time.time(),
            )
            del self._open[number]
        self._counts["pending"] -= len(numbers)
        self._counts[status] += len(numbers)

    def set_aside(self, ids: Any) -> None:
        """Stop asking for these candidates of a list."""
        with uninterrupted():
            self.optimizer.set_aside(ids)

    def get(self, numbers: Sequence[int]) -> Trials:
        """These trials, to be evaluated."""
        return trials_of([self._trials[number] for number in numbers], self.domain)

    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without an answer, all or those of one origin."""
        return [number for number, who in self._open.items() if origin in (None, who)]

    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""
        return dict(self._counts)

    def reassign(self, trial: int) -> None:
        """Does nothing: the run itself knows which worker has a trial."""

    def note(self, event: str, **details: Any) -> None:
        """Does nothing: there is no file to read later."""

    def best(self) -> Recommendation:
        """The choice with the best guaranteed value, in the sign of the user's values."""
        with uninterrupted():
            return self.units.recommendation(self.optimizer.recommend())

    def rows(self) -> list[Trial]:
        """Every trial, in the order asked for."""
        return list(self._trials)

    def close(self) -> None:
        """Cancel pending trials; they stay in the record."""
        numbers = self.pending()
        if numbers:
            left = [self._trials[number] for number in numbers]
            self.optimizer.cancel(choices_of(left, self.domain))
            self._open.clear()
            self._counts["pending"] = 0


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the block is left: a half-updated model is useless."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held and callable(before):
            before(*held[0])
