"""Picks on a list by the largest upper confidence bound, and what is remembered for that."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.own_bounds import BoundsOfArms
from noregret.picking.chooser import Interval, Picks, Situation, gp_predict
from noregret.picking.lists.batch import Intersected, list_batch
from noregret.picking.lists.current import Current
from noregret.picking.lists.gaps import gaps_by_bounds, gaps_by_differences, largest_upper
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.ranking import KeptBounds
from noregret.picking.lists.room import NOBODY
from noregret.picking.lists.shards import fresh_looks, fresh_uppers
from noregret.picking.lists.sleepers import Sleepers
from noregret.spaces import Candidates


class ListUCB:
    """The largest upper bound on a list.

    State: the stale bounds of the candidates, and the largest lower bound of every arm so far.

    Parameters
    ----------
    space
        The list.
    """

    follows_aim = True

    def __init__(self, space: Candidates) -> None:
        self.space = space
        self._sleepers: Sleepers | None = None
        self._lower: Floats = np.empty(0)  # by row of the observations
        self._version = -1

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Take another list, whose bounds start from the prior; the same list with ``keep``."""
        self.space = space
        if not keep:
            self._sleepers = None
        if self._sleepers is not None:
            self._sleepers.move_to(space)

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end: new candidates start from the prior bound."""
        self.space = space
        if self._sleepers is not None:
            self._sleepers.extend(space)

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        return gp_predict(now, points)

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        rule = now.rule(now.bounds.fantasy)
        sleepers = self._up_to_date(now)
        self._raise_lower(now)
        if now.beliefs.own_bounds is not None and sleepers.intersects:
            self._intersect(now, sleepers, now.beliefs.own_bounds)
        sleepers.follow(now.beliefs.model, self.space.at)
        leading = self._leading(now)
        picks = list_batch(sleepers, now.bounds, self.space.at, rule, limit, now.room, leading)
        for part in sleepers.column.lost():
            now.note("part lost", part=part)
        return picks

    def _leading(self, now: Situation) -> Ints:
        """The best candidates so far, if more than one is looked for."""
        if now.aim == 1:
            return NOBODY
        rows, _ = self._kept(now).best_lower(now, now.aim)
        return np.sort(now.observations.ids[rows])

    def _up_to_date(self, now: Situation) -> Sleepers:
        """The stale bounds; they start again if the assumptions or the rule have changed."""
        sleepers = self._sleepers
        if sleepers is None or not self._is_valid(now, sleepers):
            sleepers = self._sleepers = self._fresh(now)
            self._version = now.beliefs.version
            self._lower = np.empty(0)
        return sleepers

    def _is_valid(self, now: Situation, sleepers: Sleepers) -> bool:
        """Whether stale bounds rest on what is assumed now, and follow the rule in use."""
        return self._version == now.beliefs.version and sleepers.intersects == now.intersected

    def _fresh(self, now: Situation) -> Sleepers:
        assumed = now.beliefs.assumed
        if now.intersected:  # |f(x)| ≤ ‖f‖·√k(x, x)
            prior = PriorRoot(assumed.kernel, scale=assumed.norm)
            return Intersected(fresh_uppers(prior, self.space))
        column = fresh_looks(PriorRoot(assumed.kernel, lam=assumed.lam), self.space)
        return Current(column, self.space.nothing)

    def _raise_lower(self, now: Situation) -> None:
        """Keep the largest lower bound so far of the arms whose rewards came in last."""
        if now.intersected:
            grown = np.full(len(now.observations), -np.inf)
            grown[: len(self._lower)] = self._lower
            rows = now.beliefs.latest
            grown[rows] = np.maximum(grown[rows], now.bounds.lower_of(now.beliefs.model, rows))
            self._lower = grown

    def _intersect(self, now: Situation, sleepers: Sleepers, own: BoundsOfArms) -> None:
        """Intersect with the bounds of the arms whose rewards came in last by themselves."""
        listed = np.flatnonzero(now.observations.ids[own.rows] >= 0)
        rows = own.rows[listed]
        sleepers.intersect(now.observations.ids[rows], own.upper[listed])
        self._lower[rows] = np.maximum(self._lower[rows], own.lower[listed])

    # -- looks -------------------------------------------------------------------------------

    def _kept(self, now: Situation) -> KeptBounds:
        """What is kept from batch to batch, for a look, which changes nothing."""
        sleepers, lower = self._sleepers, np.full(len(now.observations), -np.inf)
        valid = sleepers is not None and self._is_valid(now, sleepers)
        if valid and now.intersected:
            lower[: len(self._lower)] = self._lower
        known = sleepers if valid and sleepers is not None else self._fresh(now)
        return KeptBounds(self.space, known, lower, valid)

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first; one if none is told."""
        return self._kept(now).ranking(now, count)

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates except some; −∞ if none is left."""
        return largest_upper(self._kept(now).sleepers, now.bounds, self.space.at, without)

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some candidates any other can be (k)."""
        if not now.bounds.joint:
            return gaps_by_bounds(self, now, found)
        ids = np.array([one.id for one in found], dtype=np.int64)
        lower = np.array([one.lower for one in found])
        return gaps_by_differences(self._kept(now).sleepers, now.bounds, self.space.at, ids, lower)

    def proves_gaps(self, now: Situation) -> bool:
        """All candidates are compared, so that gaps are proved where the bounds are."""
        return True

    def alive(self, now: Situation) -> int | None:
        """How many candidates can still be the best; ``None`` if bounds prove nothing."""
        return self._kept(now).alive(now)
