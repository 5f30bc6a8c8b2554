"""A study's file and its optimiser kept in step: every change is written before it counts."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from noregret._types import Floats
from noregret.algorithms import Optimizer
from noregret.results import BatchInfo
from noregret.study import replay
from noregret.study.errors import FullError, StudyError
from noregret.study.file import StudyFile
from noregret.study.rows import Packed
from noregret.study.units import Units

#: the best choice is noted in the log each time the answers have grown by this factor
_NOTE_GROWTH = 1.1

#: a trial's number, and its value or ``None`` for a failure
Answer = tuple[int, float | None]


class Log:
    """Operations on a study: each is one transaction.

    When one fails, the optimiser in memory may be ahead of the file; it is dropped, and made from
    the file again when it is next needed.

    Parameters
    ----------
    file
        The open file.
    domain, kernel
        What cannot be stored of the optimiser, else ``None``.
    """

    def __init__(self, file: StudyFile, domain: Any, kernel: Any) -> None:
        self.file = file
        self.storage = file.storage
        self.settings = self.storage.settings()
        sign = -1.0 if self.settings["direction"] == "minimize" else 1.0
        self.units = Units(sign, self.settings["prior_mean"])
        self._not_stored = domain, kernel
        self._state: replay.Replayed | None = None
        self._noted_at: int | None = None  # answers there were when the best was last noted

    # -- the optimiser -----------------------------------------------------------------------

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser after the whole log."""
        return self._current().optimizer

    def _current(self) -> replay.Replayed:
        """The state after the whole log: a reader catches up with the writer here."""
        if self._state is None or not self.file.writable:
            with self.file.transaction():
                if self._state is None:
                    self._state = self._restore()
                    self._report_rebuild(self._state)
                else:
                    try:
                        replay.follow(self.storage, self._state, self.units)
                    except replay.DivergedError:  # the writer has changed an answer
                        self._state = self._restore()
        return self._state

    def _restore(self) -> replay.Replayed:
        return replay.restore(self.storage, *self._not_stored, self.units)

    def _report_rebuild(self, state: replay.Replayed) -> None:
        """Warn where the log could not be replayed, and store what was made of it."""
        if state.rebuilt is None:
            return
        warnings.warn(
            f"{self.file.path}: {state.rebuilt}. All answers are there and the optimiser has "
            "been told them anew, but its further questions may differ from an uninterrupted run.",
            RuntimeWarning,
            stacklevel=5,
        )
        if self.file.writable:
            state.operation = self.storage.add_operation("rebuild")
            self.storage.add_event("rebuilt", {"why": state.rebuilt})
            self._put_snapshot(state)

    @contextmanager
    def _change(self) -> Iterator[replay.Replayed]:
        """A transaction that changes the optimiser."""
        if not self.file.writable:
            raise StudyError(f"{self.file.path} has been opened read_only")
        state = self._current()
        try:
            with self.file.transaction():
                yield state
        except BaseException:
            self._state = None
            raise

    # -- operations --------------------------------------------------------------------------

    def ask(self, n: int | None, origin: str) -> list[int]:
        """Numbers of the trials to evaluate next: overdue ones, then new ones."""
        with self._change() as state:
            numbers = self._overdue(n)
            for number in numbers:
                self._reassign(number)
            if n is None or len(numbers) < n:
                wanted = None if n is None else n - len(numbers)
                numbers += self._ask_for_new(state, wanted, origin)
        self._snapshot_if_due()
        return numbers

    def _overdue(self, n: int | None) -> list[int]:
        timeout = self.settings["timeout"]
        if timeout is None:
            return []
        overdue = self.storage.overdue_trials(given_before=time.time() - timeout)
        return [trial.number for trial in overdue[:n]]

    def _ask_for_new(self, state: replay.Replayed, n: int | None, origin: str) -> list[int]:
        best = self._best_to_note(state.optimizer)
        batch = state.optimizer.ask(n)
        info = _about_batch(batch.info, len(batch)) | ({} if best is None else {"best": best})
        state.operation = self.storage.add_operation("ask", n, info)
        state.asks += 1
        choices = state.optimizer.domain.pack(batch.ids, batch.points)
        return self.storage.add_trials(state.operation, choices, origin)

    def reassign(self, number: int) -> None:
        """A pending trial is given to somebody else."""
        with self.file.transaction():
            self._reassign(number)

    def _reassign(self, number: int) -> None:
        self.storage.reassign_trial(number)
        self.storage.add_event("reassigned", {"trial": number})

    def tell(self, answers: Sequence[Answer], reason: str | None) -> None:
        """Answer pending trials, all with values or all failed for a reason."""
        with self._change() as state:
            operation = self.storage.add_operation("tell" if reason is None else "fail")
            for number, value in answers:
                self.storage.end_trial(operation, number, value, reason)
            done = self.storage.trials_done_by(operation)
            choices = replay.choices_of(done, state.optimizer.domain)
            if reason is None:
                rewards = self.units.rewards([trial.value for trial in done])
                state.optimizer.tell(choices, rewards)
                state.answers += len(done)
            else:
                state.optimizer.cancel(choices)
            state.operation = operation
        self._snapshot_if_due()

    def overwrite(self, answers: Sequence[Answer], reason: str | None) -> None:
        """Answer trials, some of which had another answer: a fresh optimiser is told everything."""
        with self._change() as state:
            operation = self.storage.add_operation("rebuild")
            for number, value in sorted(answers):
                self.storage.end_trial(operation, number, value, reason)
                self.storage.add_event("overwritten", {"trial": number, "value": value})
            first = replay.first_optimizer(self.storage, *self._not_stored)
            state.optimizer = replay.rebuild(self.storage, first, self.units, "").optimizer
            state.operation = operation
            # Replay cannot cross this point, so the snapshot belongs to the same transaction.
            self._put_snapshot(state)

    def history(self, choices: list[Packed], values: Floats) -> list[int]:
        """Take in answers that nobody asked for; the numbers of their trials."""
        with self._change() as state:
            operation = self.storage.add_operation("history")
            numbers = self.storage.add_trials(operation, choices, "history", values.tolist())
            unpacked = state.optimizer.domain.unpack(choices)
            state.optimizer.tell(unpacked, self.units.rewards(values), unasked=True)
            state.operation = operation
            state.answers += len(numbers)
        self._snapshot_if_due()
        return numbers

    def add_event(self, kind: str, details: dict[str, Any]) -> None:
        """Note something in the file."""
        with self.file.transaction():
            self.storage.add_event(kind, details)

    # -- snapshots and notes -----------------------------------------------------------------

    def _snapshot_if_due(self) -> None:
        state = self._state
        if state is None or not state.snapshot_due():
            return
        counts = state.asks, state.answers
        try:
            with self.file.transaction():
                self._put_snapshot(state)
        except FullError as error:
            # What was told is on disk without it; the next operation tries again.
            state.asks, state.answers = counts
            warnings.warn(f"no snapshot could be stored: {error}", RuntimeWarning, stacklevel=4)

    def _put_snapshot(self, state: replay.Replayed) -> None:
        data = replay.dump(state.optimizer, candidates=False)
        self.storage.put_snapshot(state.operation, data)
        state.asks = state.answers = 0

    def _best_to_note(self, optimizer: Optimizer) -> dict[str, float] | None:
        """The best choice so far, where the answers have grown enough since the last note."""
        if self._noted_at is None:
            self._noted_at = self.storage.last_best_noted()
        t = optimizer.t
        if t <= self._noted_at or t < _NOTE_GROWTH * self._noted_at:
            return None
        best = self.units.recommendation(optimizer.recommend())
        self._noted_at = t
        names = ("id", "mean", "lower", "upper", "gap")
        return {"t": t} | {name: getattr(best, name) for name in names}


def _about_batch(info: BatchInfo | None, size: int) -> dict[str, Any]:
    if info is None:
        return {"size": size}
    return {
        "size": size,
        "beta": info.beta,
        "ratio": info.ratio,
        "dictionary": info.dictionary_size,
    }
