"""The steps of an ask."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from noregret._types import Ints
from noregret.batching import BatchRule, ToTheLimit
from noregret.learning.beliefs import Beliefs
from noregret.learning.ties import always_agree
from noregret.models.fantasy import Fantasy
from noregret.picking.chooser import Picks, Situation, spread_picks, uniform_picks
from noregret.picking.lists.first_plate import first_plate
from noregret.picking.lists.room import Room
from noregret.running.run import Run
from noregret.running.setup import Setup

#: the most points of one ask
MOST_ASKED = 1_000_000
#: the most points of an adaptive batch that is asked for without a limit
_LONGEST = 10_000
#: the second part of the seed of a design that is spread over a box
_DESIGN = 1


def room_of(setup: Setup, run: Run, plate: int | None = None) -> Room:
    """How often each candidate may be picked, now or on a plate of ``plate`` points.

    Once, while there are others, if the rewards show that there is no noise.
    """
    space, repeats = setup.settings.domain, setup.settings.repeats
    size, seen = space.size, run.observations
    if size is None:
        return Room()
    if repeats is not None:
        return _limited(size, repeats, run)
    if _without_noise(run) and (once := _limited(size, 1, run)).open:
        return once
    each = None if plate is None else -(-plate // max(size - len(seen.aside), 1))
    return Room(size, each=each, aside=seen.aside_ids)


def _limited(size: int, repeats: int, run: Run) -> Room:
    """A room where each candidate has so many evaluations at most."""
    seen = run.observations
    listed = np.flatnonzero(seen.ids >= 0)
    counts = (seen.told + seen.pending)[listed]
    return Room(size, repeats, seen.ids[listed], counts, aside=seen.aside_ids)


def _without_noise(run: Run) -> bool:
    """Whether the noise is learnt, and the rewards show that there is none."""
    learner = run.beliefs.learner
    return learner is not None and learner.noise and always_agree(run.observations)


def pick(setup: Setup, run: Run, room: Room, n: int | None, *, fill: bool) -> tuple[Picks, Ints]:
    """The picks of an ask and their rows; if the ask fails, nothing stays pending."""
    picks, rows = None, np.empty(0, dtype=np.int64)
    plate = fill and room.limited
    try:
        while True:
            more = _choose(setup, run, room, n if n is None else n - len(rows), plate=plate)
            uniform = more.uniform or more.spread
            new = run.expect(more.ids, more.points, uniform=uniform)
            rows = np.concatenate([rows, new]) if len(rows) else new
            picks = more if picks is None else picks.joined(more)
            if not fill or not len(more.ids) or n is None or len(rows) >= n:
                return picks, rows
    except BaseException:
        run.take_back(rows)
        raise


def _choose(setup: Setup, run: Run, room: Room, n: int | None, *, plate: bool) -> Picks:
    """Uniform draws if the learner wants some or nothing is known, else the chooser's picks."""
    settings, parts, learner = setup.settings, setup.parts, run.beliefs.learner
    asked = run.observations.t + int(run.observations.pending.sum())
    limit = (n or _LONGEST) if settings.adaptive else (n or settings.batch_size)
    new = not run.observations.t or (learner is not None and not learner.fitted)
    if plate and parts.spreads and new:
        return first_plate(_situation(setup, run, room, run.beliefs), settings.domain, limit)
    draws = 0 if learner is None else learner.wanted(asked)
    if not draws and not asked and parts.starts_uniformly:
        # BKB 3.1, BBKB Algorithm 1, line 1
        draws = 1 if settings.adaptive else limit
    now = _situation(setup, run, room, run.beliefs, plate=plate)
    if not draws:
        picks = run.chooser.choose(now, limit)
        if n is None and settings.adaptive and len(picks.ids) == _LONGEST:
            now.note("batch cut", points=_LONGEST)
        return picks
    # With a sequential rule ask(n) always gives n points.
    count = min(draws, limit) if settings.adaptive else limit
    if parts.learning.spreads:
        rng = np.random.default_rng([int(settings.seed or 0), _DESIGN])
        return spread_picks(now, asked, count, rng)
    return uniform_picks(now, count)


def look(setup: Setup, run: Run, *, pending: bool) -> Situation:
    """What the chooser knows, for a look; with a generator and events of its own."""
    beliefs = run.looked(setup.rules)
    now = _situation(setup, run, room_of(setup, run), beliefs, pending=pending)
    rng = np.random.default_rng([int(setup.settings.seed or 0), run.observations.t])
    return replace(now, rng=rng, events=[])


def _situation(
    setup: Setup,
    run: Run,
    room: Room,
    beliefs: Beliefs,
    *,
    pending: bool = True,
    plate: bool = False,
) -> Situation:
    """What a chooser knows when it picks the next points.

    Inside a plate deviations fall exactly with every pick and are not inflated: the picks have
    to differ, and no theorem covers the picks after the batch rule has ended its batch.
    """
    space, rules = setup.settings.domain, setup.rules
    frozen, rule = setup.parts.frozen, setup.parts.rule
    if plate:
        rules, frozen, rule = replace(rules, inflation=1.0), False, _to_the_limit(rule)
    return Situation(
        space,
        run.observations,
        beliefs,
        setup.parts.view(beliefs, run.observations, rules, pending, frozen),
        setup.intersects,
        rule,
        room,
        setup.settings.aim,
        run.rng,
        run.events,
        once=space.size is None and _without_noise(run),  # on a list the room says so
    )


def _to_the_limit(rule: Callable[[Fantasy], BatchRule]) -> Callable[[Fantasy], BatchRule]:
    """A maker of rules that never end a batch, from a maker of rules that do."""
    return lambda fantasy: ToTheLimit(rule(fantasy))
