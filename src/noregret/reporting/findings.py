"""Checks for what does not fit between a model and its data, one function per check."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import bdtrc

from noregret._types import Floats, Ints
from noregret.kernels.logs import names_seen_by, seen_by
from noregret.kernels.parameters import parameters
from noregret.learning.fit import LENGTHSCALE_RANGE
from noregret.learning.leave_one_out import leave_one_out
from noregret.reporting.likelihoods import Arms, Gains
from noregret.reporting.measured import measured

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer

#: fewer arms than this say nothing about a model
FEWEST = 10
#: log likelihood that other settings must gain before they are recommended
_GAIN = 8.0
#: a learnt setting is reported if another one, this many times larger or smaller, fits better
_LEARNT_FACTOR = 4.0
#: half width of the 95 % interval whose coverage is shown, in deviations
DEVIATIONS = 1.96
#: low coverage of 95 % intervals is reported if its probability is below this
_ACCIDENT = 1e-4
#: a measured mean contradicts an interval this many standard errors away
_ERRORS = 3.0
#: how many recommended choices are compared with what was measured
_TOP = 10
#: robust deviations beyond which a residual is an outlier
_OUTLIER = 7.0
#: an outlier must also be beyond this many of the model's deviations
_NOTABLE = 2.5
#: positive values span orders of magnitude if nine tenths of them differ by this factor
_DECADES = 100.0
#: a best value stands alone this many robust deviations from the median of all values, and this
#: many times as far as the next one
_ALONE, _TIMES_NEXT = 15.0, 3.0


@dataclass(frozen=True)
class Finding:
    """Something that does not fit, and what to do.

    Attributes
    ----------
    kind
        ``"early"``, ``"lengthscale"``, ``"noise"``, ``"level"``, ``"coverage"``, ``"tails"``,
        ``"contradiction"``, ``"alone"``, ``"bound"``, ``"constant"``, ``"equal"`` or ``"decades"``.
    text
        Two sentences for people.
    """

    kind: str
    text: str


def not_learnt_yet(optimizer: "Optimizer") -> Finding | None:
    """Reports settings to be learnt for which there are too few answers yet."""
    learner = optimizer.situation(pending=False).beliefs.learner
    if learner is None or learner.fitted or optimizer.t >= learner.design:
        return None
    return Finding(
        "early",
        f"There are too few answers yet to learn {', '.join(optimizer.learnt)}: that takes "
        f"{learner.design}. Until then look at what was measured, not at means and intervals.",
    )


def equal_values(optimizer: "Optimizer", value: Callable[[Any], Any]) -> Finding | None:
    """Reports values that are all the same, from which no setting can be learnt."""
    rewards = optimizer.history.rewards
    if not optimizer.learnt or len(rewards) < 2 or np.ptp(rewards):
        return None
    return Finding(
        "equal",
        f"All {len(rewards)} values so far are {value(float(rewards[0])):.4g}, so the model knows "
        "nothing yet about where better ones are. Go on measuring; if values stay the same, look "
        "at the measurement.",
    )


def many_decades(optimizer: "Optimizer", value: Callable[[Any], Any]) -> Finding | None:
    """Reports positive values over orders of magnitude: the model thinks in differences."""
    values = np.asarray(value(optimizer.history.rewards), dtype=np.float64)
    if not optimizer.learnt or len(values) < FEWEST or values.min() <= 0.0:
        return None
    low, high = np.quantile(values, [0.1, 0.9])
    if high < _DECADES * low:
        return None
    return Finding(
        "decades",
        f"Values span orders of magnitude: a tenth are below {low:.3g}, a tenth above {high:.3g}. "
        "The model compares differences, to which the small values all look alike. Make a new "
        "study of their logarithms (for an IC50, maximise −log10), and tell it what was measured.",
    )


def contradictions(
    optimizer: "Optimizer", value: Callable[[Any], Any], name: Callable[[int, Any], str]
) -> Finding | None:
    """Recommended choices whose measured mean is far outside their interval."""
    assumed, top = optimizer.assumed, optimizer.top(_TOP)
    wrong = []
    for one, seen in zip(top, measured(optimizer, top), strict=True):
        if not seen.count:
            continue
        noise = assumed.noise_near(one.mean)
        spread = noise if math.isnan(seen.deviation) else max(seen.deviation, noise)
        away = max(one.lower - seen.mean, seen.mean - one.upper)
        if away > _ERRORS * spread / math.sqrt(seen.count) + 1e-9 * abs(seen.mean):
            ends = sorted((value(one.lower), value(one.upper)))
            found = f"{value(seen.mean):.4g}"
            if seen.count > 1:
                found = f"mean {found}, median {value(seen.median):.4g}"
            wrong.append(
                f"{name(one.id, one.point)} was measured {_often(seen.count)}, {found}, and the "
                f"model says {value(one.mean):.4g} in [{ends[0]:.4g}, {ends[1]:.4g}]"
            )
    if not wrong:
        return None
    more = f" ({len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
    advice = (
        "Trust the measurements; give a larger --scale or --norm, or let kernel and noise be "
        "learnt (--kernel auto)."
    )
    if "kernel" in optimizer.learnt:
        advice = "One of the two is wrong: measure this choice again."
    return Finding("contradiction", f"{wrong[0]}{more}. {advice}")


def best_alone(
    optimizer: "Optimizer", value: Callable[[Any], Any], name: Callable[[int, Any], str]
) -> Finding | None:
    """A recommended choice whose only value is far better than all others: a hit, or a mistake."""
    (best,) = optimizer.top(1)
    (seen,) = measured(optimizer, [best])
    rewards = np.sort(optimizer.history.rewards)
    if seen.count != 1 or len(rewards) < FEWEST or seen.mean < rewards[-1]:
        return None
    centre = float(np.median(rewards))
    robust = 1.4826 * float(np.median(np.abs(rewards - centre)))
    away, following = seen.mean - centre, float(rewards[-2]) - centre
    if robust <= 0.0 or away <= max(_ALONE * robust, _TIMES_NEXT * following):
        return None
    return Finding(
        "alone",
        f"{name(best.id, best.point)} was measured once, {value(seen.mean):.4g}; the next best "
        f"value is {value(float(rewards[-2])):.4g}. Look for a mistake (a decimal sign, a unit), "
        "or measure it again.",
    )


def _often(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def lengthscales_at_bounds(optimizer: "Optimizer", names: Sequence[str]) -> Finding | None:
    """Learnt lengthscales at the end of the range that a fit allows.

    ``names`` are those of the dimensions (d).
    """
    if "kernel" not in optimizer.learnt or optimizer.domain.dimension is None:
        return None
    kernel, points = optimizer.assumed.kernel, optimizer.history.points
    span = np.ptp(seen_by(kernel, np.asarray(points, dtype=np.float64)), axis=0)
    names = names_seen_by(kernel, names)
    try:
        scales = [one for one in parameters(kernel) if one.kind == "lengthscale"]
    except TypeError:
        return None
    low, high = LENGTHSCALE_RANGE
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


def constant_columns(optimizer: "Optimizer", names: Sequence[str]) -> Finding | None:
    """Features that are the same for every candidate of a list. In a space they are intended.

    ``names`` are those of the dimensions (d).
    """
    domain = optimizer.domain
    bits = domain.nothing.dtype == np.uint8  # packed bits have no names
    if domain.dimension is None or domain.size is None or bits:
        return None
    flat = np.flatnonzero(np.ptp(np.asarray(domain.corners, dtype=np.float64), axis=0) == 0)
    if not len(flat):
        return None
    listed = ", ".join(names[i] for i in flat[:5]) + (" …" if len(flat) > 5 else "")
    return Finding(
        "constant",
        f"{listed} is the same for every candidate and tells nothing apart. Leave it out.",
    )


def outliers(optimizer: "Optimizer", rows: Ints, arms: Arms, found: Gains) -> Finding | None:
    """Evaluations much further from what the other arms say than most.

    The settings that fit best are used, so that wrong settings do not make outliers. ``rows`` (t)
    gives the arm of each evaluation, −1 for arms that are not looked at.
    """
    means = arms.means - found.constant
    mean, variance = leave_one_out(found.kernel, found.lam, arms.points, arms.counts, means)
    once = arms.counts == 1
    alone = (means - mean)[once] / np.sqrt(variance[once] + found.lam)
    # Repeats are compared with each other, whatever the model says of their arm.
    kept = rows >= 0
    counts = arms.counts[rows[kept]]
    away = optimizer.assumed.values(optimizer.history.rewards[kept]) - arms.means[rows[kept]]
    inside = away[counts > 1] / np.sqrt(found.lam * (1.0 - 1.0 / counts[counts > 1]))
    z = np.concatenate([alone, inside])
    centre = float(np.median(z))
    robust = 1.4826 * float(np.median(np.abs(z - centre)))
    if robust <= 0.0 or len(z) < 2 * FEWEST:
        return None
    # Errors far below the noise that is assumed are no outliers, however unequal.
    far = int(np.sum(np.abs(z - centre) > max(_OUTLIER * robust, _NOTABLE)))
    if not far:
        return None
    return Finding(
        "tails",
        f"{far} of {len(z)} measurements lie more than {_OUTLIER:g} robust deviations from what "
        "the others say. Look at them; if they are no mistakes, say that outliers are to be "
        "expected (--noise heavy).",
    )


def heavy_tails_found(optimizer: "Optimizer") -> Finding | None:
    """Outliers that ``noise="auto"`` has found: the mean is a robust one from then on."""
    found = [event for event in optimizer.events if event["event"] == "heavy tails"]
    if not found:
        return None
    return Finding(
        "tails",
        f"Outliers (heavy tails) were found after {found[0]['t']} measurements. Since then a "
        "measurement far from what the others say counts only a little.",
    )


def settings_that_fit_better(
    optimizer: "Optimizer", found: Gains, value: Callable[[Any], Any]
) -> list[Finding]:
    """Other lengthscales, noises or levels that make the evaluations far more likely.

    ``value`` turns rewards into the user's values. A level that is learnt with the kernel gives no
    warning: it is fitted again as more is measured.
    """
    findings = []
    assumed, learnt = optimizer.assumed, optimizer.learnt
    length = found.lengthscale > _GAIN and _far(found.lengthscale_factor, "kernel" in learnt)
    noise = found.noise > _GAIN and _far(found.noise_factor, "noise" in learnt)
    if found.both - max(found.lengthscale, found.noise) <= _GAIN and length and noise:
        # Only the one of the two that explains more is reported.
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
        level = assumed.noise_near(optimizer.recommend().mean)
        findings.append(
            Finding(
                "noise",
                f"The measurements fit a noise of about {found.noise_factor * level:.2g} far "
                f"better than {level:.2g}. {_advice('noise', learnt)}",
            )
        )
    given = not isinstance(optimizer.width, str) and "kernel" not in learnt
    if given and found.level > _GAIN and not findings:
        findings.append(
            Finding(
                "level",
                "The measurements lie further from the expected value, or spread more or less, "
                f"than the kernel says (mean {value(assumed.reward(found.mean)):.3g}, deviations "
                f"{math.sqrt(found.amplitude):.2g} times as large). Give --prior-mean and --scale, "
                "or let them be learnt (--kernel auto).",
            )
        )
    return findings


def _far(factor: float, learnt: bool) -> bool:
    """Whether another setting is worth a warning; learnt settings are fitted again anyway."""
    return max(factor, 1.0 / factor) >= (_LEARNT_FACTOR if learnt else 2.0)


def _times(factor: float) -> str:
    return f"{max(factor, 1.0 / factor):g} times"


def _advice(what: str, learnt: Sequence[str]) -> str:
    if what in learnt:
        return "It is learnt, and fitted again as more is measured."
    option = {"kernel": "--lengthscale, or --kernel auto", "noise": "--noise, or --kernel auto"}
    return f"Make a new study with another one ({option[what]}) and import the measurements."


def low_coverage(z: Floats, learnt: Sequence[str]) -> Finding | None:
    """Too few measured means inside the intervals that the other arms give.

    ``z`` are the differences between measured and predicted means, divided by their deviations (u);
    ``learnt`` are the settings that are learnt.
    """
    outside = int(np.sum(np.abs(z) > DEVIATIONS))
    # The probability that at least this many of u lie outside, each with probability 5 %.
    if bdtrc(outside - 1, len(z), 0.05) >= _ACCIDENT:
        return None
    advice = "Raise --noise, or let kernel and noise be learnt (--kernel auto)."
    if "noise" in learnt:
        advice = "Do not take its intervals at their word; look for features that describe the "
        advice += "candidates better."
    return Finding(
        "coverage",
        f"Only {100 * (1 - outside / len(z)):.0f} % of the measured values lie in the 95 % "
        f"interval that the model gives without them. {advice}",
    )
