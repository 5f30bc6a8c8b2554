"""The rows of a study's tables, with names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

#: what a file stores of a choice: its id, and its point on a box; see ``pack`` of the spaces
Packed = tuple[int, bytes | None]


@dataclass(frozen=True)
class Trial:
    """A choice to evaluate, or evaluated.

    Attributes
    ----------
    number
        Counted from 0 in the order asked.
    id, point
        The choice as :data:`Packed`.
    status
        ``"pending"``, ``"told"`` or ``"failed"``.
    value, reason
        What was told, or why the trial failed.
    origin
        What asked: ``"ask"``, ``"run"``, or ``"history"`` for answers that nobody asked for.
    asked_by, done_by
        Numbers of the operations that asked for it and that ended it.
    asked_at, given_at, done_at
        When it was asked for, last given to a worker, and ended (seconds since 1970).
    times_given
        How often it was given to a worker.
    """

    number: int
    id: int
    point: bytes | None
    status: str
    value: float | None
    reason: str | None
    origin: str
    asked_by: int
    done_by: int | None
    asked_at: float
    given_at: float
    times_given: int
    done_at: float | None

    @property
    def packed(self) -> Packed:
        """The choice, for ``unpack`` of the space."""
        return self.id, self.point

    @property
    def row(self) -> tuple[Any, ...]:
        """The fields of the trial in the order of the columns."""
        return _row(self)


#: the columns of a trial, in the order of the fields above
TRIAL_COLUMNS = tuple(field.name for field in fields(Trial))
_row = attrgetter(*TRIAL_COLUMNS)


def new_trials(
    first: int,
    choices: Iterable[Packed],
    values: Sequence[float] | None,
    origin: str,
    operation: int,
    now: float,
) -> list[Trial]:
    """Trials of these choices, numbered from ``first``: told if values are given."""
    told = values is not None
    return [
        Trial(
            number=first + i,
            id=id_,
            point=point,
            status="told" if told else "pending",
            value=None if values is None else values[i],
            reason=None,
            origin=origin,
            asked_by=operation,
            done_by=operation if told else None,
            asked_at=now,
            given_at=now,
            times_given=1,
            done_at=now if told else None,
        )
        for i, (id_, point) in enumerate(choices)
    ]


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
        What is known of the batch that an ask gave; the ids of an aside or a retry.
    """

    number: int
    kind: str
    n: int | None
    time: float
    info: dict[str, Any] | None


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


@dataclass(frozen=True)
class Holder:
    """The process that holds a lock: a token of its own, and a description for people."""

    token: str
    about: dict[str, Any]
