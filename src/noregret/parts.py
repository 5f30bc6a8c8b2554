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
from noregret.learning.beliefs import Beliefs, Rules
from noregret.learning.learner import (
    Learner,
    Learning,
    design_size,
    fingerprint_kernel,
    is_auto,
    is_heavy,
    starting_kernel,
)
from noregret.models.assumptions import Assumptions, noise_lams
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
_PROBE = 256

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


@dataclass
class Run:
    """Everything that changes while an optimiser runs."""

    observations: Observations
    beliefs: Beliefs
    chooser: Chooser
    rng: np.random.Generator
    events: list[dict[str, Any]]


@dataclass(frozen=True)
class Look:
    """What the next ask will believe, worked out on a copy for somebody who looks."""

    t: int
    beliefs: Beliefs
    rng: np.random.Generator
    events: list[dict[str, Any]]


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
    return float(check_kernel(kernel, space.spread(_PROBE, np.random.default_rng(0))).max())


def start(settings: Any, parts: Parts) -> Run:
    """The run of an optimiser with these settings, before anything has been asked or told."""
    space = settings.domain
    kernel, events = _starting_kernel(settings, parts)
    learner = _learner(settings, parts, kernel)
    assumed = _assumptions(settings, parts, learner, kernel)
    if parts.beliefs is not None:
        beliefs = parts.beliefs(assumed, learner, space.nothing)
    else:
        beliefs = Beliefs(assumed, learner, parts.estimate, parts.dictionary, space.nothing)
    rng = np.random.default_rng(settings.seed)
    return Run(Observations(space.nothing), beliefs, parts.chooser, rng, events)


def domain_for(kernel: Any, domain: Domain) -> Domain:
    """The domain as the kernel sees it: bytes are numbers where it takes no packed bits."""
    if not domain.listed or is_auto(kernel) or as_kernel(kernel).takes_bits:
        return domain
    return as_candidates(domain).numbers()


def _starting_kernel(settings: Any, parts: Parts) -> tuple[Kernel, list[dict[str, Any]]]:
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


def _learner(settings: Any, parts: Parts, kernel: Kernel) -> Learner:
    """What is to be learnt."""
    given = {"kernel": settings.kernel, "noise": settings.noise, "norm": settings.norm}
    learnt = {name: is_auto(value) for name, value in given.items()}
    learnt["noise"] = learnt["noise"] or is_heavy(settings.noise)
    if not any(learnt[name] for name in parts.learning.fits_for):
        learnt = dict.fromkeys(learnt, False)
    many = parts.many and settings.lam is None and settings.width == "theory"
    return Learner(
        kernel=learnt["kernel"],
        noise=learnt["noise"],
        norm=learnt["norm"],
        lam=settings.lam is None and (learnt["kernel"] or parts.lam is None),
        many=many,
        design=parts.learning.design or design_size(settings.domain.dimension, kernel),
        how=parts.learning,
    )


def _assumptions(settings: Any, parts: Parts, learner: Learner, kernel: Kernel) -> Assumptions:
    """What is assumed before anything has been learnt."""
    norm = 1.0 if is_auto(settings.norm) else _checks.positive("norm", settings.norm)
    if is_auto(settings.noise) or is_heavy(settings.noise):
        # Without a fit the estimate of rewards finds the noise, and starts from the norm.
        noise = 0.1 if learner.noise else norm
    else:
        noise = _checks.not_negative("noise", settings.noise)
    scale = check_prior(kernel, settings.domain)
    lam = settings.lam if settings.lam is not None or learner.kernel else parts.lam
    lams = noise_lams(noise, scale, many=learner.many) if lam is None else (lam,)
    return Assumptions(kernel, noise, norm, lams, scale)
