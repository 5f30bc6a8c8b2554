"""Trials: what is kept of each, and the choices they stand for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.optimizer import Optimizer
from noregret.spaces import Domain
from noregret.study.reasons import in_one_line

#: what a file stores of a choice: its id, and its point on a box; see ``pack`` of the spaces
Packed = tuple[int, bytes | None]


@dataclass(frozen=True)
class Trials:
    """Trials handed out: tell them by number, in any order, in parts, late.

    Attributes
    ----------
    numbers
        n trial numbers, counted from 0 in the order asked.
    ids
        n row numbers in the list of candidates (−1 on a box).
    points
        n × d, as the model sees them, or n objects.
    values
        What a function of one choice gets (n), see :class:`~noregret.Batch`.
    names
        What the candidates are called, if names were given.
    """

    numbers: Ints
    ids: Ints
    points: Points
    values: list[Any]
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(int(number) for number in self.numbers)

    def __getitem__(self, which: Any) -> "Trials":
        """The trials at these positions."""
        chosen = np.atleast_1d(np.arange(len(self))[which])
        names = None if self.names is None else tuple(self.names[i] for i in chosen)
        values = [self.values[i] for i in chosen]
        return Trials(self.numbers[chosen], self.ids[chosen], self.points[chosen], values, names)


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
    def short_reason(self) -> str:
        """The line of the reason that names the error; empty if there is no reason."""
        return in_one_line(self.reason)

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


def choices_of(trials: Sequence[Trial], domain: Domain) -> Ints | Floats:
    """The ids (n), or the points of a box (n × d), of these trials."""
    return domain.unpack([trial.packed for trial in trials])


def trials_of(found: Sequence[Trial], domain: Domain, names: Any = None) -> Trials:
    """Trials as they are handed out; ``names`` (a series) says what the candidates are called."""
    ids, points = domain.locate(choices_of(found, domain))
    called = None if names is None else tuple(names.gather(ids.tolist()))
    numbers = np.array([trial.number for trial in found], dtype=np.int64)
    return Trials(numbers, ids, points, domain.labels(ids, points), called)


def end_failed(optimizer: Optimizer, failed: Sequence[Trial]) -> None:
    """Let an optimiser know of pending trials that failed.

    If the function of a run failed, it will probably fail again nearby: the optimiser looks
    elsewhere. A failure that a person reports counts as an accident, which says nothing about the
    choice.
    """
    for trial in failed:
        choice = choices_of([trial], optimizer.domain)
        if trial.origin == "run":
            optimizer.fail(choice)
        else:
            optimizer.cancel(choice)
