"""A run: what changes while an optimiser runs, what stays as it is, and the steps of an ask."""

import copy
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.batching import BatchRule, ToTheLimit
from noregret.learning.beliefs import Beliefs, Rules
from noregret.learning.look import Look
from noregret.models.posterior import Fantasy
from noregret.observations import Observations
from noregret.parts import Parts, first_beliefs, rules_for, usable_parts
from noregret.picking.chooser import Chooser, Picks, Situation, spread_picks, uniform_picks
from noregret.picking.lists.first_plate import first_plate
from noregret.picking.lists.room import Room
from noregret.results import Batch, BatchInfo, History
from noregret.spaces import Candidates, Domain

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer

#: the most points of an adaptive batch that is asked for without a limit
_LONGEST = 10_000
#: the second part of the seed of a design that is spread over a box
_DESIGN = 1
#: if this many similar choices have all failed, a choice fails because of where it lies
_SIMILAR = 3


@dataclass
class Run:
    """Everything that changes while an optimiser runs.

    Attributes
    ----------
    observations
        What has been seen.
    beliefs
        What is believed, as of the last ask.
    chooser
        Picks the next points, with what it remembers.
    rng
        Source of all randomness.
    events
        What the algorithm did on its own, each with its t.
    """

    observations: Observations
    beliefs: Beliefs
    chooser: Chooser
    rng: np.random.Generator
    events: list[dict[str, Any]]
    #: what a look has computed already
    _look: Look | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies leave out what a look has computed."""
        return {**vars(self), "_look": None}

    def note(self, event: str, **details: Any) -> None:
        """Write down what was done, with the number of evaluations told."""
        self.events.append({"t": self.observations.t, "event": event, **details})

    # -- taking in what has been told --------------------------------------------------------

    def take_in(self, rules: Rules) -> None:
        """Let the model take in what has been told; called only at the start of a batch.

        If a look has done this work already, it is used. Warns if rewards refute what is assumed.
        """
        look = self._look
        if look is None or not look.is_current(self.observations):
            events = self.beliefs.take_in(self.observations, rules, self.rng)
        else:
            self.beliefs, self.rng, events = look.beliefs, look.rng, look.events
        self._look = None
        for event in events:
            self.note(**event)
            if event["event"] == "refuted":
                warnings.warn(_refutation(event, rules.delta), RuntimeWarning, stacklevel=3)

    def looked(self, rules: Rules) -> Beliefs:
        """Beliefs with everything told taken in, as the next ask will have them; a look."""
        if self.beliefs.is_current(self.observations):
            return self.beliefs
        look = self._look
        if look is None or not look.is_current(self.observations):
            beliefs, rng = copy.deepcopy((self.beliefs, self.rng))
            events = beliefs.take_in(self.observations, rules, rng)
            look = self._look = Look(self.observations.t, beliefs, rng, events)
        return look.beliefs

    @property
    def fitted_look(self) -> Look | None:
        """What a look has computed, if it has fitted settings; else ``None``."""
        look = self._look
        return look if look and look.fitted and look.is_current(self.observations) else None

    def use(self, look: Look, rules: Rules) -> None:
        """Use what a look at this run has computed, as it was read from a file."""
        look.beliefs.take_in(self.observations, rules, look.rng)  # computes what files leave out
        self._look = look

    # -- evaluations -------------------------------------------------------------------------

    def expect(self, ids: Ints, points: Points, *, uniform: bool) -> Ints:
        """Make choices pending, and give their rows (n); fits can use uniform draws."""
        rows = self.observations.rows(ids, points)
        self.observations.ask(rows)
        if self.beliefs.learner is not None and uniform:
            self.beliefs.learner.asked(rows)
        return rows

    def batch(self, picks: Picks, rows: Ints, values: list[Any]) -> Batch:
        """The batch of some picks, with their rows and what a function gets for each (n each)."""
        beliefs = self.beliefs
        beta = picks.width / math.sqrt(beliefs.assumed.lam)
        return Batch(
            picks.ids,
            picks.points,
            values,
            BatchInfo(beliefs.assumed.reward(picks.upper), beta, picks.ratio, beliefs.size),
            picks.uniform,
            picks.spread,
            self.observations.generation,
            rows,
        )

    def take_back(self, rows: Ints) -> None:
        """These pending rows will never be told."""
        self.observations.cancel(rows)
        if self.beliefs.learner is not None:
            self.beliefs.learner.cancelled(self.observations.pending)
        self._look = None  # the look's learner still waits for these rows

    def tell(self, rows: Ints, rewards: Floats, *, unasked: bool) -> None:
        """Rewards of rows have arrived (n each)."""
        before = self.observations.t
        self.observations.tell(rows, rewards, unasked=unasked)
        if self.beliefs.learner is not None:
            self.beliefs.learner.told(before, rows)

    def fail(self, rows: Ints, *, may_invent: bool) -> None:
        """Pending rows gave no value; if similar choices fail, a bad reward may be invented."""
        seen = self.observations
        seen.check_pending(rows)
        for row in rows.tolist():
            before = seen.t
            invented = may_invent and before > 0 and self._fails_nearby(row)
            seen.fail(row, _bad_reward(seen.rewards) if invented else None)
            if invented and self.beliefs.learner is not None:
                self.beliefs.learner.told(before, np.array([row]))

    def _fails_nearby(self, row: int) -> bool:
        """Whether this arm mostly fails, or the most similar ones evaluated all do."""
        seen, kernel = self.observations, self.beliefs.assumed.kernel
        failed = seen.failing()
        if row in failed:
            return True
        rows = np.union1d(np.flatnonzero(seen.told), failed)
        likeness = kernel(seen.points[[row]], seen.points[rows])[0]
        order = np.argsort(-likeness / np.sqrt(kernel.diag(seen.points[rows])), kind="stable")
        return bool(np.isin(rows[order[:_SIMILAR]], failed).all())

    def history(self) -> History:
        """Everything told, in order, without evaluations that failed."""
        seen = self.observations
        kept = np.delete(np.arange(seen.t), list(seen.stand_ins))
        rows = seen.history_rows[kept]
        return History(seen.ids[rows], seen.points[rows], seen.rewards[kept])

    def old_rows(self, batch: Any) -> Ints | None:
        """The rows of a batch if its list has been replaced since; otherwise ``None``."""
        seen = self.observations
        if not isinstance(batch, Batch) or batch.generation == seen.generation:
            return None
        if batch.rows is None or (len(batch) and batch.rows.max() >= len(seen)):
            raise ValueError("this batch belongs to another optimiser or another list")
        return batch.rows

    def asked_rows(self, space: Domain, points: Any) -> Ints:
        """The rows of a batch, or of ids or points; −1 for what was never asked for."""
        rows = self.old_rows(points)
        return self.observations.known_rows(*located(space, points)) if rows is None else rows

    def repeat(self, other: "Run", space: Domain, *, listed: bool) -> None:
        """Be told the history of another run in the same order, and expect what it expects.

        Parameters
        ----------
        other, listed
            The other run, and whether it is on a list.
        space
            What this run chooses from.
        """
        seen, own = other.observations, self.observations
        if listed and (seen.ids[seen.history_rows] < 0).any():
            raise ValueError("a history on a list that has been replaced cannot be told again")
        where = seen.ids if listed else seen.points
        if seen.t:
            rows = own.rows(*space.locate(where[seen.history_rows]))
            self.tell(rows, seen.rewards, unasked=False)
        if self.beliefs.learner is not None and other.beliefs.learner is not None:
            self.beliefs.learner.random = list(other.beliefs.learner.random)
        if seen.pending.any():
            own.ask(own.rows(*space.locate(np.repeat(where, seen.pending, axis=0))))
        own.note_failed(seen)

    # -- the list ----------------------------------------------------------------------------

    def replace_list(self, space: Candidates) -> None:
        """Ids refer to another list from now on; the history stays."""
        self.chooser.restart(space)
        self.observations.replace_list()
        self._look = None
        self.note("list replaced", length=len(space))

    def extend_list(self, space: Candidates, more: int) -> None:
        """The list has grown by ``more`` candidates at its end."""
        self.chooser.extend(space)
        self._look = None
        self.note("candidates added", candidates=more)


def located(space: Domain, points: Any) -> tuple[Ints, Points]:
    """Ids and points of what a user gave, a batch or ids or points, checked."""
    if isinstance(points, Batch):
        points = points.ids if space.listed else points.points
    return space.locate(points)


def _bad_reward(rewards: Floats) -> float:
    """The lowest reward that is no outlier: the lower whisker of a box plot."""
    low, high = np.quantile(rewards, [0.25, 0.75])
    return float(max(rewards.min(), low - 1.5 * (high - low)))


def _refutation(event: dict[str, Any], delta: float) -> str:
    """What to tell a user whose assumptions the rewards refute."""
    needed = event["smallest_norm"]
    more = "more noise or norm"
    norm = f"a norm of at least {needed:.3g}, more noise" if needed > event["norm"] else more
    return (
        f"the rewards contradict norm={event['norm']:g}: with probability {1 - delta:g} they need "
        f"{norm}, or another kernel. Bounds prove nothing from here on: raise norm or noise, or "
        "pass norm='auto'"
    )


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
    """

    settings: "Optimizer"
    parts: Parts
    rules: Rules

    @classmethod
    def of(cls, settings: "Optimizer") -> "Setup":
        """The setup of an optimiser; settings that it cannot have are refused."""
        parts = usable_parts(settings)
        return cls(settings, parts, rules_for(settings, parts))

    def renewed(self) -> "Setup":
        """The setup for another list of candidates."""
        return replace(self, rules=rules_for(self.settings, self.parts))

    def start(self) -> Run:
        """The run before anything has been asked or told."""
        beliefs, events = first_beliefs(self.settings, self.parts)
        seen, rng = Observations(self.settings.domain.nothing), np.random.default_rng
        return Run(seen, beliefs, self.parts.chooser, rng(self.settings.seed), events)

    def room(self, run: Run, plate: int | None = None) -> Room:
        """How often each candidate may be picked, now or on a plate of ``plate`` points."""
        space, repeats = self.settings.domain, self.settings.repeats
        if not space.listed:
            return Room()
        size, seen = len(space), run.observations
        if repeats is None:
            each = None if plate is None else -(-plate // max(size - len(seen.aside), 1))
            return Room(size, each=each, aside=seen.aside_ids)
        listed = np.flatnonzero(seen.ids >= 0)
        counts = (seen.told + seen.pending)[listed]
        return Room(size, repeats, seen.ids[listed], counts, aside=seen.aside_ids)

    # -- the steps of an ask -----------------------------------------------------------------

    def pick(self, run: Run, room: Room, n: int | None, *, fill: bool) -> tuple[Picks, Ints]:
        """The picks of an ask and their rows; if the ask fails, nothing stays pending."""
        picks, rows = None, np.empty(0, dtype=np.int64)
        try:
            while True:
                more = self._choose(run, room, n if n is None else n - len(rows), plate=fill)
                uniform = more.uniform or more.spread
                new = run.expect(more.ids, more.points, uniform=uniform)
                rows = np.concatenate([rows, new])
                picks = more if picks is None else picks.joined(more)
                if not fill or not len(more.ids) or n is None or len(rows) >= n:
                    return picks, rows
        except BaseException:
            run.take_back(rows)
            raise

    def _choose(self, run: Run, room: Room, n: int | None, *, plate: bool) -> Picks:
        """Uniform draws if the learner wants some or nothing is known, else the chooser's picks."""
        settings, parts, learner = self.settings, self.parts, run.beliefs.learner
        asked = run.observations.t + int(run.observations.pending.sum())
        limit = (n or _LONGEST) if settings.adaptive else (n or settings.batch_size)
        new = not run.observations.t or (learner is not None and not learner.fitted)
        if plate and parts.spreads and settings.domain.listed and new:
            return first_plate(self._situation(run, room, plate=False), settings.domain, limit)
        draws = 0 if learner is None else learner.wanted(asked)
        if not draws and not asked and parts.starts_uniformly:
            # BKB 3.1, BBKB Algorithm 1, line 1
            draws = 1 if settings.adaptive else limit
        now = self._situation(run, room, plate=plate)
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

    def _situation(self, run: Run, room: Room, *, plate: bool) -> Situation:
        """What a chooser knows when it picks the next points.

        Inside a plate deviations fall exactly with every pick and are not inflated: the picks have
        to differ, and no theorem covers the picks after the batch rule has ended its batch.
        """
        rules, frozen, rule = self.rules, self.parts.frozen, self.parts.rule
        if plate and self.settings.domain.listed:
            rules, frozen, rule = replace(rules, inflation=1.0), False, _to_the_limit(rule)
        return Situation(
            self.settings.domain,
            run.observations,
            run.beliefs,
            self.parts.view(run.beliefs, run.observations, rules, True, frozen),
            self._intersects(run.beliefs),
            rule,
            room,
            self.settings.aim,
            run.rng,
            run.events,
        )

    def look(self, run: Run, *, pending: bool) -> Situation:
        """What the chooser knows, for a look; with a generator and events of its own."""
        beliefs, seen = run.looked(self.rules), run.observations
        return Situation(
            self.settings.domain,
            seen,
            beliefs,
            self.parts.view(beliefs, seen, self.rules, pending, self.parts.frozen),
            self._intersects(beliefs),
            self.parts.rule,
            self.room(run),
            self.settings.aim,
            np.random.default_rng([int(self.settings.seed or 0), seen.t]),
            [],
        )

    def _intersects(self, beliefs: Beliefs) -> bool:
        """Whether bounds only fall."""
        bounds = self.settings.bounds
        return self.proves(beliefs) if bounds is None else bounds == "intersected"

    def proves(self, beliefs: Beliefs) -> bool:
        """Whether a theorem covers the bounds, as long as rewards do not refute the assumptions."""
        known = self.settings.domain.listed and beliefs.learner is None
        return known and self.settings.width in self.parts.proved


def _to_the_limit(rule: Callable[[Fantasy], BatchRule]) -> Callable[[Fantasy], BatchRule]:
    """A maker of rules that never end a batch, from a maker of rules that do."""
    return lambda fantasy: ToTheLimit(rule(fantasy))
