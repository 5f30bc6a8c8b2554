"""What was measured of the choices that are recommended."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noregret._types import Bools

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer
    from noregret.results import History, Recommendation
    from noregret.study import Study

#: what is shown of a recommended choice before its features
_FIRST = ["id", "name", "mean", "lower", "upper", "evaluations", "measured", "median"]


@dataclass(frozen=True)
class Measured:
    """What was measured of a choice: how often, mean and median (NaN if never)."""

    count: int
    mean: float
    median: float
    deviation: float


def measured(optimizer: "Optimizer", choices: "Sequence[Recommendation]") -> list[Measured]:
    """What was measured of each of these choices, as rewards."""
    history = optimizer.history
    found = []
    for one in choices:
        rewards = history.rewards[_told(optimizer, history, one)]
        if len(rewards):
            spread = float(rewards.std(ddof=1)) if len(rewards) > 1 else math.nan
            mean, median = float(rewards.mean()), float(np.median(rewards))
            found.append(Measured(len(rewards), mean, median, spread))
        else:
            found.append(Measured(0, math.nan, math.nan, math.nan))
    return found


def recommended(study: "Study", k: int) -> pl.DataFrame:
    """The k best choices: what was measured beside what is believed, then their features.

    ``evaluations`` is how often a choice was measured, ``measured`` the mean of the values and
    ``median`` their median. Choices are shown by their names if they have names.
    """
    seen = measured(study.optimizer, study.optimizer.top(k))
    values = study.units.values
    frame = study.top(k).with_columns(
        pl.Series("measured", [values(one.mean) for one in seen]).fill_nan(None),
        pl.Series("median", [values(one.median) for one in seen]).fill_nan(None),
    )
    if study.domain.size is None:
        return frame
    first = [name for name in _FIRST if name in frame.columns]
    return frame.select(*first, *(name for name in frame.columns if name not in first))


def _told(optimizer: "Optimizer", history: "History", one: "Recommendation") -> Bools:
    """For each evaluation whether it was of this choice (t)."""
    if optimizer.domain.size is not None:
        return np.asarray(history.ids == one.id)
    _, points = optimizer.domain.locate([one.point])
    return np.asarray((history.points == points[0]).all(axis=1))
