"""What a chooser is told when it chooses or somebody looks, from an optimiser's settings."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.batching import BatchRule, ToTheLimit
from noregret.learning.beliefs import Beliefs, Rules
from noregret.learning.learner import is_auto
from noregret.models.posterior import Fantasy
from noregret.parts import Parts
from noregret.picking.chooser import Moment
from noregret.picking.room import Room
from noregret.run import Run
from noregret.widths.evidence import Evidence, theory


def rules_for(settings: Any, parts: Parts, run: Run) -> Rules:
    """What the model is to keep to when it takes in rewards."""
    space, named = settings.domain, isinstance(settings.width, str)
    return Rules(
        widths=lambda evidence: _widths(settings.width, parts, evidence),
        checked=settings.width in parts.proved or (named and is_auto(settings.norm)),
        limits_trace=named
        and parts.widths[str(settings.width)] is theory
        and parts.dictionary != "complete",
        qbar=parts.qbar,
        delta=settings.delta,
        ratio=parts.ratio,
        inflation=parts.inflation.get(str(settings.width), 1.0),
        corners=space.corners if run.beliefs.learner.active else space.nothing,
        choices=len(space) if space.listed else 0,
        seed=int(settings.seed),
    )


def _widths(width: Any, parts: Parts, evidence: Evidence) -> tuple[Floats, bool]:
    """Factors of √leverage for every λ in use, and whether the assumptions are refuted."""
    if isinstance(width, str):
        found = parts.widths[width](evidence)
        return found if isinstance(found, tuple) else (np.array([found]), False)
    beta = width(evidence) if callable(width) else width
    return np.array([_checks.not_negative("width", beta) * math.sqrt(evidence.lam)]), False


def room_now(settings: Any, run: Run, plate: int | None = None) -> Room:
    """How often each candidate may be picked, now or on a plate of so many."""
    if not settings.domain.listed:
        return Room()
    size, seen = len(settings.domain), run.observations
    if settings.repeats is None:
        each = None if plate is None else -(-plate // max(size - len(seen.aside), 1))
        return Room(size, each=each, aside=seen.aside_ids)
    listed = np.flatnonzero(seen.ids >= 0)
    counts = (seen.told + seen.pending)[listed]
    return Room(size, settings.repeats, seen.ids[listed], counts, aside=seen.aside_ids)


def moment_of_ask(settings: Any, parts: Parts, run: Run, room: Room, *, plate: bool) -> Moment:
    """What a chooser knows when it picks the next points.

    Inside a plate deviations fall exactly with every pick and are not inflated: the picks have
    to differ, and no theorem of a batch covers those after its rule's end.
    """
    rules, frozen, rule = rules_for(settings, parts, run), parts.frozen, parts.rule
    if plate and settings.domain.listed:
        rules, frozen, rule = replace(rules, inflation=1.0), False, _to_the_limit(parts.rule)
    return Moment(
        settings.domain,
        run.observations,
        run.beliefs,
        parts.view(run.beliefs, run.observations, rules, True, frozen),
        _intersects(settings, parts, run.beliefs),
        rule,
        room,
        settings.aim,
        run.rng,
        run.events,
    )


def moment_of_look(
    settings: Any, parts: Parts, run: Run, beliefs: Beliefs, *, pending: bool
) -> Moment:
    """The same for somebody who looks, with a generator and events of its own.

    ``beliefs`` are those that the next ask will have.
    """
    rules = rules_for(settings, parts, run)
    return Moment(
        settings.domain,
        run.observations,
        beliefs,
        parts.view(beliefs, run.observations, rules, pending, parts.frozen),
        _intersects(settings, parts, beliefs),
        parts.rule,
        room_now(settings, run),
        settings.aim,
        np.random.default_rng([int(settings.seed), run.observations.t]),
        [],
    )


def _intersects(settings: Any, parts: Parts, beliefs: Beliefs) -> bool:
    """Whether bounds only fall."""
    if settings.bounds is not None:
        return bool(settings.bounds == "intersected")
    proved = settings.width in parts.proved and settings.domain.listed
    return bool(proved and not beliefs.learner.active)


def _to_the_limit(rule: Callable[[Fantasy], BatchRule]) -> Callable[[Fantasy], BatchRule]:
    """Makes rules that do not end a batch, from one that makes rules that do."""
    return lambda fantasy: ToTheLimit(rule(fantasy))
