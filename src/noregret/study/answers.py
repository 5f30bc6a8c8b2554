"""Answers to trials: values and rewards, and which answers are new or changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.results import Recommendation
from noregret.study.errors import StudyError
from noregret.study.reasons import LONGEST_REASON
from noregret.study.trials import Trial, Trials

#: a trial before its answer, and the value, or ``None`` for a failure
Answer = tuple[Trial, float | None]


@dataclass(frozen=True)
class Units:
    """reward = sign · (value − prior mean): optimisers maximise, and expect 0 at first."""

    sign: float
    prior_mean: float

    def rewards(self, values: Any) -> Floats:
        """What the optimiser is told."""
        return self.sign * (np.asarray(values, dtype=np.float64) - self.prior_mean)

    def values(self, rewards: Any) -> Any:
        """What people see: a number or an array."""
        return self.sign * rewards + self.prior_mean

    def recommendation(self, found: Recommendation) -> Recommendation:
        """The recommendation in the user's values; the gap is a difference and stays the same."""
        bounds = sorted((self.values(found.lower), self.values(found.upper)))
        measured = None if found.measured is None else self.values(found.measured)
        mean = self.values(found.mean)
        return replace(found, mean=mean, lower=bounds[0], upper=bounds[1], measured=measured)


def trial_numbers(trials: Trials | Any) -> list[int]:
    """Trial numbers, checked: whole, and all different."""
    numbers = trials.numbers if isinstance(trials, Trials) else trials
    allowed = "trials must be the numbers of trials"
    _checks.refuse_masked_and_sparse(numbers, allowed)
    try:
        array = np.atleast_1d(np.asarray(numbers))
    except ValueError as error:  # rows of several lengths
        raise TypeError(f"{allowed}, got {trials!r:.200}") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{allowed}, got {trials!r:.200}")
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"trials must all be different; {values[counts > 1][0]} comes twice")
    return [int(number) for number in array]


def checked_values(values: Any, n: int, units: Units) -> Floats:
    """n values whose rewards are numbers that the optimiser can work with."""
    checked = _checks.rewards(values, n, "values")
    _checks.rewards(units.rewards(checked), n, "values")
    return checked


def check_answer(values: Any, failed: Any) -> None:
    """Refuse a tell unless it has either values or a reason of failure."""
    if (values is None) == (failed is None):
        raise ValueError("give either values or failed='why'")
    if failed is not None:
        _check_reason(failed)


def _check_reason(reason: Any) -> None:
    """Refuse a reason of failure that is not text that a file can hold."""
    if not isinstance(reason, str):
        raise TypeError(f"failed must say why in words, got {reason!r}")
    if len(reason) > LONGEST_REASON:
        raise ValueError(
            f"failed must say why in at most {LONGEST_REASON} characters, got {len(reason)}"
        )
    try:
        reason.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"failed must be text that can be stored: {error}") from error


def new_and_changed(
    known: Sequence[Trial],
    values: Any,
    failed: str | None,
    units: Units,
    *,
    overwrite: bool,
) -> tuple[list[Answer], list[Answer]]:
    """Answers of pending trials, and answers that differ from older ones.

    Different answers are refused unless ``overwrite``. Answers given before are left out.

    Parameters
    ----------
    known
        The trials that are answered (n).
    values, failed
        Their values (n numbers), or why all of them failed.
    units
        Converts between values and rewards.
    """
    status = "told" if failed is None else "failed"
    answers: list[float | None] = [None] * len(known)
    if failed is None:
        answers = checked_values(values, len(known), units).tolist()
    new: list[Answer] = []
    changed: list[Answer] = []
    for trial, value in zip(known, answers, strict=True):
        if trial.status == "pending":
            new.append((trial, value))
        elif (trial.status, trial.value) != (status, value):
            if not overwrite:
                raise _answered(trial)
            changed.append((trial, value))
    return new, changed


def _answered(trial: Trial) -> StudyError:
    answer = f"told {trial.value!r}" if trial.status == "told" else "reported as failed"
    return StudyError(
        f"trial {trial.number} has been {answer} already; overwrite=True puts the new answer in "
        "its place"
    )
