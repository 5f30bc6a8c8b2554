"""Who is next on a cover? Bounds of cells, and the choice on top of each.

A point has a bound in every cell that it lies in; several do where it is on a common face. Of every
cell the choice with the largest bound is kept, its *leader*. A cell is looked at again only when
evaluations were told or are pending in it, or when its growing width may have changed the leader
(π-GP-UCB, "Practical considerations").
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.cells import CoverBeliefs
from noregret.learning.rules import Rules
from noregret.models.cover import Key
from noregret.models.fantasy import Fantasy
from noregret.observations import Observations
from noregret.picking.bounds import Bounds

#: how often each point is pending, by cell
Waiting = dict[Key, dict[tuple[float, ...], int]]


class CoverBounds:
    """How upper and lower bounds are computed now, in every cell.

    Parameters
    ----------
    beliefs
        What is believed of the cells.
    rules
        What the algorithm decides about widths.

    Attributes
    ----------
    waiting
        What is pending, by cell.
    """

    def __init__(self, beliefs: CoverBeliefs, rules: Rules) -> None:
        self.beliefs = beliefs
        self.waiting: Waiting = {}
        self._rules = rules
        self._known: dict[Key, Bounds] = {}
        self._unknown: dict[int, Bounds] = {}  # of cells where nothing is told or pending, by level

    def expect(self, point: Points, count: int = 1) -> list[Key]:
        """Count pending evaluations of a point; the cells that it lies in."""
        cover, name = self.beliefs.cover, tuple(point.tolist())
        keys = cover.cells_of(cover.unit(point))
        for key in keys:
            inside = self.waiting.setdefault(key, {})
            inside[name] = inside.get(name, 0) + count
            self._known.pop(key, None)
        return keys

    def is_unknown(self, key: Key) -> bool:
        """Whether nothing is told or pending in a cell."""
        return key not in self.beliefs.cells and key not in self.waiting

    def of(self, key: Key) -> Bounds:
        """The bounds in a cell."""
        if self.is_unknown(key):
            if key[0] not in self._unknown:
                self._unknown[key[0]] = self._made(key)
            return self._unknown[key[0]]
        if key not in self._known:
            self._known[key] = self._made(key)
        return self._known[key]

    def _made(self, key: Key) -> Bounds:
        beliefs = self.beliefs
        cell = beliefs.cell(key, self._rules)
        waiting = self.waiting.get(key, {})
        points = np.array(list(waiting), dtype=np.float64).reshape(-1, beliefs.cover.dimension)
        fantasy = Fantasy(cell.model.posterior(), points, np.array(list(waiting.values())))
        widths = beliefs.widths(cell, self._rules)
        trace, version = cell.model.trace(), cell.model.version
        return Bounds(fantasy, widths, trace=trace, version=version)

    @property
    def width(self) -> float:
        """The largest factor of √leverage of the cells, for the first λ."""
        beliefs, rules = self.beliefs, self._rules
        if self.grows:
            log_dets = [cell.log_det for cell in beliefs.cells.values()]
            return float(self.widths_now(np.array([*log_dets, 0.0])).max())
        widths = [float(beliefs.widths(cell, rules)[0]) for cell in beliefs.cells.values()]
        first = (beliefs.cover.least, *([0] * beliefs.cover.dimension))
        return max([*widths, float(beliefs.widths(beliefs.cell(first, rules), rules)[0])])

    @property
    def grows(self) -> bool:
        """Whether widths grow with time, also where nothing is told."""
        return self.beliefs.how.by_time

    def width_in(self, key: Key) -> float:
        """The factor of √leverage in a cell, for the first λ."""
        cell = self.beliefs.cells.get(key)
        if cell is None:
            return self.of(key).width
        return float(self.beliefs.widths(cell, self._rules)[0])

    def log_det(self, key: Key) -> float:
        """log det(I + K/λ) of a cell."""
        cell = self.beliefs.cells.get(key)
        return 0.0 if cell is None else cell.log_det

    def widths_now(self, log_dets: Floats) -> Floats:
        """The widths for the first λ of cells with these log det(I + K/λ), where they grow (n)."""
        return self.beliefs.widths_now(log_dets, self._rules)

    def parts(self, points: Points) -> Iterable[tuple[Key, Ints]]:
        """The cells that points (n × d) lie in, and which those are."""
        cover = self.beliefs.cover
        return cover.members(cover.unit(points)).items()

    def evaluate(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and leverage of points (n each), pending evaluations counted in the latter.

        On a common face the cell with the smallest variance is used. Only told evaluations count
        for this choice, because pending ones must not change the mean.
        """
        mean, leverage = np.zeros(len(points)), np.zeros(len(points))
        smallest = np.full(len(points), np.inf)
        for key, inside in self.parts(points):
            block = self.of(key).fantasy.block(points[inside])
            better = block.told < smallest[inside]
            which = inside[better]
            smallest[which] = block.told[better]
            mean[which], leverage[which] = block.mean[better], block.leverage[better]
        return mean, leverage

    def upper(self, points: Points) -> Floats:
        """UCB_t of points (n): the largest bound of the cells that they lie in."""
        upper = np.full(len(points), -np.inf)
        for key, inside in self.parts(points):
            bounds = self.of(key)
            block = bounds.fantasy.block(points[inside])
            found = np.minimum(bounds.at_start(block), bounds.inside(block))
            upper[inside] = np.maximum(upper[inside], found)
        return upper


def cover_bounds(
    beliefs: CoverBeliefs, observations: Observations, rules: Rules, pending: bool, frozen: bool
) -> CoverBounds:
    """The bounds on a cover, with what is pending or without."""
    found = CoverBounds(beliefs, rules)
    for row in np.flatnonzero(observations.pending if pending else []).tolist():
        found.expect(observations.points[row], int(observations.pending[row]))
    return found


class Leader(NamedTuple):
    """The choice with the largest bound in a cell, when the cell was last looked at.

    Attributes
    ----------
    choice
        An id, or a point of a box; ``None`` where nothing is known of the cell, so that the choice
        is drawn when its turn comes.
    upper
        Its bound.
    mean, root
        Its mean and √leverage.
    widest
        A bound on √leverage in the whole cell.
    width
        The factor of √leverage.
    """

    choice: Any
    upper: float
    mean: float
    root: float
    widest: float
    width: float


class Growing(Protocol):
    """Widths that grow with time."""

    def log_det(self, key: Key) -> float:
        """log det(I + K/λ) of a cell."""

    def widths_now(self, log_dets: Floats) -> Floats:
        """The widths of cells with these log det(I + K/λ) (n)."""


class Leaders:
    """The leader of every cell, found again only where it may have changed."""

    def __init__(self, keys: list[Key]) -> None:
        self._keys: list[Key] = []
        self._slot: dict[Key, int] = {}
        self._choices: list[Any] = []
        # Of each leader what it holds from ``upper`` on, and log det(I + K/λ) of its cell.
        self._numbers: Floats = np.empty((0, 6))
        self._stale: set[Key] = set()
        self.add(keys)

    def copy(self) -> "Leaders":
        """Others that start from the same cells."""
        made = Leaders([])
        made._keys, made._slot = list(self._keys), dict(self._slot)
        made._choices, made._numbers = list(self._choices), self._numbers.copy()
        made._stale = set(self._stale)
        return made

    @property
    def keys(self) -> list[Key]:
        """The cells."""
        return self._keys

    def __contains__(self, key: Key) -> bool:
        return key in self._slot

    def add(self, keys: list[Key]) -> None:
        """More cells."""
        if not keys:
            return
        self._slot |= {key: len(self._keys) + i for i, key in enumerate(keys)}
        self._keys += keys
        self._choices += [None] * len(keys)
        self._numbers = np.concatenate([self._numbers, np.zeros((len(keys), 6))])
        self._stale.update(keys)

    def split(self, key: Key, halves: list[Key]) -> None:
        """Put others in the place of a cell."""
        slot = self._slot.pop(key)
        self._stale.discard(key)
        self._keys[slot] = halves[0]
        self._slot[halves[0]] = slot
        self._stale.add(halves[0])
        self.add(halves[1:])

    def look_again(self, keys: Iterable[Key]) -> None:
        """Something has changed in these cells."""
        self._stale.update(key for key in keys if key in self._slot)

    def best(
        self,
        look: Callable[[Key, float | None], Leader],
        growing: Growing | None,
        rng: np.random.Generator,
    ) -> tuple[Key, Leader]:
        """The cell with the largest bound, one of them at random where several have it.

        A cell's largest bound is convex in the width, with slopes up to its largest √leverage. So
        where widths grow, a kept leader's own bound is too low by no more than
        (width − kept width)·(widest − root), and a cell is looked at again only where that matters.

        Parameters
        ----------
        look
            Finds the leader of a cell, for its width where that grows with time.
        growing
            Gives the widths, where they grow with time.
        """
        upper, mean, root, widest, width, log_det = self._numbers.T
        stale = sorted(self._stale)
        if growing is None:
            for key in stale:
                self._put(self._slot[key], look(key, None))
            slack = np.zeros(len(upper))
        else:
            for key in stale:
                log_det[self._slot[key]] = growing.log_det(key)
            now = growing.widths_now(log_det)
            for key in stale:
                slot = self._slot[key]
                self._put(slot, look(key, float(now[slot])))
            upper[:] = mean + now * root
            slack = (now - width) * (widest - root)
        self._stale.clear()
        while True:
            top = float(upper.max())
            doubtful = np.flatnonzero((slack > 0.0) & (upper + slack >= top))
            if not len(doubtful):
                break
            slot = int(doubtful[np.argmax(upper[doubtful] + slack[doubtful])])
            self._put(slot, look(self._keys[slot], float(now[slot])))
            slack[slot] = 0.0
        ties = np.flatnonzero(upper == top)
        slot = int(ties[rng.integers(len(ties))] if len(ties) > 1 else ties[0])
        return self._keys[slot], Leader(self._choices[slot], *self._numbers[slot, :5].tolist())

    def _put(self, slot: int, leader: Leader) -> None:
        self._choices[slot], self._numbers[slot, :5] = leader[0], leader[1:]


def one_of_the_largest(values: Floats, rng: np.random.Generator) -> int:
    """The position of the largest value, one of them at random where several have it."""
    ties = np.flatnonzero(values == values.max())
    return int(ties[rng.integers(len(ties))] if len(ties) > 1 else ties[0])
