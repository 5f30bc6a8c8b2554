"""A study's file and its optimiser kept in step: every change is written before it counts."""

import copy
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from noregret._types import Floats, Ints
from noregret.algorithms.base import Optimizer
from noregret.results import BatchInfo
from noregret.study import replay
from noregret.study.errors import FullError, StudyError
from noregret.study.sql import Storage
from noregret.study.units import Units

#: the best choice is noted in the log each time the answers have grown by this factor
_LOOK_GROWTH = 1.1

#: a trial's number, and its value or ``None`` for a failure
Answer = tuple[int, float | None]


class Log:
    """Operations on a study: each is one transaction.

    When one fails, the optimiser in memory may be ahead of the file; it is dropped, and made from
    the file again when it is next needed.

    Parameters
    ----------
    storage
        The open file.
    domain, kernel
        What cannot be stored of the optimiser, else ``None``.
    """

    def __init__(self, storage: Storage, domain: Any, kernel: Any) -> None:
        self.storage = storage
        self.settings = storage.settings()
        sign = -1.0 if self.settings["direction"] == "minimize" else 1.0
        self.units = Units(sign, self.settings["prior_mean"])
        self._given = domain, kernel
        self._state: replay.Replayed | None = None
        self._viewed: tuple[int, Optimizer] | None = None
        self._looked: int | None = None  # answers there were at the last look

    # -- the optimiser -----------------------------------------------------------------------

    def optimizer(self) -> Optimizer:
        """The optimiser after the whole log; for looking only."""
        return self._follow().optimizer

    def view(self) -> Optimizer:
        """A copy that can be asked anything without changing what the study asks next.

        Pending trials are left out of it.
        """
        state = self._follow()
        if self._viewed is None or self._viewed[0] != state.operation:
            optimizer = state.optimizer
            shared = (optimizer.domain, optimizer.kernel, optimizer._points, optimizer._prior)
            self._viewed = None  # before the next copy, for memory
            view = copy.deepcopy(optimizer, {id(part): part for part in shared})
            view._observations.pending[:] = 0
            self._viewed = state.operation, view
        return self._viewed[1]

    def _follow(self) -> replay.Replayed:
        """The state after the whole log: a reader catches up with the writer here."""
        if self._state is None or not self.storage.writable:
            with self.storage.transaction():
                if self._state is None:
                    self._state = replay.restore(self.storage, *self._given, self.units)
                    self._note_rebuild(self._state)
                else:
                    try:
                        replay.follow(self.storage, self._state, self.units)
                    except replay.DivergedError:  # the writer has changed an answer
                        self._state = replay.restore(self.storage, *self._given, self.units)
        return self._state

    def _note_rebuild(self, state: replay.Replayed) -> None:
        """After a log that could not be replayed, go on from a snapshot of what was made of it."""
        if state.rebuilt is None:
            return
        warnings.warn(
            f"{self.storage.path}: {state.rebuilt}. All answers are there and the optimiser has "
            "been told them anew, but its further questions may differ from an uninterrupted run.",
            RuntimeWarning,
            stacklevel=5,
        )
        if self.storage.writable:
            state.operation = self.storage.operation("rebuild")
            self.storage.event("rebuilt", {"why": state.rebuilt})
            self._put_snapshot(state)

    def _writer(self) -> replay.Replayed:
        if not self.storage.writable:
            raise StudyError(f"{self.storage.path} has been opened read_only")
        return self._follow()

    @contextmanager
    def _change(self) -> Iterator[replay.Replayed]:
        state = self._writer()
        try:
            with self.storage.transaction():
                yield state
        except BaseException:
            self._state = None
            raise

    # -- operations --------------------------------------------------------------------------

    def ask(self, n: int | None, origin: str) -> list[int]:
        """Hand out trials that are overdue, then new ones; their numbers."""
        with self._change() as state:
            overdue = self._overdue(n)
            for number in overdue:
                self.give_again(number)
            numbers: list[int] = []
            if n is None or len(overdue) < n:
                wanted = None if n is None else n - len(overdue)
                look = self._look()
                batch = state.optimizer.ask(wanted)
                info = _info(batch.info, len(batch), look)
                operation = self.storage.operation("ask", wanted, info)
                places = replay.places(state.optimizer, batch.ids, batch.points)
                numbers = self.storage.add_trials(operation, places, origin)
                state.operation = operation
                state.asks += 1
        self._snapshot_if_due()
        return overdue + numbers

    def _overdue(self, n: int | None) -> list[int]:
        timeout = self.settings["timeout"]
        if timeout is None:
            return []
        rows = self.storage.all(
            "SELECT trial FROM trials WHERE status = 'pending' AND origin != 'run' "
            "AND given_at < ? ORDER BY given_at, trial",
            (time.time() - timeout,),
        )
        return [int(row[0]) for row in rows[:n]]

    def give_again(self, number: int) -> None:
        """A pending trial is handed out once more."""
        self.storage.execute(
            "UPDATE trials SET given = given + 1, given_at = ? WHERE trial = ?",
            (time.time(), number),
        )
        self.storage.event("handed out again", {"trial": number})

    def tell(self, answers: Sequence[Answer], reason: str | None) -> None:
        """Answer pending trials, all with values or all failed for a reason."""
        answers = sorted(answers)
        with self._change() as state:
            kind, status = ("tell", "told") if reason is None else ("fail", "failed")
            operation = self.storage.operation(kind)
            for number, value in answers:
                self.storage.finish(operation, number, status, value, reason)
            rows = self.storage.trials("done = ?", (operation,))
            arms = replay.where(state.optimizer, rows)
            if reason is None:
                values = [value for _, value in answers]
                state.optimizer.tell(arms, self.units.rewards(values))
                state.answers += len(answers)
            else:
                state.optimizer.cancel(arms)
            state.operation = operation
        self._snapshot_if_due()

    def overwrite(self, answers: Sequence[Answer], reason: str | None) -> None:
        """Answer trials, some of which had another answer: a fresh optimiser is told everything."""
        status = "told" if reason is None else "failed"
        with self._change() as state:
            operation = self.storage.operation("rebuild")
            for number, value in sorted(answers):
                self.storage.finish(operation, number, status, value, reason)
                self.storage.event("overwritten", {"trial": number, "value": value})
            first = replay.start(self.storage, *self._given)
            state.optimizer = replay.rebuild(self.storage, first, self.units, "").optimizer
            state.operation = operation
            # Replay cannot cross this point, so the snapshot belongs to the same transaction.
            self._put_snapshot(state)

    def history(self, arms: Ints | Floats, values: Floats) -> list[int]:
        """Answers nobody asked for; the numbers of their trials."""
        with self._change() as state:
            operation = self.storage.operation("history")
            places = replay.places(state.optimizer, arms, arms)
            numbers = self.storage.add_trials(operation, places, "history", values.tolist())
            replay.tell_history(state.optimizer, arms, self.units.rewards(values))
            state.operation = operation
            state.answers += len(numbers)
        self._snapshot_if_due()
        return numbers

    def event(self, kind: str, **details: Any) -> None:
        """Note something in the file."""
        with self.storage.transaction():
            self.storage.event(kind, details)

    # -- snapshots and looks -----------------------------------------------------------------

    def _snapshot_if_due(self) -> None:
        state = self._state
        if state is None or not state.snapshot_due():
            return
        counts = state.asks, state.answers
        try:
            with self.storage.transaction():
                self._put_snapshot(state)
        except FullError as error:
            # What was told is on disk without it; the next operation tries again.
            state.asks, state.answers = counts
            warnings.warn(f"no snapshot could be stored: {error}", RuntimeWarning, stacklevel=4)

    def _put_snapshot(self, state: replay.Replayed) -> None:
        data = replay.dump(state.optimizer, candidates=False)
        self.storage.put_snapshot(state.operation, data)
        state.asks = state.answers = 0

    def _look(self) -> dict[str, float] | None:
        """The best choice so far, for the report, at counts of answers that grow like 1.1ⁿ."""
        if self._looked is None:
            row = self.storage.one(
                "SELECT max(json_extract(info, '$.look.t')) FROM operations WHERE kind = 'ask'"
            )
            self._looked = int(row[0] or 0)
        t = self._follow().optimizer.t
        if t <= self._looked or t < _LOOK_GROWTH * self._looked:
            return None
        best = self.units.recommendation(self.view().recommend())
        self._looked = t
        names = ("id", "mean", "lower", "upper", "gap")
        return {"t": t} | {name: getattr(best, name) for name in names}


def _info(info: BatchInfo | None, size: int, look: dict[str, float] | None) -> dict[str, Any]:
    about: dict[str, Any] = {"size": size}
    if info is not None:
        about |= {"beta": info.beta, "ratio": info.ratio, "dictionary": info.dictionary_size}
    return about if look is None else about | {"look": look}
