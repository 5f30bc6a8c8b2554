"""What a study's file holds, to be read."""

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from noregret.spaces import Domain
from noregret.study.errors import StudyError
from noregret.study.frames import trials_frame
from noregret.study.storage.file import StudyFile, one_at_a_time
from noregret.study.storage.rows import Operation
from noregret.study.trials import Packed, Trial

#: kinds of operations that answer trials
_ANSWERS = ("tell", "fail", "history", "rebuild")


class Records:
    """Trials, operations and events as a study's file holds them.

    Parameters
    ----------
    file
        The file.

    Attributes
    ----------
    mutex
        Held by the thread that uses the file.
    """

    def __init__(self, file: StudyFile) -> None:
        self._file, self._storage, self.mutex = file, file.storage, file.mutex

    @one_at_a_time
    def rows(self) -> list[Trial]:
        """Every trial as it is stored."""
        with self._file.transaction():
            return list(self._storage.trials())

    @one_at_a_time
    def trials(self, domain: Domain, names: pl.Series | None) -> pl.DataFrame:
        """Every trial of a study with this domain, whose candidates have these names."""
        box = domain if domain.size is None else None
        with self._file.transaction():
            chunks = [trials_frame(part, box, names) for part in self._storage.trial_chunks()]
        return pl.concat(chunks) if chunks else trials_frame([], box, names)

    @one_at_a_time
    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without an answer, all or those of one origin."""
        pending = self._storage.pending_trials()
        return [trial.number for trial in pending if origin in (None, trial.origin)]

    @one_at_a_time
    def failures(self) -> tuple[list[Operation], list[Trial]]:
        """All operations, and the trials that failed, read at once."""
        with self._file.transaction():
            return self._storage.operations(), self._storage.failed_trials()

    @one_at_a_time
    def find(self, numbers: Sequence[int]) -> list[Trial]:
        """The trials of these numbers, in this order; unknown numbers are refused."""
        found = self._storage.find_trials(numbers)
        if len(found) < len(numbers):
            missing = next(iter(set(numbers) - {trial.number for trial in found}))
            raise StudyError(f"trials must have been asked for; there is no trial {missing}")
        return found

    @one_at_a_time
    def noted(self, event: str) -> list[dict[str, Any]]:
        """The details of all events of this kind, see :meth:`noregret.Study.note`."""
        return [one.details for one in self._storage.events() if one.kind == event]

    @one_at_a_time
    def sources(self) -> dict[int, dict[str, Any]]:
        """Where answers came from, as far as it was said, by the number of the operation."""
        found = self._storage.operations()
        return {one.number: one.info for one in found if one.kind in _ANSWERS and one.info}

    @one_at_a_time
    def told_by(self, operations: Collection[int]) -> list[tuple[Packed, float | None]]:
        """What these operations told: choices, as the file holds them, and values.

        The value of a failure is ``None``. Answers that were overwritten since are there as they
        were told.
        """
        if not operations:
            return []
        found = []
        with self._file.transaction():
            for operation in operations:
                told = self._storage.trials_done_by(operation)
                found += [(trial.packed, trial.value) for trial in told]
            changes = [one.details for one in self._storage.events() if one.kind == "overwritten"]
            changes = [one for one in changes if one.get("told_by") in operations]
            trials = self._storage.find_trials([one["trial"] for one in changes])
        packed = [trial.packed for trial in trials]
        return found + list(zip(packed, (one["before"] for one in changes), strict=True))

    @one_at_a_time
    def trial(self, number: int) -> Trial | None:
        """The trial of this number, if there is one."""
        found = self._storage.find_trials([number])
        return found[0] if found else None

    @one_at_a_time
    def failed(self) -> list[Trial]:
        """The trials that failed, in the order in which they did."""
        return self._storage.failed_trials() if self._storage.head().failed else []

    @one_at_a_time
    def last_batch(self) -> dict[str, Any] | None:
        """Size, width, ratio and dictionary of the last new batch."""
        operation = self._storage.last_ask()
        return None if operation is None else operation.info

    @one_at_a_time
    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""
        head = self._storage.head()
        return {
            "pending": head.pending,
            "told": head.told,
            "failed": head.failed,
            "history": head.history,
        }
