"""The rows of a study's tables, with names."""

from dataclasses import dataclass, fields
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
        Who asked: ``"ask"``, ``"run"``, or ``"history"`` for answers that nobody asked for.
    asked_by, done_by
        Numbers of the operations that asked for it and that ended it.
    asked_at, given_at, done_at
        When it was asked for, last given to somebody, and ended (seconds since 1970).
    times_given
        How often it was given to somebody.
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


#: the columns of a trial, in the order of the fields above
TRIAL_COLUMNS = tuple(field.name for field in fields(Trial))


@dataclass(frozen=True)
class Operation:
    """Something that changed the optimiser.

    Attributes
    ----------
    number
        Counted from 1.
    kind
        ``"ask"``, ``"tell"``, ``"fail"``, ``"history"`` (answers that nobody asked for) or
        ``"rebuild"`` (a fresh optimiser was told all answers).
    n
        The n of an ask.
    time
        When (seconds since 1970).
    info
        What is known of the batch that an ask gave.
    """

    number: int
    kind: str
    n: int | None
    time: float
    info: dict[str, Any] | None


@dataclass(frozen=True)
class Event:
    """Something worth reading later, which changed nothing by itself."""

    time: float
    kind: str
    details: dict[str, Any]


@dataclass(frozen=True)
class Holder:
    """Who holds a lock: a token of its own, and what to tell people about it."""

    token: str
    about: dict[str, Any]
