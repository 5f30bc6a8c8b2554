"""Who is next? The contract of a chooser, and what it knows when it chooses."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.batching import BatchRule
from noregret.learning.beliefs import Beliefs, Rules
from noregret.models.posterior import Block, Fantasy, Posterior
from noregret.observations import Observations
from noregret.picking.room import Room
from noregret.spaces import Domain
from noregret.widths.evidence import FixedWidth

#: how many coordinates of points, for all λ together, are computed at a time
_NUMBERS = 1 << 18
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
    """A choice with its bounds, as the model sees rewards; ``highest`` bounds every choice."""

    id: int
    point: Points
    mean: float
    lower: float
    upper: float
    highest: float


@dataclass(frozen=True)
class Bounds:
    """How upper and lower bounds are computed now.

    Attributes
    ----------
    fantasy
        The posterior, with what is pending.
    widths
        Factors of √leverage, for the first λ alone (1) or for every λ (g).
    inflation
        The factor of deviations inside a batch: √C̃ if the width is proved.
    trace
        tr R: the prior variance of the evaluations that the dictionary leaves out.
    weight
        Of the mean in the bounds: 0 to go where the deviation is largest.
    version
        Which posterior it is.
    """

    fantasy: Fantasy
    widths: Floats
    inflation: float = 1.0
    trace: float = 0.0
    weight: float = 1.0
    version: int = 0

    @property
    def posterior(self) -> Posterior:
        """What is believed from evaluations told."""
        return self.fantasy.posterior

    @cached_property
    def width(self) -> float:
        """The factor of √leverage for the first λ."""
        return float(self.widths[0])

    def evaluate(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and leverage of points (n each), pending evaluations counted."""
        return self.fantasy.evaluate(points)

    def upper(self, points: Points) -> Floats:
        """Upper bounds of points (n) from what has been told only."""
        return self.at_start(self.fantasy.block(points))

    def inside(self, block: Block) -> Floats:
        """Upper bounds of a block inside the batch (n): mean + inflated width·√leverage now."""
        upper = np.sqrt(block.leverage)
        upper *= self.inflation * self.width
        upper += block.mean if self.weight == 1.0 else self.weight * block.mean
        return upper

    def inside_one(self, mean: float, leverage: float) -> float:
        """The same for one candidate."""
        return self.weight * mean + self.inflation * self.width * math.sqrt(leverage)

    def at_start(self, block: Block) -> Floats:
        """Upper bounds of a block from what has been told only, the smallest of all λ (n)."""
        upper = self.weight * block.mean + self.width * np.sqrt(block.told)
        if len(self.widths) > 1:
            residual = self.posterior.residual(block.Z, block.points)
            means, radii = self._intervals(block.Z, residual, first=1)
            upper = np.minimum(upper, (means + radii).min(axis=0))
        return np.asarray(upper)

    def lower(self, Z: Floats, residual: Floats) -> Floats:
        """Lower bounds of arms with these features and residuals, the largest of all λ (n)."""
        means, radii = self._intervals(Z, residual)
        return np.asarray((means - radii).max(axis=0))

    def _intervals(self, Z: Floats, residual: Floats, first: int = 0) -> tuple[Floats, Floats]:
        """Means and radii of points with these features, from the ``first`` λ on (g × n each)."""
        posterior, last = self.posterior, len(self.widths)
        roots, thetas = posterior.roots[first:last], posterior.thetas[first:last]
        leverage = residual / np.array(posterior.lams[first:last])[:, None]
        step = max(_NUMBERS // max(len(roots) * posterior.size, 1), 1)
        for start in range(0, len(Z), step):
            b = Z[start : start + step] @ roots
            leverage[:, start : start + step] += np.einsum("gij,gij->gi", b, b)
        return thetas @ Z.T, self.widths[first:last, None] * np.sqrt(leverage)


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


def gp_bounds(
    beliefs: Beliefs, observations: Observations, rules: Rules, pending: bool, frozen: bool
) -> Bounds:
    """The bounds of one GP, with what is pending or without."""
    rows = np.flatnonzero(observations.pending if pending else [])
    fantasy = Fantasy(
        beliefs.model.posterior(),
        observations.points[rows],
        observations.pending[rows],
        frozen=frozen,
    )
    if isinstance(rules.width, FixedWidth):
        widths = np.array([rules.width.factor(beliefs.model.lam)])
    else:
        widths, _ = rules.widths(beliefs.evidence(observations, rules))
    trace, version = beliefs.model.trace(), beliefs.model.version
    return Bounds(fantasy, widths, rules.inflation, trace=trace, version=version)


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
