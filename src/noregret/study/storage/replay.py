"""The optimiser from the file: from the last good snapshot, along the log after it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from noregret import load
from noregret.algorithms import Optimizer
from noregret.running import state
from noregret.spaces import Domain
from noregret.study.answers import Units
from noregret.study.errors import DamagedError
from noregret.study.storage.added_candidates import (
    additions,
    domain_after,
    get_addition,
    with_additions,
)
from noregret.study.storage.rows import Operation, SetAside
from noregret.study.storage.storage import Storage
from noregret.study.trials import Trial, choices_of, end_failed

#: a snapshot is taken once this many asks, or this many answers, came after the last one
_ASKS, _ANSWERS = 200, 5000


class DivergedError(Exception):
    """The log and this optimiser do not agree, or the log cannot be replayed."""


@dataclass
class Replayed:
    """An optimiser that has followed the log.

    Attributes
    ----------
    optimizer
        As it was after ``operation``.
    operation
        The number of the last operation it has followed.
    asks, answers
        How many of each came after the last snapshot.
    rebuilt
        Why the log could not be replayed, so that it was told all answers again; else ``None``.
    """

    optimizer: Optimizer
    operation: int
    asks: int = 0
    answers: int = 0
    rebuilt: str | None = None

    def snapshot_due(self) -> bool:
        """Whether a snapshot is due: by counts, not by time, so that runs are repeatable."""
        return self.asks >= _ASKS or self.answers >= _ANSWERS


def dump(optimizer: Optimizer, *, candidates: bool) -> bytes:
    """The optimiser as bytes, with or without its list of candidates."""
    file = io.BytesIO()
    optimizer.save(file, candidates=candidates)
    return file.getvalue()


def stored_domain(storage: Storage, given: Any) -> Domain:
    """What may be chosen now; ``given`` if it cannot be stored."""
    return with_additions(storage, state.read(io.BytesIO(_start(storage))).domain(given))


def first_optimizer(storage: Storage, domain: Domain, kernel: Any) -> Optimizer:
    """The optimiser as it was when the study was created; ``domain`` is what may be chosen now."""
    # A fresh one: a later version may have another state, but it can always start again.
    first = domain_after(storage, domain, 0)
    return load(io.BytesIO(_start(storage)), domain=first, kernel=kernel, fresh=True)


def _start(storage: Storage) -> bytes:
    data = storage.get_blob("start")
    if data is None:
        raise DamagedError("the study has lost its domain and settings")
    return data


def restore(storage: Storage, domain: Domain, kernel: Any, units: Units) -> Replayed:
    """The optimiser after the whole log.

    Parameters
    ----------
    storage
        The study's file.
    domain
        What may be chosen.
    kernel
        The kernel if it cannot be stored, else ``None``.
    units
        The units of the study's values.
    """
    reason = ""
    for number in storage.snapshots():
        try:
            data = io.BytesIO(storage.get_snapshot(number))
            then = domain_after(storage, domain, number)
            found = Replayed(load(data, domain=then, kernel=kernel), number)
        except ValueError as error:
            reason = f"snapshot {number} is damaged: {error}"
            continue
        try:
            follow(storage, found, units)
            return found
        except DivergedError as error:
            reason = str(error)
            break
    else:
        try:
            found = Replayed(first_optimizer(storage, domain, kernel), 0)
            follow(storage, found, units)
            return found
        except DivergedError as error:
            reason = reason or str(error)
    return rebuild(storage, first_optimizer(storage, domain, kernel), units, reason)


def follow(storage: Storage, followed: Replayed, units: Units) -> None:
    """Apply every operation after ``followed.operation``."""
    for operation in storage.operations(after=followed.operation):
        _apply(storage, followed, units, operation)
        followed.operation = operation.number


def _apply(storage: Storage, followed: Replayed, units: Units, operation: Operation) -> None:
    optimizer = followed.optimizer
    if operation.kind == "ask":
        batch = optimizer.ask(operation.n, fill=bool((operation.info or {}).get("fill")))
        asked = storage.trials_asked_by(operation.number)
        if optimizer.domain.pack(batch.ids, batch.points) != [trial.packed for trial in asked]:
            raise DivergedError(
                f"operation {operation.number} asks other questions than the log says (another "
                "version of noregret, NumPy or BLAS?)"
            )
        followed.asks += 1
    elif operation.kind in ("tell", "history"):
        done = storage.trials_done_by(operation.number)
        rewards = units.rewards([trial.value for trial in done])
        choices = choices_of(done, optimizer.domain)
        optimizer.tell(choices, rewards, unasked=operation.kind == "history")
        followed.answers += len(done)
    elif operation.kind == "fail":
        end_failed(optimizer, storage.trials_done_by(operation.number))
    elif operation.kind == "add":
        optimizer.add_candidates(get_addition(storage, operation.number))
    elif operation.kind == "aside":
        optimizer.set_aside((operation.info or {})["ids"])
    else:
        raise DivergedError(f"operation {operation.number} changed answers given before")


def rebuild(storage: Storage, first: Optimizer, units: Units, reason: str | None) -> Replayed:
    """A fresh optimiser, told all answers in the order they came; pending trials stay pending.

    The log says which trials were uniform draws, which fits can use.
    """
    told = [trial for trial in storage.trials() if trial.status == "told"]
    told.sort(key=lambda trial: (trial.done_by, trial.number))
    pending, operations = storage.pending_trials(), storage.operations()
    aside, drawn = SetAside.by(operations), _draws(operations)
    failed = [trial for trial in storage.failed_trials() if aside.counts(trial)]
    for operation, _ in additions(storage):
        first.add_candidates(get_addition(storage, operation))
    if told:
        _expect(first, [trial for trial in told if trial.asked_by in drawn], uniform=True)
        rewards = units.rewards([trial.value for trial in told])
        first.tell(choices_of(told, first.domain), rewards)
    if failed:
        first.expect(choices_of(failed, first.domain))
        end_failed(first, failed)
    for uniform in (False, True):
        some = [trial for trial in pending if (trial.asked_by in drawn) == uniform]
        _expect(first, some, uniform=uniform)
    if aside.ids:
        first.set_aside(sorted(aside.ids))
    return Replayed(first, storage.head().operation, rebuilt=reason)


def _draws(operations: Sequence[Operation]) -> set[int]:
    """The numbers of the asks that were uniform draws."""
    asks = ((one.number, one.info or {}) for one in operations if one.kind == "ask")
    return {number for number, info in asks if info.get("uniform") or info.get("spread")}


def _expect(optimizer: Optimizer, trials: Sequence[Trial], *, uniform: bool) -> None:
    if trials:
        optimizer.expect(choices_of(trials, optimizer.domain), uniform=uniform)
