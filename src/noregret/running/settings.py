"""Settings of an optimiser: those that it cannot have are refused."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import _checks
from noregret.learning.learner import is_auto, is_heavy
from noregret.parts import Parts
from noregret.picking.chooser import Chooser
from noregret.rewards.huber import HuberRegression
from noregret.rewards.least_squares import LeastSquares
from noregret.rewards.winsorised import Winsorised

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer

#: estimates that a Huber regression may replace
_REPLACED = (LeastSquares, Winsorised, HuberRegression)


def check_settings(settings: "Optimizer") -> None:
    """Refuse settings that no algorithm can have."""
    _checks.word_or_number("noise", settings.noise, ("auto", "heavy"))
    _checks.word_or_number("norm", settings.norm, ("auto",))
    _checks.probability("delta", settings.delta)
    if settings.lam is not None:
        _checks.positive("lam", settings.lam)
    seed = settings.seed
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed must be a whole number of at least 0, got {seed!r}")
    if seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}")
    _checks.one_of("search", settings.search, ("gradients", "direct"))
    if settings.bounds is not None:
        _checks.one_of("bounds", settings.bounds, ("intersected", "current"))
    if settings.repeats is not None:
        _checks.count("repeats", settings.repeats)
    _checks.count("aim", settings.aim)
    size = settings.domain.size
    if size is not None and settings.aim > size:
        raise ValueError(f"aim must be at most the {size} candidates, got {settings.aim}")
    if size is None and (settings.repeats, settings.aim) != (None, 1):
        raise ValueError(
            "repeats and aim are for lists of candidates: the points of a box cannot be "
            "counted. Leave them out, or choose from a grid: box.grid(n)"
        )


def check_aim(aim: int, chooser: Chooser, algorithm: str) -> None:
    """Refuse to look for the best k with an algorithm whose picks do not depend on k."""
    if aim > 1 and not chooser.follows_aim:
        raise ValueError(
            f"aim must be 1 for {algorithm} with these settings, got {aim}: it picks for the one "
            "best candidate. BBKB, BKB, GPUCB, PlateUCB and RobustUCB pick for the best k; top(k) "
            "and top_gap(k) rank what any algorithm has found"
        )


def check_width(width: Any, parts: Parts) -> None:
    """Refuse a width that the algorithm does not know."""
    if isinstance(width, str):
        _checks.one_of("width", width, tuple(parts.widths), also=", a number or a function")
    elif callable(width):
        _checks.function_of_one("width", width, "an nr.Evidence")
    else:
        _checks.not_negative("width", width)


def usable_parts(settings: "Optimizer") -> Parts:
    """The parts of an optimiser with these settings; settings that it cannot have are refused."""
    check_settings(settings)
    parts: Parts = settings.parts()
    if not isinstance(parts, Parts):
        raise TypeError(f"{type(settings).__name__}.parts() must return Parts, got {parts!r:.200}")
    if is_heavy(settings.noise):
        parts = for_heavy_tails(parts, type(settings).__name__)
    check_width(settings.width, parts)
    check_aim(settings.aim, parts.chooser, type(settings).__name__)
    return parts


def learnt_settings(settings: "Optimizer") -> tuple[str, ...]:
    """Which of kernel, noise and norm are learnt from the rewards."""
    given = {"kernel": settings.kernel, "noise": settings.noise, "norm": settings.norm}
    return tuple(name for name, value in given.items() if is_auto(value) or is_heavy(value))


def for_heavy_tails(parts: Parts, algorithm: str) -> Parts:
    """The parts with a Huber regression in place of least squares; no theorem covers them.

    An algorithm with an estimate of its own is refused; the error names it.
    """
    if parts.beliefs is not None or not isinstance(parts.estimate, _REPLACED):
        raise ValueError(
            f"noise 'heavy' is not for {algorithm}, which has an estimate of its own; pass a "
            "number or 'auto', or use BBKB, GPUCB, HuberGPUCB, ThompsonSampling or TrustRegionUCB"
        )
    return replace(
        parts,
        estimate=HuberRegression(known_noise=False),
        learning=replace(parts.learning, winsorises=True, warps=False),
        proved=(),
        many=False,
    )


def learns(settings: "Optimizer", parts: Parts) -> bool:
    """Whether the algorithm fits any of these settings."""
    return not set(learnt_settings(settings)).isdisjoint(parts.learning.fits_for)


def is_covered(settings: "Optimizer", parts: Parts) -> bool:
    """Whether a theorem covers the bounds, as long as rewards do not refute the assumptions."""
    return settings.width in parts.proved and not learns(settings, parts)


def intersects(settings: "Optimizer", parts: Parts) -> bool:
    """Whether bounds only fall: as given, else on lists if a theorem covers the bounds."""
    if settings.bounds is not None:
        return settings.bounds == "intersected"
    return settings.domain.size is not None and is_covered(settings, parts)
