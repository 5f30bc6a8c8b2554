"""Evaluations that gave no value: a bad reward may be told to the model in their place."""

import numpy as np

from noregret._types import Floats, Ints
from noregret.running.run import Run

#: if this many similar choices have all failed, a choice fails because of where it lies
_SIMILAR = 3


def fail(run: Run, rows: Ints, *, may_invent: bool) -> None:
    """Pending rows gave no value; if similar choices fail, a bad reward may be invented."""
    seen, learner = run.observations, run.beliefs.learner
    seen.check_pending(rows)
    for row in rows.tolist():
        before = seen.t
        invented = may_invent and before > 0 and _fails_nearby(run, row)
        reward = _bad_reward(seen.rewards) if invented else None
        seen.fail(row, reward)
        if reward is not None and learner is not None:
            learner.told(before, np.array([row]))


def _fails_nearby(run: Run, row: int) -> bool:
    """Whether this arm mostly fails, or the most similar ones evaluated all do."""
    seen, kernel = run.observations, run.beliefs.assumed.kernel
    failed = seen.failing()
    if row in failed:
        return True
    rows = np.union1d(np.flatnonzero(seen.told), failed)
    likeness = kernel(seen.points[[row]], seen.points[rows])[0]
    order = np.argsort(-likeness / np.sqrt(kernel.diag(seen.points[rows])), kind="stable")
    return bool(np.isin(rows[order[:_SIMILAR]], failed).all())


def _bad_reward(rewards: Floats) -> float | None:
    """The lowest reward that is no outlier: the lower whisker of a box plot.

    Equal rewards count once, else the one that most have could be the whisker. ``None`` if all are
    equal: none of them is bad.
    """
    different = np.unique(rewards)
    if len(different) == 1:
        return None
    low, high = np.quantile(different, [0.25, 0.75])
    return float(max(different[0], low - 1.5 * (high - low)))
