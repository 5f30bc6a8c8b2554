"""A run: everything that changes while an optimiser runs."""

import copy
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.beliefs import Beliefs
from noregret.learning.rules import Rules
from noregret.observations import Observations
from noregret.picking.chooser import Chooser, Picks
from noregret.results import Batch, BatchInfo, History
from noregret.running.ahead import LookedAhead
from noregret.spaces import Candidates, Domain


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
    _ahead: LookedAhead | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies leave out what a look has computed."""
        return {**vars(self), "_ahead": None}

    def note(self, event: str, **details: Any) -> None:
        """Write down what was done, with the number of evaluations told."""
        self.events.append({"t": self.observations.t, "event": event, **details})

    # -- taking in what has been told --------------------------------------------------------

    def take_in(self, rules: Rules) -> None:
        """Let the model take in what has been told; called only at the start of a batch.

        If a look has done this work already, it is used. Warns if rewards refute what is assumed.
        """
        ahead = self._ahead
        if ahead is None or not ahead.is_current(self.observations):
            events = self.beliefs.take_in(self.observations, rules, self.rng)
        else:
            self.beliefs, self.rng, events = ahead.beliefs, ahead.rng, ahead.events
        self._ahead = None
        for event in events:
            self.note(**event)
            if event["event"] == "refuted":
                warnings.warn(_refutation(event, rules.delta), RuntimeWarning, stacklevel=3)

    def looked(self, rules: Rules) -> Beliefs:
        """Beliefs with everything told taken in, as the next ask will have them; a look."""
        if self.beliefs.is_current(self.observations):
            return self.beliefs
        ahead = self._ahead
        if ahead is None or not ahead.is_current(self.observations):
            beliefs, rng = copy.deepcopy((self.beliefs, self.rng))
            events = beliefs.take_in(self.observations, rules, rng)
            ahead = self._ahead = LookedAhead(self.observations.t, beliefs, rng, events)
        return ahead.beliefs

    @property
    def fitted_look(self) -> LookedAhead | None:
        """What a look has computed, if it has fitted settings; else ``None``."""
        ahead = self._ahead
        return ahead if ahead and ahead.fitted and ahead.is_current(self.observations) else None

    def use(self, ahead: LookedAhead, rules: Rules) -> None:
        """Use what a look at this run has computed, as it was read from a file."""
        ahead.beliefs.take_in(self.observations, rules, ahead.rng)  # computes what files leave out
        self._ahead = ahead

    # -- evaluations -------------------------------------------------------------------------

    def expect(self, ids: Ints, points: Points, *, uniform: bool) -> Ints:
        """Make choices pending, and give their rows (n); fits can use uniform draws."""
        rows = self.observations.rows(ids, points)
        self.observations.ask(rows)
        if self.beliefs.learner is not None and uniform:
            self.beliefs.learner.asked(rows)
            self._ahead = None  # a look's learner does not know of these draws
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
        self._ahead = None  # a look's learner still waits for these rows

    def tell(self, rows: Ints, rewards: Floats, *, unasked: bool) -> None:
        """Rewards of rows have arrived (n each)."""
        before = self.observations.t
        self.observations.tell(rows, rewards, unasked=unasked)
        if self.beliefs.learner is not None:
            self.beliefs.learner.told(before, rows)

    def history(self) -> History:
        """Everything told, in order, without evaluations that failed."""
        seen = self.observations
        kept = np.delete(np.arange(seen.t), list(seen.stand_ins))
        rows = seen.history_rows[kept]
        return History(seen.ids[rows], seen.points[rows], seen.rewards[kept])

    def batch_rows(self, batch: Any) -> Ints | None:
        """The rows of a batch of this run; ``None`` if they have to be looked up."""
        seen = self.observations
        if not isinstance(batch, Batch):
            return None
        if batch.generation == seen.generation:
            return batch.rows if seen.are_rows_of(batch.ids, batch.rows) else None
        rows = batch.rows
        if (
            rows is None
            or (len(rows) and rows.max() >= len(seen))
            or not _are_same(seen.points[rows], batch.points)
        ):
            raise ValueError("this batch belongs to another optimiser or another list")
        return rows

    def asked_rows(self, space: Domain, points: Any) -> Ints:
        """The rows of a batch, or of ids or points; −1 for what was never asked for."""
        rows = self.batch_rows(points)
        return self.observations.known_rows(*located(space, points)) if rows is None else rows

    def repeat(self, other: "Run", old: Domain, space: Domain) -> None:
        """Be told the history of another run in the same order, and expect what it expects.

        Parameters
        ----------
        other, old
            The other run, and what it chooses from.
        space
            What this run chooses from.
        """
        seen, own = other.observations, self.observations
        gone = (seen.ids < 0) & (seen.generation > 0)  # arms of a list that has been replaced
        if gone[seen.history_rows].any():
            raise ValueError("a history on a list that has been replaced cannot be told again")
        if gone[seen.pending > 0].any():
            raise ValueError(
                "points of a list that has been replaced are pending, and cannot be asked for "
                "again: cancel them first"
            )
        where = old.references(seen.ids, seen.points)
        if seen.t:
            rows = own.rows(*space.locate(where[seen.history_rows]))
            self.tell(rows, seen.rewards, unasked=False)
        if self.beliefs.learner is not None and other.beliefs.learner is not None:
            self.beliefs.learner.random = list(other.beliefs.learner.random)
        if seen.pending.any():
            own.ask(own.rows(*space.locate(np.repeat(where, seen.pending, axis=0))))
        failed = np.array(seen.failed, dtype=np.int64)
        failed = failed[~gone[failed]]
        own.note_failed(own.rows(*space.locate(where[failed])), seen)

    # -- the list ----------------------------------------------------------------------------

    def go_on(self, space: Domain) -> None:
        """Go on after the run was read from a file, with what it chooses from."""
        seen = self.observations
        rows = np.flatnonzero(seen.ids >= 0)
        if len(rows) and not _are_same(seen.points[rows], space.locate(seen.ids[rows])[1]):
            raise ValueError(
                "domain must be the run's list, in the same order: candidates that were told or "
                "asked for are other points here"
            )
        self.chooser.restart(space, keep=True)

    def replace_list(self, space: Candidates) -> None:
        """Ids refer to another list from now on; the history stays."""
        self.chooser.restart(space)
        self.observations.replace_list()
        self._ahead = None
        self.note("list replaced", length=len(space))

    def extend_list(self, space: Candidates, more: int) -> None:
        """The list has grown by ``more`` candidates at its end."""
        self.chooser.extend(space)
        self._ahead = None
        self.note("candidates added", candidates=more)


def located(space: Domain, points: Any) -> tuple[Ints, Points]:
    """Ids and points of what a user gave, a batch or ids or points, checked."""
    if isinstance(points, Batch):
        points = space.references(points.ids, points.points)
    return space.locate(points)


def _are_same(one: Points, other: Points) -> bool:
    """Whether points are the same (n each), as far as this can be known of objects."""
    if one.dtype != object or other.dtype != object:
        return np.array_equal(one, other)
    return all(a == b for a, b in zip(one, other, strict=True) if isinstance(a, str))


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
