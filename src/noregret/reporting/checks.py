"""Does the model fit the data? Checks that say what to do, and change nothing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._types import Floats, Ints
from noregret.learning.learner import is_heavy
from noregret.learning.leave_one_out import leave_one_out
from noregret.linalg.threads import one_blas_thread
from noregret.reporting.findings import (
    DEVIATIONS,
    FEWEST,
    Finding,
    best_alone,
    constant_columns,
    contradictions,
    equal_values,
    heavy_tails_found,
    lengthscales_at_bounds,
    low_coverage,
    many_decades,
    not_learnt_yet,
    outliers,
    settings_that_fit_better,
)
from noregret.reporting.likelihoods import Arms, gains
from noregret.reporting.slices import subject_of
from noregret.study.frames import coordinate_names

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer
    from noregret.study import Study

#: how many arms the checks look at; of more, a sample with a fixed seed is used
_MOST = 256
#: findings that say why too few values lie in their intervals
_EXPLAIN = ("lengthscale", "noise", "level", "tails")


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """What the checks found; values are in the user's units.

    Attributes
    ----------
    findings
        What does not fit.
    heavy
        Whether outliers are expected. Predictions by least squares, which trust every measurement,
        are not those of the model then.
    predicted, measured
        For some arms, the mean that the model predicts from all other arms, and the mean measured
        (u each). There are none with too few arms, or if outliers are expected.
    deviation
        Standard deviation of the difference by the model, from uncertainty and noise (u).
    coverage
        The share of arms whose measured mean lies within 1.96 deviations; NaN without arms.
    """

    findings: tuple[Finding, ...]
    heavy: bool
    predicted: Floats = field(default_factory=lambda: np.empty(0))
    measured: Floats = field(default_factory=lambda: np.empty(0))
    deviation: Floats = field(default_factory=lambda: np.empty(0))
    coverage: float = math.nan


def check_study(study: "Study") -> ModelCheck:
    """The checks of a study, in its values."""
    columns = [column["name"] for column in subject_of(study).columns]
    return check_model(study.optimizer, study.units.values, study.name_of, columns)


def check_model(
    optimizer: "Optimizer",
    value: Callable[[Any], Any] = lambda reward: reward,
    name: Callable[[int, Any], str] = lambda id_, point: str(id_ if id_ >= 0 else point),
    columns: Sequence[str] | None = None,
) -> ModelCheck:
    """Leave-one-out predictions of an optimiser's model, and what does not fit.

    Parameters
    ----------
    optimizer
        The optimiser, which is only looked at.
    value
        Turns rewards into the user's values.
    name
        Gives the name of a choice from its id and point.
    columns
        Names of the dimensions (d); by default those of the domain.
    """
    names = coordinate_names(optimizer.domain) if columns is None else columns
    tails_found = heavy_tails_found(optimizer)
    heavy = is_heavy(optimizer.noise) or tails_found is not None
    found = [constant_columns(optimizer, names)]
    if not optimizer.t:
        return ModelCheck(_given(found), heavy)
    early = not_learnt_yet(optimizer) or equal_values(optimizer, value)
    if early is not None:
        return ModelCheck(_given([*found, early]), heavy)
    decades = many_decades(optimizer, value)
    with one_blas_thread():
        contradicted = None if heavy else contradictions(optimizer, value, name)
        alone, bound = best_alone(optimizer, value, name), lengthscales_at_bounds(optimizer, names)
        found += [decades, contradicted, alone, bound, tails_found]
        rows, arms = _arms(optimizer)
        if heavy or len(arms.counts) < FEWEST:
            return ModelCheck(_given(found), heavy)
        assumed = optimizer.assumed
        mean, variance = leave_one_out(
            assumed.kernel, assumed.lam, arms.points, arms.counts, arms.means
        )
        deviation = np.sqrt(variance + assumed.noise**2 / arms.counts)
        z = (arms.means - mean) / np.maximum(deviation, 1e-300)
        gained = gains(assumed.kernel, assumed.lam, arms)
        # On a scale of decades the largest values look like outliers.
        tails = None if decades is not None else outliers(optimizer, rows, arms, gained)
        better = settings_that_fit_better(optimizer, gained, value)
        # Outliers look like more noise.
        found += [tails, *(one for one in better if tails is None or one.kind != "noise")]
        explained = any(one.kind in _EXPLAIN for one in _given(found))
        if not isinstance(optimizer.width, str) and not explained:
            found.append(low_coverage(z, optimizer.learnt))
    return ModelCheck(
        _given(found),
        heavy,
        predicted=value(assumed.reward(mean)),
        measured=value(assumed.reward(arms.means)),
        deviation=assumed.deviation(mean, deviation),
        coverage=float(np.mean(np.abs(z) <= DEVIATIONS)),
    )


def _given(findings: Sequence[Finding | None]) -> tuple[Finding, ...]:
    """The findings of the checks that found something."""
    return tuple(one for one in findings if one is not None)


def _arms(optimizer: "Optimizer") -> tuple[Ints, Arms]:
    """The arm of every evaluation (t; −1 if the arm is not looked at), and the arms."""
    history = optimizer.history
    if optimizer.domain.size is not None and (history.ids >= 0).all():
        _, first, rows = np.unique(history.ids, return_index=True, return_inverse=True)
    else:
        points = np.asarray(history.points, dtype=np.float64)
        _, first, rows = np.unique(points, axis=0, return_index=True, return_inverse=True)
    kept = np.arange(len(first))
    if len(first) > _MOST:
        kept = np.sort(np.random.default_rng(0).choice(len(first), _MOST, replace=False))
        place = np.full(len(first), -1)
        place[kept] = np.arange(_MOST)
        rows = place[rows]
    inside = rows >= 0
    y = optimizer.assumed.values(history.rewards[inside])
    counts = np.bincount(rows[inside], minlength=len(kept))
    means = np.bincount(rows[inside], y, minlength=len(kept)) / counts
    scatter = float(np.square(y - means[rows[inside]]).sum())
    return rows, Arms(history.points[first[kept]], counts, means, scatter)
