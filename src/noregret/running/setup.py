"""What stays as it is while an optimiser runs, and what it believes at first."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import _checks
from noregret.kernels import Kernel, WithLogs, as_kernel
from noregret.kernels.adapters import PROBE, largest_prior
from noregret.learning.beliefs import Beliefs
from noregret.learning.learner import (
    Learner,
    design_size,
    fingerprint_kernel,
    is_auto,
    is_heavy,
    list_kernel,
    starting_kernel,
)
from noregret.learning.rules import Rules
from noregret.models.assumptions import Assumptions, noise_lams
from noregret.observations import Observations
from noregret.parts import Parts
from noregret.running.run import Run
from noregret.running.settings import (
    intersects,
    is_covered,
    learns,
    learnt_settings,
    usable_parts,
)
from noregret.widths.evidence import Evidence, FixedWidth, WidthRule, theory

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer


@dataclass(frozen=True)
class Setup:
    """What stays as it is while an optimiser runs.

    Attributes
    ----------
    settings
        The optimiser; only its settings are read.
    parts
        What its algorithm is made of.
    rules
        What the model follows when it takes in rewards.
    covered
        Whether a theorem covers the bounds, as long as rewards do not refute the assumptions.
    intersects
        Whether bounds only fall.
    """

    settings: "Optimizer"
    parts: Parts
    rules: Rules
    covered: bool
    intersects: bool

    @classmethod
    def of(cls, settings: "Optimizer") -> "Setup":
        """The setup of an optimiser; settings that it cannot have are refused."""
        parts = usable_parts(settings)
        rules, covered = _rules(settings, parts), is_covered(settings, parts)
        return cls(settings, parts, rules, covered, intersects(settings, parts))

    def renewed(self) -> "Setup":
        """The setup for another list of candidates."""
        return replace(self, rules=_rules(self.settings, self.parts))

    def start(self) -> Run:
        """The run before anything has been asked or told."""
        beliefs, events = _first_beliefs(self.settings, self.parts)
        seen, rng = Observations(self.settings.domain.nothing), np.random.default_rng
        return Run(seen, beliefs, self.parts.chooser, rng(self.settings.seed), events)


def _first_beliefs(settings: "Optimizer", parts: Parts) -> tuple[Any, list[dict[str, Any]]]:
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
    if space.size is None:
        return starting_kernel(space.corners, categories=space.categories), []
    some = space.spread(PROBE, np.random.default_rng(0))
    kernel = fingerprint_kernel(some)
    if kernel is not None:
        why = "the candidates are packed bits" if space.are_bits else "all columns are 0 or 1"
    else:
        kernel = list_kernel(space.corners, some)
        if not isinstance(kernel, WithLogs):
            return kernel, []
        why = f"columns that span decades (counted from 0): {', '.join(map(str, kernel.columns))}"
    return kernel, [{"t": 0, "event": "kernel", "kernel": repr(kernel), "why": why}]


def _learner(settings: "Optimizer", parts: Parts, kernel: Kernel) -> Learner | None:
    """What is to be learnt; ``None`` if nothing is."""
    if not learns(settings, parts):
        return None
    learnt, how = learnt_settings(settings), parts.learning
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
    scale = largest_prior(kernel, settings.domain)
    learns_kernel = learner is not None and learner.kernel
    lam = settings.lam if settings.lam is not None or learns_kernel else parts.lam
    many = _uses_many(settings, parts)
    lams = noise_lams(noise, scale, many=many) if lam is None else (lam,)
    return Assumptions(kernel, noise, norm, lams, scale)


def _rules(settings: "Optimizer", parts: Parts) -> Rules:
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
        choices=space.size or 0,
        seed=int(settings.seed or 0),
    )


def _own_width(width: float | Callable[[Evidence], float]) -> WidthRule:
    """The rule for a number β, or for a function that gives β: a factor of √leverage."""
    if not callable(width):
        return FixedWidth(_checks.not_negative("width", width))
    return partial(_checked_width, width)


def _checked_width(width: Callable[[Evidence], float], evidence: Evidence) -> float:
    return _checks.not_negative("width", width(evidence)) * math.sqrt(evidence.lam)
