"""Who is next inside a cell of a list? Its candidates with the largest upper bound."""

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from noregret._types import Bools, Floats, Ints, Points
from noregret.learning.local import CellBeliefs
from noregret.linalg.factors import row_norms
from noregret.models.assumptions import Assumptions
from noregret.models.cover import Cover, Key
from noregret.models.posterior import Posterior
from noregret.picking.bounds import Bounds
from noregret.picking.covers.bounds import CoverBounds, Leader, one_of_the_largest
from noregret.picking.lists.awake import Awake
from noregret.picking.lists.batch import Intersected
from noregret.picking.lists.columns import UpperColumn
from noregret.picking.lists.current import Current
from noregret.picking.lists.look_columns import LookColumns
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.sleepers import Sleepers
from noregret.spaces import Box, Candidates, Space, box_of

#: cells with at most so many candidates are looked at whole; those of larger ones sleep
_SHORT = 8192
#: up to this many numbers a cell's features are kept
_KEPT = 1 << 18
#: a cell of a box splits into 2ᵈ
_LARGEST_DIMENSION = 10


@dataclass(frozen=True)
class _Seen:
    """Means and √leverages of all candidates of a cell (n each), and the cell's stamp then."""

    stamp: int
    mean: Floats
    root: Floats


class _Embedded(NamedTuple):
    """All candidates of a cell, their features and residuals for a dictionary of a model."""

    points: Points
    dictionary: Ints
    Z: Floats
    residual: Floats


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

    compares_all = True

    def __init__(self, space: Candidates, box: Box | None) -> None:
        self.space = space
        self._box = None if box is None else box.bounds
        self._intersected = False
        self._prior: PriorRoot | None = None
        self._roots: Floats = np.empty(0)  # scale·√(k(x, x)/λ) of all candidates
        self._ids: dict[Key, Ints] = {}
        self._upper: dict[Key, Floats] = {}
        self._seen: dict[Key, _Seen] = {}
        self._sleepers: dict[Key, Sleepers] = {}
        self._embedded: dict[Key, _Embedded] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies leave out features, which are computed again."""
        return {**vars(self), "_embedded": {}}

    def first(self) -> tuple[int, Points]:
        """The first candidate, recommended before anything is told: its id and point."""
        return self.locate(0)

    def are_choices(self, ids: Ints) -> Bools:
        """Which arms are candidates of this list (n)."""
        return ids >= 0

    def restart(self, space: Candidates) -> None:
        """Another list; refused where it leaves the box that the user gave."""
        if self._box is not None:
            _check_inside(Box(self._box), space)
        self.space = space

    def extend(self, cover: Cover) -> list[Key]:
        """Take in new candidates, whose bounds start from the prior; those of others stay."""
        if self._prior is None or len(self._roots) == len(self.space):
            return []
        new = np.arange(len(self._roots), len(self.space))
        self._roots = np.concatenate([self._roots, self._prior.of(self.space, len(self._roots))])
        changed = cover.members(cover.unit(self.space.at(new)))
        for key, inside in changed.items():
            ids = new[inside]
            if key in self._upper:
                self._upper[key] = np.concatenate([self._upper[key], self._roots[ids]])
            self._ids[key] = np.concatenate([self._ids.get(key, ids[:0]), ids])
            self._forget(key)
        return list(changed)

    def copy(self) -> "InList":
        """A copy; changes of one do not reach the other."""
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
        self._upper, self._seen, self._sleepers, self._embedded = {}, {}, {}, {}
        return list(self._ids)

    def split(self, cover: Cover, key: Key) -> list[Key]:
        """A cell has split; the cells in its place inherit its candidates and their bounds."""
        ids, upper = self._ids.pop(key), self._upper.pop(key, None)
        self._forget(key)
        parts = cover.divide(key, cover.unit(self.space.at(ids)))
        for half, part in parts:
            self._ids[half] = ids[part]
            if upper is not None:
                self._upper[half] = upper[part]
        return [half for half, _ in parts]

    def _forget(self, key: Key) -> None:
        """What was seen of a cell is of no use any more."""
        for known in (self._seen, self._sleepers, self._embedded):
            known.pop(key, None)

    def _stale(self, key: Key) -> Floats:
        """What is known of a cell's candidates (n) without looking: bounds, or √leverages."""
        upper = self._upper.get(key)
        return self._roots[self._ids[key]] if upper is None else upper

    def look(
        self, view: CoverBounds, key: Key, closed: Ints, width: float | None, *, keep: bool
    ) -> Leader:
        """The leader of a cell without the candidates that are closed (ids in rising order).

        ``width`` is given where it grows with time. With ``keep``, what was seen is remembered. A
        cell that is closed has a bound of −∞.
        """
        shut, size = self._shut(key, closed), len(self._ids[key])
        if width is None:
            width = view.width_in(key)
        if len(shut) == size:
            return Leader(None, -np.inf, -np.inf, 0.0, 0.0, width)
        if view.is_unknown(key):
            top = float(_without(self._stale(key), shut).max())
            if self._intersected:
                return Leader(None, top, 0.0, 0.0, 0.0, width)
            return Leader(None, width * top, 0.0, top, top, width)
        if size > _SHORT:
            return self._look_at_some(key, view.of(key), view.beliefs.cells.get(key), shut, keep)
        if self._intersected:
            return self._look_at_all(key, view.of(key), shut, keep)
        seen = self._now(view, key, keep)
        upper = _without(seen.mean + width * seen.root, shut)
        widest = float(seen.root.max())
        return _leader(self._ids[key], upper, seen.mean, seen.root, widest, width)

    def _shut(self, key: Key, closed: Ints) -> Ints:
        """Which candidates of a cell are closed (positions)."""
        if not len(closed):
            return closed
        return np.flatnonzero(np.isin(self._ids[key], closed))

    def _look_at_all(self, key: Key, bounds: Bounds, shut: Ints, keep: bool) -> Leader:
        """The leader, where bounds only fall, from all candidates of a cell."""
        block = bounds.fantasy.block(self.space.at(self._ids[key]))
        stale = np.minimum(self._stale(key), bounds.at_start(block))
        if keep:
            self._upper[key] = stale
        root = np.sqrt(block.leverage)
        upper = _without(np.minimum(stale, bounds.inside(block)), shut)
        return _leader(self._ids[key], upper, block.mean, root, float(root.max()), bounds.width)

    def _now(self, view: CoverBounds, key: Key, keep: bool) -> _Seen:
        """What is known of all candidates of a cell now, for the papers' rule."""
        cell, seen = view.beliefs.cells.get(key), self._seen.get(key)
        if cell is None or key in view.waiting:
            mean, leverage = view.of(key).evaluate(self.space.at(self._ids[key]))
            return _Seen(-1, mean, np.sqrt(leverage))
        if seen is None or seen.stamp != cell.stamp:
            posterior = cell.model.posterior()
            known = self._features(key, cell.model.dictionary, posterior, keep)
            leverage = known.residual / posterior.lam + row_norms(posterior.coordinates(known.Z))
            seen = _Seen(cell.stamp, np.asarray(known.Z @ posterior.theta), np.sqrt(leverage))
            if keep:
                self._seen[key] = seen
        return seen

    def _features(self, key: Key, dictionary: Ints, posterior: Posterior, keep: bool) -> _Embedded:
        """Features of all candidates of a cell; they stay until its model replaces the array."""
        known = self._embedded.get(key)
        if known is None or known.dictionary is not dictionary:
            points = self.space.at(self._ids[key]) if known is None else known.points
            Z = posterior.embed(points)
            known = _Embedded(points, dictionary, Z, posterior.residual(Z, points))
            if keep and Z.size <= _KEPT:
                self._embedded[key] = known
        return known

    def _look_at_some(
        self, key: Key, bounds: Bounds, cell: CellBeliefs | None, shut: Ints, keep: bool
    ) -> Leader:
        """The leader, from the candidates whose stale bounds come out on top."""
        ids, prior = self._ids[key], self._roots[self._ids[key]]
        assert self._prior is not None
        if self._intersected:
            sleepers: Sleepers = Intersected(UpperColumn(self._prior, self._stale(key)))
        elif key in self._sleepers:
            sleepers = self._sleepers[key]
        else:
            nothing = np.zeros(len(ids)), prior.copy(), np.zeros(len(ids), dtype=np.int64)
            sleepers = Current(LookColumns(self._prior, prior, *nothing), self.space.nothing)

        def points(where: Ints) -> Points:
            return self.space.at(ids[where])

        if keep and cell is not None:
            sleepers.follow(cell.model, points)
        awake = Awake(sleepers, bounds, points, shut)
        at = awake.best()
        assert at is not None  # some candidate is open
        if keep:
            awake.commit(float(awake.upper[at]))
            if sleepers.intersects:
                self._upper[key] = sleepers.all_stale()
            else:
                self._sleepers[key] = sleepers
        root, one = np.sqrt(awake.block.leverage), slice(at, at + 1)
        return _leader(
            ids[awake.ids[one]], awake.upper[one], awake.block.mean[one], root[one],
            float(prior.max()), bounds.width,
        )  # fmt: skip

    def draw(self, view: CoverBounds, key: Key, closed: Ints, rng: np.random.Generator) -> int:
        """A candidate of a cell that nothing is known of: one with the largest bound, at random."""
        stale = _without(self._stale(key), self._shut(key, closed))
        return int(self._ids[key][one_of_the_largest(stale, rng)])

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


def _without(upper: Floats, shut: Ints) -> Floats:
    """Bounds of candidates (n), −∞ for those that are closed (positions)."""
    if not len(shut):
        return upper
    upper = upper.copy()
    upper[shut] = -np.inf
    return upper


def _leader(
    ids: Ints, upper: Floats, mean: Floats, root: Floats, widest: float, width: float
) -> Leader:
    """The candidate with the largest of some bounds (n)."""
    at = int(np.argmax(upper))
    found = float(upper[at]), float(mean[at]), float(root[at])
    return Leader(int(ids[at]), *found, widest, width)


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
    box = box_of(given)
    _check_inside(box, space)
    return box


def _check_inside(box: Box, space: Candidates) -> None:
    """Refuse a list that leaves a box."""
    if box.dimension != space.dimension:
        raise ValueError(
            f"box must have the candidates' {space.dimension} dimensions, got {box.dimension}"
        )
    try:
        box.locate(space.corners)
    except ValueError as error:
        raise ValueError(f"box must contain all candidates: {error}") from error
