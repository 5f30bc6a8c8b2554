"""When is enough enough? A gap, a target or patience."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noregret import _checks

if TYPE_CHECKING:
    from noregret.study import Study


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """When a run has found enough; whichever comes first.

    Attributes
    ----------
    gap
        No other candidate can be better than the best by more than this. Where the study looks for
        the k best: no candidate outside of them can be better than the k-th by more.
    target
        The best choice's guaranteed value is at least this (at most, for a study that minimises).
    patience
        So many answers in a row brought no better value.
    """

    gap: float | None = None
    target: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.gap is not None:
            _checks.not_negative("stop_gap", self.gap)
        if self.target is not None:
            _checks.finite("target", self.target)
        if self.patience is not None:
            _checks.count("patience", self.patience)

    def reached(self, study: "Study") -> str | None:
        """Which of the rules says that it is enough: ``"gap"``, ``"target"``, ``"patience"``."""
        if not study.counts()["told"]:
            return None
        if self.patience is not None and without_progress(study) >= self.patience:
            return "patience"
        if self.target is not None:
            best, minimize = study.best(), study.settings["direction"] == "minimize"
            if best.upper <= self.target if minimize else best.lower >= self.target:
                return "target"
        if self.gap is not None and gap_of(study) <= self.gap:
            return "gap"
        return None


def gap_of(study: "Study") -> float:
    """How much better than what is recommended another choice can be."""
    optimizer = study.optimizer
    return optimizer.recommend().gap if optimizer.aim == 1 else optimizer.top_gap()


def without_progress(study: "Study") -> int:
    """How many answers came after the best value measured."""
    rewards = study.optimizer.history.rewards
    return len(rewards) - 1 - int(np.argmax(rewards)) if len(rewards) else 0


def in_words(study: "Study", rule: StopRule) -> str:
    """Where a study stands, and whether that is enough."""
    optimizer, size = study.optimizer, study.size
    if optimizer.exhausted:
        open_ = study.counts()["pending"]
        waiting = f"; {open_} answers are still to come" if open_ else ""
        return f"every candidate has been asked for as often as it may be{waiting}"
    if not study.counts()["told"]:
        return "no answers yet"
    reason = rule.reached(study)
    parts = [f"enough by its {reason}"] if reason else []
    parts.append(
        f"gap {gap_of(study):.4g}" + (" (proved)" if optimizer.proved else " (not proved)")
    )
    alive = optimizer.alive
    if alive is not None:
        parts.append(f"{alive:,} of {size:,} can still be the best")
    parts.append(f"{without_progress(study):,} answers since the best value")
    return "; ".join(parts)
