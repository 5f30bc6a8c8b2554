"""What an optimiser is made of: its parts, checks of its settings, what it believes at first."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import _checks
from noregret._types import Points
from noregret.batching import BatchRule, FixedSize
from noregret.kernels import Kernel, as_kernel
from noregret.kernels.adapters import check_kernel
from noregret.learning.beliefs import Beliefs
from noregret.learning.learner import (
    Learner,
    Learning,
    design_size,
    fingerprint_kernel,
    is_auto,
    is_heavy,
    starting_kernel,
)
from noregret.learning.own_bounds import OwnBounds
from noregret.learning.rules import Rules
from noregret.models.assumptions import Assumptions, noise_lams
from noregret.models.fantasy import Fantasy
from noregret.observations import Observations
from noregret.picking.bounds import gp_bounds
from noregret.picking.chooser import Chooser
from noregret.rewards.huber import HuberRegression
from noregret.rewards.least_squares import LeastSquares, RewardEstimate
from noregret.rewards.winsorised import Winsorised
from noregret.spaces import Candidates, Domain, Space, as_candidates
from noregret.widths.evidence import Evidence, FixedWidth, WidthRule, theory

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer

#: estimates that a Huber regression may replace
_REPLACED = (LeastSquares, Winsorised, HuberRegression)
#: how many points the kernel is tried on
_PROBE = 256

#: a name, a number β, or a function of the evidence that gives β: bounds are mean ± β·std
Width = str | float | Callable[[Evidence], float]


# Parts that most algorithms have. They have names, so that optimisers can be pickled.


def _two(t: int) -> float:
    return 2.0


def _fixed_size(fantasy: Fantasy) -> BatchRule:
    return FixedSize()


def _same(kernel: Kernel) -> Kernel:
    return kernel


def _any_list(candidates: Candidates, assumed: Assumptions) -> None:
    """Every list may replace the old one."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What an algorithm is made of.

    Attributes
    ----------
    chooser
        Picks the next points.
    widths
        The widths that the algorithm knows by name, as factors of √leverage.
    proved
        The names of the widths that a theorem covers: their bounds are intersected by default.
    dictionary
        ``"complete"``, ``"grow"`` or ``"resample"``.
    qbar
        Gives q̄ for a number of evaluations.
    ratio
        C̃: by what factor variances may shrink before the batch rule ends a batch.
    rule
        Makes the rule that ends a batch.
    frozen
        Whether picks shrink variances only inside the dictionary's span until feedback comes.
    estimate
        How the mean is estimated from rewards.
    learning
        How settings given as ``"auto"`` are learnt.
    kernel
        From which kernel the fit of ``"auto"`` starts; ``None``: Matérn 5/2.
    replaced_kernel
        Makes the kernel in use from the one that is given.
    check_list
        Refuses a list of candidates that may not replace the old one.
    starts_uniformly
        Whether the first choice, when nothing is known, is drawn uniformly.
    spreads
        Whether the first plate is spread over the list.
    lam
        λ if none is given and λ does not follow from the noise.
    beliefs
        Makes the beliefs, if they are not those of one GP.
    own
        More bounds, of arms from their own rewards alone; on lists they are intersected with those
        of the model.
    view
        Makes the bounds from beliefs, observations and rules, with pending points or without.
    many
        Whether bounds are intersected over many λ if no λ is given and the width is proved.
    inflation
        The factor of deviations inside a batch, by the name of the width. Numbers and functions
        have none: they are taken as they are.
    notes
        What ``opt.events`` says of the settings from the start.
    """

    chooser: Chooser
    widths: Mapping[str, WidthRule]
    proved: tuple[str, ...] = ()
    dictionary: str = "complete"
    qbar: Callable[[int], float] = _two
    ratio: float = 1.0
    rule: Callable[[Fantasy], BatchRule] = _fixed_size
    frozen: bool = False
    estimate: RewardEstimate = field(default_factory=LeastSquares)
    learning: Learning = field(default_factory=Learning)
    kernel: Kernel | None = None
    replaced_kernel: Callable[[Kernel], Kernel] = _same
    check_list: Callable[[Candidates, Assumptions], None] = _any_list
    starts_uniformly: bool = True
    spreads: bool = True
    lam: float | None = None
    beliefs: Callable[[Assumptions, Learner | None, Points], Any] | None = None
    own: OwnBounds | None = None
    view: Callable[[Any, Observations, Rules, bool, bool], Any] = gp_bounds
    many: bool = False
    inflation: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
    if not settings.domain.listed and (settings.repeats, settings.aim) != (None, 1):
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
    elif not callable(width):
        _checks.not_negative("width", width)


def usable_parts(settings: "Optimizer") -> Parts:
    """The parts of an optimiser with these settings; settings that it cannot have are refused."""
    check_settings(settings)
    parts: Parts = settings.parts()
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


def check_prior(kernel: Kernel, space: Domain) -> float:
    """The largest k(x, x) of some points of a space, after trying the kernel on them."""
    return float(check_kernel(kernel, space.spread(_PROBE, np.random.default_rng(0))).max())


def domain_for(kernel: Any, domain: Domain) -> Domain:
    """The domain as the kernel sees it: bytes are numbers if the kernel takes no packed bits."""
    if not domain.listed or is_auto(kernel) or as_kernel(kernel).takes_bits:
        return domain
    return as_candidates(domain).numbers()


def as_list_like(settings: "Optimizer", candidates: Any, *, same_type: bool) -> Candidates:
    """Candidates that may replace those of a list, or with ``same_type`` be added to them.

    Parameters
    ----------
    settings
        The optimiser on that list.
    candidates
        The new candidates, or what makes them. Columns with names are matched to those of the list.
    """
    old = as_candidates(settings.domain)
    given = as_candidates(candidates) if isinstance(candidates, Space) else candidates
    made = as_candidates(domain_for(settings.kernel, old.like(given)))
    alike = made.are_objects == old.are_objects and made.dimension == old.dimension
    if not alike or (same_type and made.are_bits != old.are_bits):
        raise ValueError(f"candidates must be of the same kind as {old!r}, got {made!r}")
    check_prior(settings.assumed.kernel, made)
    return made


def more_candidates(settings: "Optimizer", candidates: Any) -> Candidates:
    """Candidates that can be added, in the type that the points of an optimiser's list have."""
    if not settings.domain.listed:
        raise TypeError("candidates can be added to a list only, not to a box or space")
    return as_list_like(settings, candidates, same_type=True)


def list_for(
    settings: "Optimizer", parts: Parts, candidates: Any, *, added: bool = False
) -> Candidates:
    """Another list for an optimiser: the candidates alone, or ``added`` to those it has."""
    if added:
        domain = as_candidates(settings.domain).joined(more_candidates(settings, candidates))
    elif settings.domain.listed:
        domain = as_list_like(settings, candidates, same_type=False)
    else:
        raise TypeError("only a list of candidates can be replaced, not a box or space")
    parts.check_list(domain, settings.assumed)
    return domain


def first_beliefs(settings: "Optimizer", parts: Parts) -> tuple[Any, list[dict[str, Any]]]:
    """What is believed before anything has been told, and what to note about it."""
    nothing = settings.domain.nothing
    kernel, events = _starting_kernel(settings, parts)
    events += [{"t": 0, "event": "note", "text": text} for text in parts.notes]
    learner = _learner(settings, parts, kernel)
    assumed = _assumptions(settings, parts, learner, kernel)
    if parts.beliefs is not None:
        return parts.beliefs(assumed, learner, nothing), events
    beliefs = Beliefs(assumed, learner, parts.estimate, parts.dictionary, nothing, parts.own)
    return beliefs, events


def _starting_kernel(settings: "Optimizer", parts: Parts) -> tuple[Kernel, list[dict[str, Any]]]:
    """The kernel before anything has been learnt, and what to note about it."""
    if not is_auto(settings.kernel):
        return parts.replaced_kernel(as_kernel(settings.kernel)), []
    space = settings.domain
    if parts.kernel is not None:
        return parts.kernel, []
    some = space.spread(_PROBE, np.random.default_rng(0))
    kernel = fingerprint_kernel(some) if space.listed else None
    if kernel is None:
        return starting_kernel(space.corners, categories=space.categories), []
    why = "the candidates are packed bits" if space.are_bits else "all columns are 0 or 1"
    return kernel, [{"t": 0, "event": "kernel", "kernel": repr(kernel), "why": why}]


def _learner(settings: "Optimizer", parts: Parts, kernel: Kernel) -> Learner | None:
    """What is to be learnt; ``None`` if nothing is."""
    learnt, how = learnt_settings(settings), parts.learning
    if not set(learnt) & set(how.fits_for):
        return None
    return Learner(
        kernel="kernel" in learnt,
        noise="noise" in learnt,
        norm="norm" in learnt,
        lam=settings.lam is None and ("kernel" in learnt or parts.lam is None),
        many=_uses_many(settings, parts),
        design=how.design or design_size(how.fit_on, settings.domain.dimension, kernel),
        how=how,
    )


def _uses_many(settings: "Optimizer", parts: Parts) -> bool:
    """Whether there is a posterior for each λ of a grid."""
    return parts.many and settings.lam is None and settings.width == "theory"


def _assumptions(
    settings: "Optimizer", parts: Parts, learner: Learner | None, kernel: Kernel
) -> Assumptions:
    """What is assumed before anything has been learnt."""
    norm = 1.0 if is_auto(settings.norm) else _checks.positive("norm", settings.norm)
    if is_auto(settings.noise) or is_heavy(settings.noise):
        # Without a fit the estimate finds the noise itself, starting from the norm.
        noise = norm if learner is None else 0.1
    else:
        noise = _checks.not_negative("noise", settings.noise)
    scale = check_prior(kernel, settings.domain)
    learns_kernel = learner is not None and learner.kernel
    lam = settings.lam if settings.lam is not None or learns_kernel else parts.lam
    many = _uses_many(settings, parts)
    lams = noise_lams(noise, scale, many=many) if lam is None else (lam,)
    return Assumptions(kernel, noise, norm, lams, scale)


def rules_for(settings: "Optimizer", parts: Parts) -> Rules:
    """What the model follows when it takes in rewards."""
    space, width = settings.domain, settings.width
    named = isinstance(width, str)
    rule = parts.widths[width] if isinstance(width, str) else _own_width(width)
    return Rules(
        width=rule,
        checked=width in parts.proved or (named and is_auto(settings.norm)),
        limits_trace=rule is theory and parts.dictionary != "complete",
        qbar=parts.qbar,
        delta=settings.delta,
        ratio=parts.ratio,
        inflation=parts.inflation.get(str(width), 1.0),
        corners=partial(getattr, space, "corners"),
        choices=len(space) if space.listed else 0,
        seed=int(settings.seed or 0),
    )


def _own_width(width: float | Callable[[Evidence], float]) -> WidthRule:
    """The rule for a number β, or for a function that gives β: a factor of √leverage."""
    if not callable(width):
        return FixedWidth(_checks.not_negative("width", width))
    return partial(_checked_width, width)


def _checked_width(width: Callable[[Evidence], float], evidence: Evidence) -> float:
    return _checks.not_negative("width", width(evidence)) * math.sqrt(evidence.lam)
