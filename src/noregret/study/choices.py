"""Which choices trials stand for, and what an optimiser is told of those that failed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret._types import Floats, Ints
from noregret.optimizer import Optimizer
from noregret.results import Trials
from noregret.spaces import Domain
from noregret.study.rows import Trial


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
