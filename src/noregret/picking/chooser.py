"""Who is next? The contract of a chooser, and what it knows when it chooses."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.batching import BatchRule
from noregret.learning.beliefs import Beliefs
from noregret.models.fantasy import Fantasy
from noregret.observations import Observations
from noregret.picking.bounds import Bounds
from noregret.picking.lists.room import Room
from noregret.spaces import Domain

#: points predicted at a time
_PIECE = 8192
#: told points with the largest means from which a search of a box starts too
_ANCHORS = 5


@dataclass(frozen=True)
class Picks:
    """What a chooser picked.

    Attributes
    ----------
    ids, points
        The choices (n each); ids are −1 on a box.
    upper
        The bound of each when it was picked (n), as the model sees rewards.
    width
        The factor of √leverage in use.
    ratio
        The bound on the ratio of variances that the batch reached.
    uniform
        Whether the choices were drawn uniformly at random.
    spread
        Whether they were spread over the list before anything was known.
    """

    ids: Ints
    points: Points
    upper: Floats
    width: float
    ratio: float = 1.0
    uniform: bool = False
    spread: bool = False

    def joined(self, other: "Picks") -> "Picks":
        """These picks and more of them."""
        return Picks(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.points, other.points]),
            np.concatenate([self.upper, other.upper]),
            self.width,
            max(self.ratio, other.ratio),
        )


@dataclass(frozen=True)
class Interval:
    """A choice with its bounds, as the model sees rewards."""

    id: int
    point: Points
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Situation:
    """What a chooser knows when it chooses, or when somebody looks.

    Attributes
    ----------
    space
        What may be chosen.
    observations
        What has been seen.
    beliefs
        The model of it, up to date.
    bounds
        How bounds are computed now, pending evaluations counted.
    intersected
        Whether bounds only fall.
    rule
        Makes the rule that ends a batch starting here.
    room
        How often each candidate may be picked.
    aim
        How many of the best candidates are looked for.
    rng
        Source of randomness; of its own for a look.
    events
        Where to write down what was done on the way.
    once
        Whether no point of a box is to be picked twice: there is no noise, so that a second
        evaluation would say nothing. On a list ``room`` says how often.
    """

    space: Domain
    observations: Observations
    beliefs: Beliefs
    bounds: Bounds
    intersected: bool
    rule: Callable[[Fantasy], BatchRule]
    room: Room
    aim: int
    rng: np.random.Generator
    events: list[dict[str, Any]]
    once: bool

    def note(self, event: str, **details: Any) -> None:
        """Write down what was done on the way."""
        self.events.append({"t": self.observations.t, "event": event, **details})

    @property
    def beta(self) -> float:
        """The width in use: bounds are mean ± beta · std."""
        return self.bounds.width / math.sqrt(self.beliefs.assumed.lam)

    @property
    def told(self) -> Ints:
        """The rows of the arms told."""
        return np.flatnonzero(self.observations.told)

    @property
    def listed(self) -> Ints:
        """The rows of those that are candidates of the list."""
        rows = self.told
        return rows[self.observations.ids[rows] >= 0]


class Chooser(Protocol):
    """Picks the next choices of an algorithm, and remembers what it needs between batches.

    What a chooser remembers is saved with the run: arrays, numbers, and objects made of them.
    """

    @property
    def follows_aim(self) -> bool:
        """Whether picks depend on ``now.aim``: the best k candidates are looked for, not one."""

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here, at most ``limit``.

        Every pick is taken from ``now.room``. There is at least one while the room is not empty.
        """

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The choices to recommend, best first; a look that changes nothing."""

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some ranked choices any other can be (k); a look."""

    def proves_gaps(self, now: Situation) -> bool:
        """Whether these gaps are proved if a theorem covers the width; a look."""

    def alive(self, now: Situation) -> int | None:
        """How many choices can still be the best, where that is known; a look."""

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates but some, −∞ where nothing is left; a look."""

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each), as the model sees rewards; a look."""

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list of candidates, or with ``keep`` the same one after a run was loaded."""

    def extend(self, space: Any) -> None:
        """The list has grown at its end: what is known of the old candidates stays.

        Refused before anything changes where the chooser cannot do that.
        """


def gp_predict(now: Situation, points: Points) -> tuple[Floats, Floats]:
    """Mean and variance of points (n each), a piece at a time."""
    mean, leverage = np.empty(len(points)), np.empty(len(points))
    for start in range(0, len(points), _PIECE):
        part = slice(start, start + _PIECE)
        mean[part], leverage[part] = now.bounds.evaluate(points[part])
    return mean, now.beliefs.assumed.lam * leverage


def uniform_choices(now: Situation, count: int) -> tuple[Ints, Points]:
    """Ids and points (n each) of uniform draws from what may be picked, which are taken."""
    if not now.room.limited:
        return now.space.sample(count, now.rng)
    return now.space.locate(now.room.draw(count, now.rng))


def uniform_picks(now: Situation, count: int) -> Picks:
    """Uniform draws, with their bounds."""
    ids, points = uniform_choices(now, count)
    return Picks(ids, points, now.bounds.upper(points), now.bounds.width, uniform=True)


def spread_picks(now: Situation, first: int, count: int, rng: np.random.Generator) -> Picks:
    """Points of a Sobol sequence of a space from its ``first`` on, with their bounds.

    Each is a uniform draw by itself; together they leave no gaps. A generator in the same state
    gives the same sequence. Uniform draws where the sequence finds too few feasible points.
    """
    points = now.space.spread(first + count, rng)[first:]
    if len(points) < count:
        return uniform_picks(now, count)
    ids = np.full(len(points), -1, dtype=np.int64)
    return Picks(ids, points, now.bounds.upper(points), now.bounds.width, uniform=True)


def best_told(now: Situation) -> Floats:
    """The told points with the largest means: where a search of a box starts as well (k × d)."""
    rows = now.told
    best = rows[np.argsort(-now.beliefs.model.mean(rows), kind="stable")[:_ANCHORS]]
    return np.asarray(now.observations.points[best])
