"""Who is next inside a cell of a cover? Its candidates on a list, a search in a box."""

import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.local import CellBeliefs
from noregret.models.assumptions import Assumptions
from noregret.models.cover import Cover, Key
from noregret.picking.awake import Awake
from noregret.picking.box import Search
from noregret.picking.cells import CoverBounds, Leader
from noregret.picking.chooser import Bounds
from noregret.picking.columns import LookColumns, PriorRoot, UpperColumn
from noregret.picking.lists import Current, Intersected, Sleepers
from noregret.picking.mixed import search_of
from noregret.spaces import Box, Candidates, Space

#: cells with at most so many candidates are looked at whole; those of larger ones sleep
_SHORT = 8192
#: points that the search of a cell of a box starts from, beside those told in it
_PATTERN = 64
#: a cell of a box splits into 2ᵈ
_LARGEST_DIMENSION = 10


class Inside(Protocol):
    """Finds the leader of a cell, and remembers what it needs for that."""

    def start(self, cover: Cover, assumed: Assumptions, *, intersected: bool) -> list[Key]:
        """Begin with a cover; the cells that there is something to choose in."""

    def split(self, cover: Cover, key: Key) -> list[Key]:
        """A cell has split; the cells in its place."""

    def copy(self) -> "Inside":
        """Another one, which may go its own way."""

    def look(self, view: CoverBounds, key: Key, *, keep: bool) -> Leader:
        """The leader of a cell; with ``keep``, what was seen is remembered."""

    def draw(self, view: CoverBounds, key: Key, rng: np.random.Generator) -> Any:
        """A choice in a cell that nothing is known of: one with the largest bound, at random."""

    def locate(self, choice: Any) -> tuple[int, Points]:
        """The id and the point of a choice."""

    def cap(self, key: Key, ids: Ints, upper: Floats) -> Floats:
        """Upper bounds of choices in a cell (n), no larger than the smallest so far."""

    def smallest(self) -> Floats | None:
        """The smallest upper bound so far of every candidate (A), where there are candidates."""

    def safest(self, view: CoverBounds, point: Points, rng: np.random.Generator) -> Points:
        """A choice whose lower bound is at least as large as that of a told point."""

    def restart(self, space: Any) -> None:
        """Another list."""


@dataclass(frozen=True)
class _Seen:
    """Means and √leverages of all candidates of a cell (n each), and the cell's stamp then."""

    stamp: int
    mean: Floats
    root: Floats


class InList:
    """The candidates of a list, by cell.

    State: which candidates lie in each cell, and what is known of them. Where bounds only fall that
    is the smallest bound of each so far, otherwise its mean and √leverage.

    Parameters
    ----------
    space
        The list.
    box
        What other lists must lie in, where the user said so.
    """

    def __init__(self, space: Candidates, box: Box | None) -> None:
        self.space = space
        self._box = None if box is None else box.bounds
        self._intersected = False
        self._prior: PriorRoot | None = None
        self._roots: Floats = np.empty(0)  # scale·√(k(x, x)/λ) of all candidates
        self._ids: dict[Key, Ints] = {}
        self._upper: dict[Key, Floats] = {}
        self._seen: dict[Key, _Seen] = {}
        self._sleepers: dict[Key, Current] = {}

    def restart(self, space: Candidates) -> None:
        """Another list; refused where it leaves the box that the user gave."""
        if self._box is not None:
            _check_inside(space, Box(self._box))
        self.space = space

    def copy(self) -> "InList":
        """Another one, which may go its own way."""
        made = copy.copy(self)
        made._ids, made._upper = dict(self._ids), dict(self._upper)
        made._seen, made._sleepers = dict(self._seen), dict(self._sleepers)
        return made

    def start(self, cover: Cover, assumed: Assumptions, *, intersected: bool) -> list[Key]:
        """Begin with a cover; the cells that hold candidates."""
        if intersected:  # |f(x)| ≤ ‖f‖·√k(x, x)
            self._prior = PriorRoot(assumed.kernel, scale=assumed.norm)
        else:
            self._prior = PriorRoot(assumed.kernel, lam=assumed.lam)
        self._intersected, self._roots = intersected, self._prior.of(self.space)
        self._ids = cover.members(cover.unit(self.space.at(np.arange(len(self.space)))))
        self._upper, self._seen, self._sleepers = {}, {}, {}
        return list(self._ids)

    def split(self, cover: Cover, key: Key) -> list[Key]:
        """A cell has split; the cells in its place inherit its candidates and their bounds."""
        ids, upper = self._ids.pop(key), self._upper.pop(key, None)
        self._seen.pop(key, None)
        self._sleepers.pop(key, None)
        parts = cover.divide(key, cover.unit(self.space.at(ids)))
        for half, part in parts:
            self._ids[half] = ids[part]
            if upper is not None:
                self._upper[half] = upper[part]
        return [half for half, _ in parts]

    def _stale(self, key: Key) -> Floats:
        """What is known of a cell's candidates (n) without looking: bounds, or √leverages."""
        upper = self._upper.get(key)
        return self._roots[self._ids[key]] if upper is None else upper

    def look(self, view: CoverBounds, key: Key, *, keep: bool) -> Leader:
        """The leader of a cell; with ``keep``, what was seen is remembered."""
        bounds, cell = view.of(key), view.beliefs.cells.get(key)
        if view.is_unknown(key):
            top = float(self._stale(key).max())
            if self._intersected:
                return Leader(None, top, 0.0, 0.0, 0.0, bounds.width)
            return Leader(None, bounds.width * top, 0.0, top, top, bounds.width)
        if len(self._ids[key]) > _SHORT:
            leader = self._look_at_some(key, bounds, cell, keep)
        elif self._intersected:
            leader = self._look_at_all(key, bounds, keep)
        else:
            leader = self._look_now(key, bounds, cell, key in view.waiting, keep)
        return leader if cell is None else replace(leader, log_det=cell.log_det)

    def _look_at_all(self, key: Key, bounds: Bounds, keep: bool) -> Leader:
        """The leader, where bounds only fall, from all candidates of a cell."""
        block = bounds.fantasy.block(self.space.at(self._ids[key]))
        stale = np.minimum(self._stale(key), bounds.at_start(block))
        if keep:
            self._upper[key] = stale
        root = np.sqrt(block.leverage)
        upper = np.minimum(stale, bounds.inside(block))
        return _leader(self._ids[key], upper, block.mean, root, float(root.max()), bounds)

    def _look_now(
        self, key: Key, bounds: Bounds, cell: CellBeliefs | None, waiting: bool, keep: bool
    ) -> Leader:
        """The leader by the papers' rule, from all candidates of a cell."""
        seen = self._seen.get(key)
        stamp = -1 if cell is None or waiting else cell.stamp
        if seen is None or stamp < 0 or seen.stamp != stamp:
            block = bounds.fantasy.block(self.space.at(self._ids[key]))
            seen = _Seen(stamp, block.mean, np.sqrt(block.leverage))
            if keep:
                self._seen[key] = seen
        upper, widest = seen.mean + bounds.width * seen.root, float(seen.root.max())
        return _leader(self._ids[key], upper, seen.mean, seen.root, widest, bounds)

    def _look_at_some(
        self, key: Key, bounds: Bounds, cell: CellBeliefs | None, keep: bool
    ) -> Leader:
        """The leader, from the candidates whose stale bounds come out on top."""
        ids, prior = self._ids[key], self._roots[self._ids[key]]
        assert self._prior is not None
        if self._intersected:
            stale = self._stale(key)
            sleepers: Sleepers = Intersected(UpperColumn(self._prior, stale))
            if keep:
                self._upper[key] = stale  # the column writes to it
        elif key in self._sleepers:
            sleepers = self._sleepers[key]
        else:
            nothing = np.zeros(len(ids)), prior.copy(), np.zeros(len(ids), dtype=np.int64)
            sleepers = Current(LookColumns(self._prior, prior, *nothing), self.space.nothing)
        if keep and cell is not None:
            sleepers.follow(cell.model)
        awake = Awake(sleepers, bounds, lambda where: self.space.at(ids[where]))
        at = awake.best()
        if keep:
            awake.commit(float(awake.upper[at]))
            if isinstance(sleepers, Current):
                self._sleepers[key] = sleepers
        root, one = np.sqrt(awake.block.leverage), slice(at, at + 1)
        return _leader(
            ids[awake.ids[one]], awake.upper[one], awake.block.mean[one], root[one],
            float(prior.max()), bounds,
        )  # fmt: skip

    def draw(self, view: CoverBounds, key: Key, rng: np.random.Generator) -> int:
        """A candidate of a cell that nothing is known of: one with the largest bound, at random."""
        return int(self._ids[key][one_of_the_largest(self._stale(key), rng)])

    def locate(self, choice: int) -> tuple[int, Points]:
        """The id and the point of a choice."""
        return choice, self.space.at(np.array([choice]))[0]

    def cap(self, key: Key, ids: Ints, upper: Floats) -> Floats:
        """Upper bounds of candidates in a cell (n), no larger than the smallest so far."""
        if not self._intersected:
            return upper
        return np.minimum(upper, self._stale(key)[np.searchsorted(self._ids[key], ids)])

    def smallest(self) -> Floats | None:
        """The smallest upper bound so far of every candidate (A), in any of its cells."""
        smallest = self._roots.copy()
        for key, upper in self._upper.items():
            ids = self._ids[key]
            smallest[ids] = np.minimum(smallest[ids], upper)
        return smallest

    def safest(self, view: CoverBounds, point: Points, rng: np.random.Generator) -> Points:
        """The candidate itself."""
        return point


def _leader(
    ids: Ints, upper: Floats, mean: Floats, root: Floats, widest: float, bounds: Bounds
) -> Leader:
    """The candidate with the largest of some bounds (n)."""
    at = int(np.argmax(upper))
    found = float(upper[at]), float(mean[at]), float(root[at])
    return Leader(int(ids[at]), *found, widest, bounds.width)


class InBox:
    """Searches each cell of a box or space, from a few points spread over it and those told in it.

    Parameters
    ----------
    space
        The box or space.
    seed
        Of the points spread over a cell, the same in all of them.
    """

    def __init__(self, space: Space, seed: int) -> None:
        unit = Box([(0.0, 1.0)] * space.dimension)
        self._space = space
        self._pattern = unit.spread(_PATTERN, np.random.default_rng(seed))

    def restart(self, space: Space) -> None:
        """A box or space stays as it is."""

    def copy(self) -> "InBox":
        """Itself: it remembers nothing."""
        return self

    def start(self, cover: Cover, assumed: Assumptions, *, intersected: bool) -> list[Key]:
        """Begin with a cover; all of its cells that hold points."""
        return [key for key in cover.leaves() if self._holds_points(cover, key)]

    def split(self, cover: Cover, key: Key) -> list[Key]:
        """A cell has split; the cells in its place."""
        return [half for half in cover.children(key) if self._holds_points(cover, half)]

    def _part(self, cover: Cover, key: Key) -> Space:
        return self._space.between(*cover.bounds(key))

    def _holds_points(self, cover: Cover, key: Key) -> bool:
        part = self._part(cover, key)
        return bool(np.all(part.lower <= part.upper))

    def _spread(self, cover: Cover, key: Key) -> Floats:
        low, high = cover.bounds(key)
        return self._part(cover, key).snap(low + (high - low) * self._pattern)

    def _search(self, cover: Cover, key: Key) -> Search:
        return search_of(self._part(cover, key), quick=True)

    def look(self, view: CoverBounds, key: Key, *, keep: bool) -> Leader:
        """The best point found by a search of a cell. It is not repeated for a wider width."""
        beliefs, bounds = view.beliefs, view.of(key)
        points = self._spread(beliefs.cover, key)
        if view.is_unknown(key):
            prior = float(beliefs.assumed.kernel.diag(points).max())
            root = float(np.sqrt(prior / bounds.posterior.lam))
            return Leader(None, bounds.width * root, 0.0, root, root, bounds.width)
        points = np.concatenate([points, bounds.posterior.inducing])
        point, _ = self._search(beliefs.cover, key).climb(
            lambda X: bounds.fantasy.bound(X, bounds.width),
            points,
            bounds.inside(bounds.fantasy.block(points)),
            1,
        )
        mean, leverage = bounds.evaluate(point[None])
        root = float(np.sqrt(leverage[0]))
        upper = float(mean[0]) + bounds.width * root
        cell = beliefs.cells.get(key)
        log_det = 0.0 if cell is None else cell.log_det
        return Leader(point, upper, float(mean[0]), root, root, bounds.width, log_det)

    def draw(self, view: CoverBounds, key: Key, rng: np.random.Generator) -> Floats:
        """A point of a cell that nothing is known of: one with the largest bound, at random."""
        points = self._spread(view.beliefs.cover, key)
        prior = view.beliefs.assumed.kernel.diag(points)
        return np.asarray(points[one_of_the_largest(prior, rng)])

    def locate(self, choice: Floats) -> tuple[int, Points]:
        """The id, which is −1, and the point of a choice."""
        return -1, choice

    def cap(self, key: Key, ids: Ints, upper: Floats) -> Floats:
        """The bounds themselves: none are remembered."""
        return upper

    def smallest(self) -> Floats | None:
        """There are no candidates."""
        return None

    def safest(self, view: CoverBounds, point: Points, rng: np.random.Generator) -> Points:
        """A told point moved uphill inside its cell."""
        (key, _), *_ = view.parts(point[None])
        bounds = view.of(key)
        found, _ = self._search(view.beliefs.cover, key).climb(
            lambda X: bounds.fantasy.bound(X, -bounds.width),
            point[None],
            bounds.fantasy.bound(point[None], -bounds.width)[0],
            1,
        )
        return found


def one_of_the_largest(values: Floats, rng: np.random.Generator) -> int:
    """The position of the largest value, one of them at random where several have it."""
    ties = np.flatnonzero(values == values.max())
    return int(ties[rng.integers(len(ties))] if len(ties) > 1 else ties[0])


def covered_box(space: Candidates | Space, given: Any) -> Box | None:
    """What a user gave to be covered, in place of a list's bounding box; refused on a box.

    Parameters
    ----------
    space
        The domain: a box or space, or a list of points of numbers.
    given
        A box, its bounds, or ``None``.
    """
    if isinstance(space, Space):
        if given is not None:
            raise ValueError("box must not be given: the domain is one already")
        if space.feasible is not None:
            raise ValueError(
                "domain must have no feasible=: a cell may hold no feasible point, and nothing "
                "tells which; other algorithms take it"
            )
        if space.dimension > _LARGEST_DIMENSION:
            raise ValueError(
                f"domain must be a box of at most {_LARGEST_DIMENSION} dimensions (cells split "
                f"into 2^d), got {space.dimension}; a list of points may have more"
            )
        return None
    if space.are_objects:
        raise ValueError(
            "domain must be a box or a list of points of numbers, which a box can cover; "
            f"got {space!r}"
        )
    if given is None:
        return None
    box = given if isinstance(given, Box) else Box(given)
    _check_inside(space, box)
    return box


def in_cells(space: Candidates | Space, box: Box | None, seed: int) -> Inside:
    """What chooses inside the cells; the only place that asks whether it is a list or a box."""
    return InList(space, box) if isinstance(space, Candidates) else InBox(space, seed)


def _check_inside(space: Candidates, box: Box) -> None:
    """Refuse a list that leaves a box."""
    if box.dimension != space.dimension:
        raise ValueError(
            f"box must have the candidates' {space.dimension} dimensions, got {box.dimension}"
        )
    try:
        box.locate(space.corners)
    except ValueError as error:
        raise ValueError(f"box must contain all candidates: {error}") from error
