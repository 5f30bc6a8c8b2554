"""Does the model fit the data? Checks that say what to do, and change nothing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import bdtrc

from noregret._types import Bools, Floats, Ints
from noregret.kernels.parameters import parameters
from noregret.learning.fit import LENGTHSCALE_RANGE
from noregret.linalg.threads import one_blas_thread
from noregret.reporting.evidence import Arms, Gains, gains, leave_one_out

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer
    from noregret.results import Recommendation
    from noregret.study import Study

#: arms that the checks look at; more are thinned by a fixed draw
_MOST = 256
#: fewer arms than this say nothing about a model
_FEWEST = 10
#: log likelihood that other settings must gain before they are recommended
_GAIN = 8.0
#: how far off a setting that is learnt may be without a word
_LEARNT_FACTOR = 4.0
#: deviations of the interval whose coverage is shown: 95 %
DEVIATIONS = 1.96
#: so few values in their 95 % intervals are no accident below this probability
_ACCIDENT = 1e-4
#: standard errors between a measured mean and an interval that contradict each other
_ERRORS = 3.0
#: robust deviations beyond which a residual is an outlier
_OUTLIER = 7.0
#: … if it is also beyond so many of the model's deviations
_NOTABLE = 2.5


@dataclass(frozen=True)
class Finding:
    """Something that does not fit, and what to do.

    Attributes
    ----------
    kind
        ``"lengthscale"``, ``"noise"``, ``"level"``, ``"coverage"``, ``"tails"``,
        ``"contradiction"``, ``"bound"`` or ``"constant"``.
    text
        Two sentences for people.
    """

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """What the checks found; values are in the user's units.

    Attributes
    ----------
    predicted, measured
        Of some arms the mean that the model gives from all other arms, and the mean measured
        (u each).
    deviation
        Of the difference, by the model: what is not known of the arm, and the noise (u).
    coverage
        The share of arms whose measured mean lies within 1.96 deviations; NaN without arms.
    findings
        What does not fit.
    """

    predicted: Floats
    measured: Floats
    deviation: Floats
    coverage: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Measured:
    """What was measured of a choice: how often, mean and median (NaN where never)."""

    count: int
    mean: float
    median: float
    deviation: float


def check_study(study: "Study") -> ModelCheck:
    """The checks of a study, in its values."""
    return check_model(study.optimizer, study.units.values, study.name_of)


def check_model(
    optimizer: "Optimizer",
    value: Callable[[Any], Any] = lambda reward: reward,
    name: Callable[[int, Any], str] = lambda id_, point: str(id_ if id_ >= 0 else point),
) -> ModelCheck:
    """Leave-one-out predictions of an optimiser's model, and what does not fit.

    Parameters
    ----------
    optimizer
        To look at; nothing of it changes.
    value
        Turns rewards into the user's values.
    name
        What people call a choice: by its id and point.
    """
    constant = constant_columns(optimizer)
    findings = [] if constant is None else [constant]
    nothing = np.empty(0)
    if not optimizer.t:
        return ModelCheck(nothing, nothing, nothing, math.nan, tuple(findings))
    with one_blas_thread():
        findings += contradictions(optimizer, value, name)
        bound = lengthscales_at_bounds(optimizer)
        findings += [] if bound is None else [bound]
        rows, arms = _arms(optimizer)
        if len(arms.counts) < _FEWEST:
            return ModelCheck(nothing, nothing, nothing, math.nan, tuple(findings))
        assumed = optimizer.assumed
        mean, variance = leave_one_out(assumed.kernel, assumed.lam, arms)
        deviation = np.sqrt(variance + assumed.noise**2 / arms.counts)
        z = (arms.means - mean) / np.maximum(deviation, 1e-300)
        covered = float(np.mean(np.abs(z) <= DEVIATIONS))
        found = gains(assumed.kernel, assumed.lam, arms)
        tails = outliers(optimizer, rows, arms, found)
        findings += [] if tails is None else [tails]
        better = settings_that_fit_better(optimizer, found)
        # Outliers look like more noise.
        findings += [one for one in better if tails is None or one.kind != "noise"]
        numeric = not isinstance(optimizer.width, str)
        explained = any(one.kind in _EXPLAIN for one in findings)
        outside = int(np.sum(np.abs(z) > DEVIATIONS))
        # At least so many of u outside, each with probability 5 %.
        if numeric and not explained and bdtrc(outside - 1, len(z), 0.05) < _ACCIDENT:
            findings.append(_too_sure(covered))
    unit = assumed.unit
    return ModelCheck(
        predicted=value(assumed.reward(mean)),
        measured=value(assumed.reward(arms.means)),
        deviation=unit * deviation,
        coverage=covered,
        findings=tuple(findings),
    )


#: findings that say why too few values lie in their intervals
_EXPLAIN = ("lengthscale", "noise", "level", "tails")


def _too_sure(covered: float) -> Finding:
    return Finding(
        "coverage",
        f"Only {100 * covered:.0f} % of the measured values lie in the 95 % interval that the "
        "model gives without them. Raise --noise, or let kernel and noise be learnt "
        "(--kernel auto).",
    )


def measured(optimizer: "Optimizer", choices: "Sequence[Recommendation]") -> list[Measured]:
    """What was measured of each of these choices, as rewards."""
    history = optimizer.history
    found = []
    for one in choices:
        rewards = history.rewards[_told(optimizer, one)]
        if len(rewards):
            spread = float(rewards.std(ddof=1)) if len(rewards) > 1 else math.nan
            mean, median = float(rewards.mean()), float(np.median(rewards))
            found.append(Measured(len(rewards), mean, median, spread))
        else:
            found.append(Measured(0, math.nan, math.nan, math.nan))
    return found


def recommended(study: "Study", k: int) -> pl.DataFrame:
    """The k best choices: what was measured beside what is believed, then their features.

    ``evaluations`` is how often, ``measured`` and ``median`` what came out. Choices that have names
    go by them.
    """
    seen = measured(study.optimizer, study.optimizer.top(k))
    values = study.units.values
    frame = study.top(k).with_columns(
        pl.Series("measured", [values(one.mean) for one in seen]).fill_nan(None),
        pl.Series("median", [values(one.median) for one in seen]).fill_nan(None),
    )
    if not study.domain.listed:
        return frame
    first = [name for name in _FIRST if name in frame.columns]
    return frame.select(*first, *(name for name in frame.columns if name not in first))


#: what is shown of a recommended choice before its features
_FIRST = ["id", "name", "mean", "lower", "upper", "evaluations", "measured", "median"]


def _told(optimizer: "Optimizer", one: "Recommendation") -> Bools:
    """Which evaluations were of this choice (t)."""
    history = optimizer.history
    if optimizer.domain.listed:
        return np.asarray(history.ids == one.id)
    _, points = optimizer.domain.locate([one.point])
    return np.asarray((history.points == points[0]).all(axis=1))


def contradictions(
    optimizer: "Optimizer",
    value: Callable[[Any], Any],
    name: Callable[[int, Any], str],
    k: int = 10,
) -> list[Finding]:
    """Recommended choices whose measured mean is far outside their interval."""
    noise = optimizer.assumed.noise * optimizer.assumed.unit
    top = optimizer.top(k)
    wrong = []
    for one, seen in zip(top, measured(optimizer, top), strict=True):
        if not seen.count:
            continue
        spread = noise if math.isnan(seen.deviation) else max(seen.deviation, noise)
        away = max(one.lower - seen.mean, seen.mean - one.upper)
        if away > _ERRORS * spread / math.sqrt(seen.count) + 1e-9 * abs(seen.mean):
            ends = sorted((value(one.lower), value(one.upper)))
            wrong.append(
                f"{name(one.id, one.point)} was measured {_often(seen.count)}, mean "
                f"{value(seen.mean):.4g}, median {value(seen.median):.4g}, and the model says "
                f"{value(one.mean):.4g} in [{ends[0]:.4g}, {ends[1]:.4g}]"
            )
    if not wrong:
        return []
    more = f" ({len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
    return [
        Finding(
            "contradiction",
            f"{wrong[0]}{more}. Trust the measurements; give a larger --scale or --norm, or let "
            "kernel and noise be learnt (--kernel auto).",
        )
    ]


def _often(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def lengthscales_at_bounds(optimizer: "Optimizer") -> Finding | None:
    """Learnt lengthscales that a fit would have moved further if it could."""
    if "kernel" not in optimizer.learnt or optimizer.domain.dimension is None:
        return None
    points = optimizer.history.points
    span = np.ptp(np.asarray(points, dtype=np.float64), axis=0)
    try:
        scales = [one for one in parameters(optimizer.assumed.kernel) if one.kind == "lengthscale"]
    except TypeError:
        return None
    low, high = LENGTHSCALE_RANGE
    names = _dimension_names(optimizer)
    short, long = [], []
    for one in scales:
        side = float(np.exp(np.log(span[span > 0]).mean())) if one.axis is None else span[one.axis]
        label = "all features" if one.axis is None else names[one.axis]
        if side > 0 and math.exp(one.log) <= 1.5 * low * side:
            short.append(label)
        elif side > 0 and math.exp(one.log) >= high * side / 1.5:
            long.append(label)
    if short:
        return Finding(
            "bound",
            f"The lengthscale of {', '.join(short)} is as short as a fit allows: neighbours say "
            "nothing about each other. Look for features that describe the candidates better.",
        )
    if long and len(long) == len(scales):
        return Finding(
            "bound",
            "All lengthscales are as long as a fit allows: the model sees no difference between "
            "candidates. Look for features that describe them better, or for measurements with "
            "less noise.",
        )
    return None


def constant_columns(optimizer: "Optimizer") -> Finding | None:
    """Features that are the same for every choice."""
    domain = optimizer.domain
    if domain.dimension is None:
        return None
    flat = np.flatnonzero(np.ptp(np.asarray(domain.corners, dtype=np.float64), axis=0) == 0)
    if not len(flat):
        return None
    names = _dimension_names(optimizer)
    listed = ", ".join(names[i] for i in flat[:5]) + (" …" if len(flat) > 5 else "")
    return Finding(
        "constant",
        f"{listed} is the same for every candidate and tells nothing apart. Leave it out.",
    )


def _dimension_names(optimizer: "Optimizer") -> list[str]:
    d = optimizer.domain.dimension or 0
    return list(optimizer.domain.names or [f"x{i}" for i in range(d)])


def outliers(optimizer: "Optimizer", rows: Ints, arms: Arms, found: Gains) -> Finding | None:
    """Evaluations much further from what the other arms say than most.

    With the settings that fit best, so that wrong ones do not look like outliers. ``rows`` (t) says
    for each evaluation its arm, −1 for arms that are not looked at.
    """
    others = replace(arms, means=arms.means - found.constant)
    mean, variance = leave_one_out(found.kernel, found.lam, others)
    once = arms.counts == 1
    alone = (others.means - mean)[once] / np.sqrt(variance[once] + found.lam)
    # Repeats are compared with each other: what the model says of their arm is another question.
    kept = rows >= 0
    counts = arms.counts[rows[kept]]
    away = optimizer.assumed.seen(optimizer.history.rewards[kept]) - arms.means[rows[kept]]
    inside = away[counts > 1] / np.sqrt(found.lam * (1.0 - 1.0 / counts[counts > 1]))
    z = np.concatenate([alone, inside])
    centre = float(np.median(z))
    robust = 1.4826 * float(np.median(np.abs(z - centre)))
    if robust <= 0.0 or len(z) < 2 * _FEWEST:
        return None
    # Errors far below the noise that is assumed are no outliers, however unequal.
    far = int(np.sum(np.abs(z - centre) > max(_OUTLIER * robust, _NOTABLE)))
    if not far:
        return None
    return Finding(
        "tails",
        f"{far} of {len(z)} measurements lie more than {_OUTLIER:g} robust deviations from what "
        "the others say. Look at them; if they are no mistakes, use an algorithm for heavy tails "
        "(--algorithm hubergpucb).",
    )


def settings_that_fit_better(optimizer: "Optimizer", found: Gains) -> list[Finding]:
    """Other lengthscales, noises or levels that make the evaluations far more likely."""
    findings = []
    assumed, learnt = optimizer.assumed, optimizer.learnt
    length = found.lengthscale > _GAIN and _far(found.lengthscale_factor, "kernel" in learnt)
    noise = found.noise > _GAIN and _far(found.noise_factor, "noise" in learnt)
    if found.both - max(found.lengthscale, found.noise) <= _GAIN and length and noise:
        # One of the two explains it: the one that explains more.
        length, noise = found.lengthscale >= found.noise, found.noise > found.lengthscale
    if length:
        way = "shorter" if found.lengthscale_factor < 1 else "longer"
        findings.append(
            Finding(
                "lengthscale",
                f"The measurements fit a lengthscale about {_times(found.lengthscale_factor)} "
                f"{way} far better. {_advice('kernel', learnt)}",
            )
        )
    if noise:
        level = assumed.noise * assumed.unit
        findings.append(
            Finding(
                "noise",
                f"The measurements fit a noise of about {found.noise_factor * level:.2g} far "
                f"better than {level:.2g}. {_advice('noise', learnt)}",
            )
        )
    if not isinstance(optimizer.width, str) and found.level > _GAIN and not findings:
        findings.append(
            Finding(
                "level",
                "The measurements lie further from the expected value, or spread more or less, "
                f"than the kernel says (mean {assumed.reward(found.mean):.3g}, deviations "
                f"{math.sqrt(found.amplitude):.2g} times as large). Give --prior-mean and --scale, "
                "or let them be learnt (--kernel auto).",
            )
        )
    return findings


def _far(factor: float, learnt: bool) -> bool:
    """Whether another setting is worth a warning: one that is learnt is fitted again anyhow."""
    return max(factor, 1.0 / factor) >= (_LEARNT_FACTOR if learnt else 2.0)


def _times(factor: float) -> str:
    return f"{max(factor, 1.0 / factor):g} times"


def _advice(what: str, learnt: Sequence[str]) -> str:
    if what in learnt:
        return "It is learnt, and fitted again as more is measured."
    option = {"kernel": "--lengthscale, or --kernel auto", "noise": "--noise, or --kernel auto"}
    return f"Make the study anew with another one ({option[what]}) and import the measurements."


def _arms(optimizer: "Optimizer") -> tuple[Ints, Arms]:
    """Of every evaluation its arm (t; −1 where it is not looked at), and the arms."""
    history = optimizer.history
    if optimizer.domain.listed and (history.ids >= 0).all():
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
    y = optimizer.assumed.seen(history.rewards[inside])
    counts = np.bincount(rows[inside], minlength=len(kept))
    means = np.bincount(rows[inside], y, minlength=len(kept)) / counts
    scatter = float(np.square(y - means[rows[inside]]).sum())
    return rows, Arms(history.points[first[kept]], counts, means, scatter)
