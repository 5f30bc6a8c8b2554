"""The rows of a study's tables other than trials: operations, events, and where the log ends."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from noregret.study.trials import Trial


@dataclass(frozen=True)
class Operation:
    """Something that changed the optimiser.

    Attributes
    ----------
    number
        Counted from 1.
    kind
        ``"ask"``, ``"tell"``, ``"fail"``, ``"history"`` (answers that nobody asked for), ``"add"``
        (of candidates), ``"aside"`` (candidates are set aside), ``"retry"`` (candidates are
        asked for again, and their failures stop counting) or ``"rebuild"``. In the last two a
        fresh optimiser was told all answers.
    n
        The n of an ask.
    time
        The time (seconds since 1970).
    info
        What is known of the batch that an ask gave; where answers came from; the ids of an aside
        or a retry.
    """

    number: int
    kind: str
    n: int | None
    time: float
    info: dict[str, Any] | None


@dataclass
class SetAside:
    """Candidates that are set aside because they fail, and those that were brought back.

    Attributes
    ----------
    ids
        Candidates that are set aside.
    retried
        For each candidate that was brought back, the number of the last operation that did so:
        older failures do not count.
    """

    ids: set[int] = field(default_factory=set)
    retried: dict[int, int] = field(default_factory=dict)

    @classmethod
    def by(cls, operations: Sequence[Operation]) -> Self:
        """What these operations, the whole log, say."""
        found = cls()
        for operation in operations:
            if operation.kind in ("aside", "retry"):
                ids = (operation.info or {})["ids"]
                if operation.kind == "aside":
                    found.ids.update(ids)
                else:
                    found.ids.difference_update(ids)
                    found.retried |= dict.fromkeys(ids, operation.number)
        return found

    def counts(self, trial: Trial) -> bool:
        """Whether a failed trial counts against its candidate: only trials of runs do."""
        return trial.origin == "run" and (trial.done_by or 0) > self.retried.get(trial.id, 0)


@dataclass(frozen=True)
class Head:
    """Where the log and the trials end, and how many trials there are of each kind.

    Attributes
    ----------
    operation
        The number of the last operation, 0 before the first.
    chain
        The running checksum over all operations.
    pending, told, failed
        Trials of each status.
    history
        Trials that are answers nobody asked for.
    noted
        How many answers there were when the best choice was last noted with an ask.
    """

    operation: int = 0
    chain: int = 0
    pending: int = 0
    told: int = 0
    failed: int = 0
    history: int = 0
    noted: int = 0

    @property
    def trials(self) -> int:
        """How many trials there are."""
        return self.pending + self.told + self.failed

    def moved(self, before: str | None, after: str, n: int = 1) -> "Head":
        """The head after n trials came to a status, from another one or as new trials."""
        counts = {after: getattr(self, after) + n}
        if before is not None and before != after:
            counts[before] = getattr(self, before) - n
        return replace(self, **counts) if before != after else self


@dataclass(frozen=True)
class Event:
    """Something worth reading later, which did not change the optimiser."""

    time: float
    kind: str
    details: dict[str, Any]
