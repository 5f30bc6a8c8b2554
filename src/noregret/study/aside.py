"""Candidates that are set aside because they fail, and those that were brought back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from noregret.study.rows import Operation, Trial

if TYPE_CHECKING:
    from noregret.study.study import Study


@dataclass
class Standing:
    """What the log says of candidates that fail.

    Attributes
    ----------
    aside
        Candidates that are set aside (ids).
    retried
        For each candidate that was brought back, the number of the last operation that did so:
        older failures do not count.
    """

    aside: set[int] = field(default_factory=set)
    retried: dict[int, int] = field(default_factory=dict)

    def counts(self, trial: Trial) -> bool:
        """Whether a failed trial counts against its candidate: only trials of runs do."""
        return trial.origin == "run" and (trial.done_by or 0) > self.retried.get(trial.id, 0)


def standing(operations: Sequence[Operation]) -> Standing:
    """What these operations, the whole log, say of candidates that fail."""
    found = Standing()
    for operation in operations:
        if operation.kind in ("aside", "retry"):
            ids = (operation.info or {})["ids"]
            if operation.kind == "aside":
                found.aside.update(ids)
            else:
                found.aside.difference_update(ids)
                found.retried |= dict.fromkeys(ids, operation.number)
    return found


def aside_frame(
    study: "Study", operations: Sequence[Operation], failed: Sequence[Trial]
) -> pl.DataFrame:
    """The candidates that are set aside: id, name, how often each failed, the last reason."""
    kept = standing(operations)
    reasons: dict[int, list[str]] = {id_: [] for id_ in sorted(kept.aside)}
    for trial in failed:
        if trial.id in reasons and kept.counts(trial):
            reasons[trial.id].append(trial.reason or "")
    return pl.DataFrame(
        {
            "id": list(reasons),
            "name": [study.name_of(id_, None) for id_ in reasons],
            "failures": [len(why) for why in reasons.values()],
            "reason": [_last_line(why[-1]) if why else None for why in reasons.values()],
        },
        schema={"id": pl.Int64, "name": pl.String, "failures": pl.Int64, "reason": pl.String},
    )


def _last_line(reason: str) -> str:
    lines = reason.strip().splitlines()
    return lines[-1] if lines else ""
