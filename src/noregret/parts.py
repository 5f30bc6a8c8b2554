"""What an optimiser is made of, and what changes while it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Points
from noregret.batching import BatchRule, FixedSize
from noregret.kernels import Kernel, as_kernel
from noregret.kernels.adapters import check_kernel
from noregret.learning.beliefs import Rules
from noregret.learning.learner import (
    Learner,
    Learning,
    is_auto,
)
from noregret.models.assumptions import Assumptions
from noregret.models.posterior import Fantasy
from noregret.observations import Observations
from noregret.picking.chooser import Chooser, gp_bounds
from noregret.rewards.huber import HuberRegression
from noregret.rewards.least_squares import LeastSquares, RewardEstimate
from noregret.rewards.winsorised import Winsorised
from noregret.spaces import Candidates, Domain, as_candidates
from noregret.widths.evidence import Evidence, WidthRule

#: estimates that a Huber regression may stand in for
_REPLACED = (LeastSquares, Winsorised, HuberRegression)
#: points that the kernel is tried on
PROBE = 256

#: a name, a number β, or a function of the evidence that gives β: bounds are mean ± β·std
Width = str | float | Callable[[Evidence], float]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What an algorithm is made of.

    Attributes
    ----------
    chooser
        Who is next?
    widths
        The widths that the algorithm knows by name, as factors of √leverage.
    proved
        The names of those that a theorem covers: bounds are intersected by default.
    dictionary
        ``"complete"``, ``"grow"`` or ``"resample"``.
    qbar
        q̄ after so many evaluations.
    ratio
        C̃: what the batch rule lets variances shrink by.
    rule
        Makes the rule that ends a batch.
    frozen
        Whether picks shrink variances only inside the dictionary's span until feedback comes.
    estimate
        What is a reward worth?
    learning
        How settings that are ``"auto"`` are learnt.
    kernel
        Where the fit of a kernel that is ``"auto"`` starts; ``None``: Matérn 5/2.
    replaced_kernel
        Makes the kernel in use from the one that is given.
    check_list
        Refuses a list of candidates that may not replace the old one.
    starts_uniformly
        Whether the first choice, when nothing is known, is drawn uniformly.
    spreads
        Whether a first plate is spread over the list.
    lam
        λ where none is given and it does not follow the noise.
    beliefs
        Makes the beliefs, where they are not those of one GP.
    view
        Makes the bounds from beliefs, observations and rules, with what is pending or without.
    many
        Whether bounds are intersected over many λ where none is given and the width is proved.
    inflation
        What deviations are multiplied with inside a batch, by the name of the width.
    """

    chooser: Chooser
    widths: Mapping[str, WidthRule]
    proved: tuple[str, ...] = ()
    dictionary: str = "complete"
    qbar: Callable[[int], float] = lambda t: 2.0
    ratio: float = 1.0
    rule: Callable[[Fantasy], BatchRule] = lambda fantasy: FixedSize()
    frozen: bool = False
    estimate: RewardEstimate = field(default_factory=LeastSquares)
    learning: Learning = field(default_factory=Learning)
    kernel: Kernel | None = None
    replaced_kernel: Callable[[Kernel], Kernel] = lambda kernel: kernel
    check_list: Callable[[Candidates, Assumptions], None] = lambda candidates, assumed: None
    starts_uniformly: bool = True
    spreads: bool = True
    lam: float | None = None
    beliefs: Callable[[Assumptions, Learner, Points], Any] | None = None
    view: Callable[[Any, Observations, Rules, bool, bool], Any] = gp_bounds
    many: bool = False
    inflation: Mapping[str, float] = field(default_factory=dict)


def check_settings(settings: Any) -> None:
    """Refuse settings that no algorithm can have."""
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
    if not settings.domain.listed and (settings.repeats, settings.aim) != (None, 1):
        raise ValueError(
            "repeats and aim are for lists of candidates: the points of a box cannot be "
            "counted. Leave them out, or choose from a grid: box.grid(n)"
        )


def check_width(width: Any, parts: Parts) -> None:
    """Refuse a width that the algorithm does not know."""
    if isinstance(width, str):
        _checks.one_of("width", width, tuple(parts.widths))
    elif not callable(width):
        _checks.not_negative("width", width)


def for_heavy_tails(parts: Parts, algorithm: str) -> Parts:
    """The parts with a Huber regression in place of least squares; no theorem covers them.

    An algorithm with an estimate of its own is refused by its name.
    """
    if parts.beliefs is not None or not isinstance(parts.estimate, _REPLACED):
        raise ValueError(
            f"noise 'heavy' is not for {algorithm}, which has an estimate of its own; pass a "
            "number or 'auto', or use BBKB, GPUCB, HuberGPUCB, ThompsonSampling or TrustRegionUCB"
        )
    return replace(
        parts,
        estimate=HuberRegression(known_noise=False),
        learning=replace(parts.learning, winsorises=True),
        proved=(),
        many=False,
    )


def check_prior(kernel: Kernel, space: Domain) -> float:
    """The largest k(x, x) of some points of a space, after trying the kernel on them."""
    return float(check_kernel(kernel, space.spread(PROBE, np.random.default_rng(0))).max())


def domain_for(kernel: Any, domain: Domain) -> Domain:
    """The domain as the kernel sees it: bytes are numbers where it takes no packed bits."""
    if not domain.listed or is_auto(kernel) or as_kernel(kernel).takes_bits:
        return domain
    return as_candidates(domain).numbers()


def as_list_like(
    old: Candidates, candidates: Any, given: Any, kernel: Kernel, *, same_type: bool
) -> Candidates:
    """Candidates that may replace those of a list, or with ``same_type`` be added to them.

    Parameters
    ----------
    old
        The list.
    candidates
        What makes the others.
    given, kernel
        The kernel as it was given, and the one in use.
    """
    made = as_candidates(domain_for(given, as_candidates(candidates)))
    alike = made.are_objects == old.are_objects and made.dimension == old.dimension
    if not alike or (same_type and made.are_bits != old.are_bits):
        raise ValueError(f"candidates must be of the same kind as {old!r}, got {made!r}")
    check_prior(kernel, made)
    return made
