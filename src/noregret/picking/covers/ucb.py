"""Who is next? The largest upper bound of all cells of a cover."""

import copy
from typing import Any, cast

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.local import CellBeliefs
from noregret.models.cover import Cell, Key
from noregret.picking.chooser import Interval, Picks, Situation
from noregret.picking.covers.bounds import CoverBounds, Leader, Leaders, Waiting
from noregret.picking.covers.boxes import InBox
from noregret.picking.covers.lists import InList
from noregret.picking.lists.room import NOBODY
from noregret.spaces import Box, Candidates, Space


def in_cells(space: Candidates | Space, box: Box | None, seed: int) -> InList | InBox:
    """What finds the leader of a cell, the best choice inside it, of a list or a box."""
    return InList(space, box) if isinstance(space, Candidates) else InBox(space, seed)


class CoverUCB:
    """The largest upper bound of all cells.

    State: the leader of every cell, and the largest lower bound of every arm so far.

    Parameters
    ----------
    inside
        Finds the leader of a cell.
    """

    follows_aim = False

    def __init__(self, inside: InList | InBox) -> None:
        self._inside = inside
        self._leaders: Leaders | None = None
        self._lower: Floats = np.empty(0)  # by row of the observations
        self._intersected = False
        # What the leaders rest on: versions of the beliefs, the cells that have split (how many,
        # and up to which level all of them), and what was pending.
        self._version = -1
        self._stamp = -1
        self._splits = (0, 0)
        self._waiting: Waiting = {}
        self._closed: Ints = NOBODY  # candidates that the leaders leave out

    def extend(self, space: Any) -> None:
        """The list has grown at its end: new candidates start from the prior bound."""
        self._inside.restart(space)

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list, whose bounds start from the prior; the same list with ``keep``."""
        self._inside.restart(space)
        if not keep:
            self._leaders = None

    # -- choosing ----------------------------------------------------------------------------

    def choose(self, now: Situation, limit: int) -> Picks:
        """The largest bounds, one after the other; deviations follow what has been picked."""
        view = _view(now)
        leaders = self._follow(view, now.intersected)
        self._raise_lower(view, now)
        self._leave_out(now, leaders, now.room.closed)
        ids, points, upper, widths = [], [], [], []
        while True:
            key, leader = self._best(view, leaders, now.rng, keep=True)
            if leader.upper == -np.inf:  # no candidate may be picked any more
                break
            choice = leader.choice
            if choice is None:
                choice = self._inside.draw(view, key, self._closed, now.rng)
            id_, point = self._inside.locate(choice)
            now.room.take(id_)
            self._closed = now.room.closed
            ids.append(id_)
            points.append(point)
            upper.append(leader.upper)
            widths.append(leader.width)
            if len(ids) >= limit:
                break
            leaders.look_again(view.expect(point))
        self._waiting = view.waiting
        if not ids:
            return Picks(NOBODY, now.space.nothing, np.empty(0), now.bounds.width)
        return Picks(np.array(ids), np.array(points), np.array(upper), max(widths))

    def _leave_out(self, now: Situation, leaders: Leaders, closed: Ints) -> None:
        """Let the leaders leave out these candidates, and no others."""
        before, self._closed = self._closed, closed
        if len(before) or len(closed):
            changed = np.setxor1d(closed, before, assume_unique=True)
            _, points = now.space.locate(changed)
            leaders.look_again(key for key, _ in _view(now).parts(points))

    def _best(
        self, view: CoverBounds, leaders: Leaders, rng: np.random.Generator, *, keep: bool
    ) -> tuple[Key, Leader]:
        grows = view.grows and not self._intersected
        return leaders.best(
            lambda key, width: self._inside.look(view, key, self._closed, width, keep=keep),
            view if grows else None,
            rng,
        )

    def _follow(self, view: CoverBounds, intersected: bool) -> Leaders:
        """The leaders, those out of date marked as such."""
        beliefs, cover = view.beliefs, view.beliefs.cover
        leaders = self._leaders
        splits = (len(cover.splits), cover.least)
        if leaders is None or (self._version, self._intersected) != (beliefs.version, intersected):
            keys = self._inside.start(cover, beliefs.assumed, intersected=intersected)
            leaders = self._leaders = Leaders(keys)
            self._lower = np.empty(0)
            self._closed = NOBODY
        else:
            if splits != self._splits:
                for key in [key for key in leaders.keys if cover.is_split(key)]:
                    self._split(view, leaders, key)
            grown = self._inside.extend(cover)
            leaders.add([key for key in grown if key not in leaders])
            leaders.look_again(grown)
            leaders.look_again([cell.key for cell in self._changed(view)])
            now, before = view.waiting, self._waiting
            leaders.look_again([key for key in now | before if now.get(key) != before.get(key)])
        self._version, self._intersected = beliefs.version, intersected
        self._splits, self._waiting = splits, view.waiting
        return leaders

    def _changed(self, view: CoverBounds) -> list[CellBeliefs]:
        """The cells that rewards have been taken in for since; they come last."""
        changed = []
        for cell in reversed(view.beliefs.cells.values()):
            if cell.stamp <= self._stamp:
                break
            changed.append(cell)
        return changed

    def _split(self, view: CoverBounds, leaders: Leaders, key: Key) -> None:
        cover = view.beliefs.cover
        halves = self._inside.split(cover, key)
        leaders.split(key, halves)
        for half in halves:
            if cover.is_split(half):
                self._split(view, leaders, half)

    def _raise_lower(self, view: CoverBounds, now: Situation) -> None:
        """Keep the largest lower bound so far of the arms whose rewards came in last."""
        if now.intersected:
            grown = np.full(len(now.observations), -np.inf)
            grown[: len(self._lower)] = self._lower
            for cell in self._changed(view):
                at = np.flatnonzero(np.isin(cell.rows, view.beliefs.latest))
                rows = cell.rows[at]
                grown[rows] = np.maximum(grown[rows], _lower(view, cell, at))
            self._lower = grown
        self._stamp = view.beliefs.stamp

    # -- looking -----------------------------------------------------------------------------

    def _looking(self, now: Situation) -> "CoverUCB":
        """A copy that is up to date; what it finds is not remembered."""
        made = copy.copy(self)
        made._inside = self._inside.copy()
        made._leaders = None if self._leaders is None else self._leaders.copy()
        made._follow(_view(now), now.intersected)
        return made

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some choices any choice can be (k)."""
        looking = self._looking(now)
        assert looking._leaders is not None
        highest = looking._best(_view(now), looking._leaders, now.rng, keep=False)[1].upper
        if len(looking._closed):
            upper = looking._upper(now, *now.space.locate(looking._closed))
            highest = max(highest, float(upper.max()))
        return np.array([max(highest, one.upper) - one.lower for one in found])

    def proves_gaps(self, now: Situation) -> bool:
        """Whether gaps are proved: a list is compared whole, a box is searched."""
        return self._inside.compares_all

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates but some; −∞ where nothing is left."""
        ids, points = now.space.locate_all()
        left = np.flatnonzero(~np.isin(ids, without))
        return float(self.upper(now, left, points[left]).max(initial=-np.inf))

    def cells(self, now: Situation) -> list[Cell]:
        """The cells that there is something to choose in."""
        view, looking = _view(now), self._looking(now)
        beliefs, cover = view.beliefs, view.beliefs.cover
        assert looking._leaders is not None
        found = []
        for key in sorted(looking._leaders.keys):
            cell, (low, high) = beliefs.cells.get(key), cover.bounds(key)
            count, gain = (0, 0.0) if cell is None else (cell.count, cell.gain)
            beta = view.of(key).width / np.sqrt(beliefs.assumed.lam)
            found.append(Cell(low, high, cover.side(key), count, gain, float(beta)))
        return found

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        mean, leverage = now.bounds.evaluate(points)
        return mean, now.beliefs.assumed.lam * leverage

    def upper(self, now: Situation, ids: Ints, points: Points) -> Floats:
        """UCB_t of choices (n): the largest bound of the cells that each lies in."""
        return self._looking(now)._upper(now, ids, points)

    def _upper(self, now: Situation, ids: Ints, points: Points) -> Floats:
        """The same, for a copy that is up to date."""
        view, upper = _view(now), np.full(len(points), -np.inf)
        for key, inside in view.parts(points):
            bounds = view.of(key)
            block = bounds.fantasy.block(points[inside])
            found = self._inside.cap(key, ids[inside], bounds.at_start(block))
            upper[inside] = np.maximum(upper[inside], np.minimum(found, bounds.inside(block)))
        return upper

    def alive(self, now: Situation) -> int | None:
        """How many candidates can still be the best; ``None`` where bounds prove nothing."""
        if not now.intersected or now.beliefs.refuted:
            return None
        looking = self._looking(now)
        upper = looking._inside.smallest()
        if upper is None:
            return None
        best = looking._largest_lower(now, 1)[1].max(initial=-np.inf)
        return int((upper >= best).sum())

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told choices with the largest lower bounds, best first; one where none is told."""
        looking, view = self._looking(now), _view(now)
        rows, lower = looking._largest_lower(now, count)
        if not len(rows):
            return [looking._interval(now, *looking._inside.first(), -np.inf)]
        ids, points = now.observations.ids[rows], now.observations.points[rows]
        best = looking._inside.safest(view, points[0], now.rng)
        if not np.array_equal(best, points[0]):  # its bounds are not those of the told point
            points, lower = np.concatenate([best[None], points[1:]]), lower.copy()
            lower[0] = -np.inf
        return [
            looking._interval(now, int(id_), point, float(low))
            for id_, point, low in zip(ids, points, lower, strict=True)
        ]

    def _interval(self, now: Situation, id_: int, point: Points, low: float) -> Interval:
        """A choice with its bounds, those of all of its cells at once; ``low`` is known already."""
        view, high = _view(now), np.inf
        for key, _ in view.parts(point[None]):
            bounds = view.of(key)
            block = bounds.fantasy.block(point[None])
            residual = bounds.posterior.residual(block.Z, block.points)
            low = max(low, float(bounds.lower(block.Z, residual)[0]))
            upper = self._inside.cap(key, np.array([id_]), bounds.at_start(block))
            high = min(high, float(upper[0]))
        high = max(high, low)
        mean = float(np.clip(view.evaluate(point[None])[0][0], low, high))
        return Interval(id_, point, mean, low, high)

    def _largest_lower(self, now: Situation, count: int) -> tuple[Ints, Floats]:
        """The told choices with the largest lower bounds (rows), and those bounds.

        No lower bound exceeds the mean, so cells are looked at in the order of their largest means.
        """
        view, seen = _view(now), now.observations
        lower = np.full(len(seen), -np.inf)
        if now.intersected:
            lower[: len(self._lower)] = self._lower
        allowed = self._inside.are_choices(seen.ids)
        lower[~allowed] = -np.inf
        cells = list(view.beliefs.cells.values())
        means = np.array([_means(cell).max() for cell in cells])
        floor = _largest(lower, count)
        for i in np.argsort(-means, kind="stable").tolist():
            if means[i] <= floor:
                break
            at = np.flatnonzero(allowed[cells[i].rows])
            rows, found = cells[i].rows[at], _lower(view, cells[i], at)
            lower[rows] = np.maximum(lower[rows], found)
            if found.max(initial=-np.inf) > floor:
                floor = _largest(lower, count)
        best = np.argsort(-lower, kind="stable")[:count]
        best = best[np.isfinite(lower[best])]
        return best, lower[best]


def _view(now: Situation) -> CoverBounds:
    """The bounds on a cover."""
    return cast(CoverBounds, now.bounds)


def _lower(view: CoverBounds, cell: CellBeliefs, at: Ints) -> Floats:
    """Lower bounds of some of the arms told in a cell (n)."""
    return view.of(cell.key).lower_of(cell.model, at)


def _means(cell: CellBeliefs) -> Floats:
    """The means of the arms told in a cell (u)."""
    return np.asarray(cell.model.features @ cell.model.posterior().theta)


def _largest(values: Floats, count: int) -> float:
    """The ``count``-th largest value; −∞ where there are fewer."""
    return float(np.partition(values, -count)[-count]) if count <= len(values) else -np.inf
