"""An optimiser from the file: the last good snapshot, then the log after it, step by step."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret._types import Floats, Ints
from noregret.algorithms.base import Optimizer
from noregret.spaces import Box
from noregret.state import load, write
from noregret.study.errors import DamagedError
from noregret.study.sql import Storage
from noregret.study.units import Units

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
        The last operation it has followed.
    asks, answers
        How many came after the last snapshot.
    rebuilt
        Why it could not be replayed and was told all answers anew, else ``None``.
    """

    optimizer: Optimizer
    operation: int
    asks: int = 0
    answers: int = 0
    rebuilt: str | None = None

    def snapshot_due(self) -> bool:
        """By counts in the log, never by the clock: the same run makes the same snapshots."""
        return self.asks >= _ASKS or self.answers >= _ANSWERS


def dump(optimizer: Optimizer, *, candidates: bool) -> bytes:
    """The optimiser as bytes."""
    file = io.BytesIO()
    write(optimizer, file, candidates=candidates)
    return file.getvalue()


def start(storage: Storage, domain: Any, kernel: Any) -> Optimizer:
    """The optimiser as it was when the study was created."""
    data = storage.get_blob("start")
    if data is None:
        raise DamagedError(f"{storage.path} has lost its domain and settings")
    # Fresh: a later version may keep its state otherwise, but it can always start anew.
    return load(io.BytesIO(data), domain=domain, kernel=kernel, fresh=True)


def restore(storage: Storage, domain: Any, kernel: Any, units: Units) -> Replayed:
    """The optimiser of the whole log."""
    first = start(storage, domain, kernel)
    reason = ""
    for number in storage.snapshots():
        data = storage.get_blob(f"snapshot/{number}") or b""
        try:
            state = Replayed(load(io.BytesIO(data), domain=first.domain, kernel=kernel), number)
        except ValueError as error:
            reason = f"snapshot {number} is damaged: {error}"
            continue
        try:
            follow(storage, state, units)
            return state
        except DivergedError as error:
            reason = str(error)
            break
    else:
        try:
            state = Replayed(first, 0)
            follow(storage, state, units)
            return state
        except DivergedError as error:
            reason = reason or str(error)
            first = start(storage, domain, kernel)
    return rebuild(storage, first, units, reason)


def follow(storage: Storage, state: Replayed, units: Units) -> None:
    """Apply every operation after ``state.operation``."""
    log = storage.all(
        "SELECT operation, kind, n FROM operations WHERE operation > ? ORDER BY operation",
        (state.operation,),
    )
    for operation, kind, n in log:
        if kind == "ask":
            batch = state.optimizer.ask(n)
            asked = storage.trials("asked = ?", (operation,))
            if not _same_places(state.optimizer, batch, asked):
                raise DivergedError(
                    f"operation {operation} asks other questions than the log says (another "
                    "version of noregret, NumPy or BLAS?)"
                )
        elif kind in ("tell", "history"):
            done = storage.trials("done = ?", (operation,))
            values = units.rewards([row[4] for row in done])
            arms = where(state.optimizer, done)
            if kind == "tell":
                state.optimizer.tell(arms, values)
            else:
                tell_history(state.optimizer, arms, values)
            state.answers += len(done)
        elif kind == "fail":
            failed = storage.trials("done = ?", (operation,))
            state.optimizer.cancel(where(state.optimizer, failed))
        else:
            raise DivergedError(f"operation {operation} changed answers given before")
        state.asks += kind == "ask"
        state.operation = operation


def rebuild(storage: Storage, first: Optimizer, units: Units, reason: str) -> Replayed:
    """A fresh optimiser, told all answers in the order they came; pending trials stay pending."""
    told = storage.trials("status = 'told'")
    told.sort(key=lambda row: (row[8], row[0]))
    if told:
        values = units.rewards([row[4] for row in told])
        first.tell(where(first, told), values)
    pending = storage.trials("status = 'pending'")
    if pending:
        first._observations.ask(first._rows(where(first, pending)))
    return Replayed(first, storage.last_operation(), rebuilt=reason)


def tell_history(optimizer: Optimizer, arms: Ints | Floats, values: Floats) -> None:
    """Answers nobody had asked for: pending trials of the same arms stay pending."""
    before = optimizer._observations.pending.copy()
    optimizer.tell(arms, values)
    answered = before - optimizer._observations.pending[: len(before)]
    optimizer._observations.ask(np.repeat(np.arange(len(before)), answered))


def where(optimizer: Optimizer, rows: list[tuple[Any, ...]]) -> Ints | Floats:
    """The ids, or points of a box, of rows of trials."""
    if isinstance(optimizer.domain, Box):
        points = [np.frombuffer(row[2], dtype="<f8") for row in rows]
        return np.array(points, dtype=np.float64).reshape(len(rows), optimizer.domain.dimension)
    return np.array([row[1] for row in rows], dtype=np.int64)


def places(optimizer: Optimizer, ids: Any, points: Any) -> list[tuple[int, bytes | None]]:
    """What is stored of each choice: its id, and its point on a box."""
    if isinstance(optimizer.domain, Box):
        return [(-1, np.asarray(point, dtype="<f8").tobytes()) for point in points]
    return [(int(id_), None) for id_ in ids]


def _same_places(optimizer: Optimizer, batch: Any, rows: list[tuple[Any, ...]]) -> bool:
    now = places(optimizer, batch.ids, batch.points)
    return now == [(row[1], row[2]) for row in rows]
