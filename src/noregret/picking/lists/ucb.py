"""Picks on a list by the largest upper confidence bound, and what is remembered for that."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.assumptions import Assumptions
from noregret.observations import Observations
from noregret.picking.chooser import Interval, Picks, Situation, gp_predict
from noregret.picking.lists.awake import Sleepers
from noregret.picking.lists.batch import Intersected, largest_upper, list_batch
from noregret.picking.lists.columns import PriorRoot
from noregret.picking.lists.current import Current
from noregret.picking.lists.gaps import gaps_by_bounds, gaps_by_differences
from noregret.picking.lists.maxima import tops_of_draws
from noregret.picking.lists.room import NOBODY, Room
from noregret.picking.lists.shards import fresh_looks, fresh_uppers
from noregret.spaces import Candidates

#: multiplications that counting the candidates alive may take, and how many at a time
_MOST_WORK, _LARGEST_LOOK = 2e9, 4096
#: arms whose lower bounds are computed at a time
_LOOK = 256


class OwnBounds(Protocol):
    """Bounds of arms from their own rewards alone, proved together with those of the model."""

    def bounds(
        self, observations: Observations, assumed: Assumptions, prior: Floats, rows: Ints
    ) -> tuple[Floats, Floats]:
        """Lower and upper bounds of some arms (n each); ``prior`` is their k(x, x) (n)."""


class ListUCB:
    """The largest upper bound on a list.

    State: the stale bounds of the candidates, what earlier draws computed of them, and the largest
    lower bound of every arm so far.

    Parameters
    ----------
    space
        The list.
    own
        More bounds, which are intersected with those of the model.
    """

    follows_aim = True

    def __init__(self, space: Candidates, own: OwnBounds | None = None) -> None:
        self.space = space
        self._own = own
        self._sleepers: Sleepers | None = None
        self._lower: Floats = np.empty(0)  # by row of the observations
        self._version = -1
        # What earlier draws computed of the candidates, and by which version of the beliefs.
        self._drawn: tuple[Current | None, int] = (None, -1)

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Take another list, whose bounds start from the prior; the same list with ``keep``."""
        self.space = space
        if not keep:
            self._sleepers, self._drawn = None, (None, -1)
        for held in (self._sleepers, self._drawn[0]):
            if held is not None:
                held.move_to(space)

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end: new candidates start from the prior bound."""
        self.space = space
        for held in (self._sleepers, self._drawn[0]):
            if held is not None:
                held.extend(space)

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        return gp_predict(now, points)

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        rule = now.rule(now.bounds.fantasy)
        sleepers = self._up_to_date(now)
        self._raise_lower(now)
        if self._own is not None and isinstance(sleepers, Intersected):
            self._intersect(now, sleepers, self._own)
        sleepers.follow(now.beliefs.model, self.space.at)
        leading = self._leading(now)
        picks = list_batch(sleepers, now.bounds, self.space.at, rule, limit, now.room, leading)
        for part in sleepers.column.lost():
            now.note("part lost", part=part)
        return picks

    def tops(
        self,
        now: Situation,
        n: int,
        values: Callable[[Points], Floats],
        room: Room,
        *,
        keep: bool = True,
    ) -> Ints:
        """The best open candidates of n functions drawn from the posterior (k × n ids).

        With ``keep`` what was computed is remembered. See
        :func:`~noregret.picking.lists.maxima.tops_of_draws`.
        """
        sleepers, version = self._drawn
        if sleepers is None or version != now.beliefs.version:
            column = fresh_looks(self._prior_root(now), self.space)
            sleepers = Current(column, self.space.nothing, grows=False)
        if keep:
            self._drawn = sleepers, now.beliefs.version
            sleepers.follow(now.beliefs.model, self.space.at)
        return tops_of_draws(sleepers, now.bounds, self.space.at, n, values, room, keep=keep)

    def _leading(self, now: Situation) -> Ints:
        """The best candidates so far, if more than one is looked for."""
        if now.aim == 1:
            return NOBODY
        rows, _ = self._best_lower(now, now.aim)
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
        return Current(fresh_looks(self._prior_root(now), self.space), self.space.nothing)

    def _prior_root(self, now: Situation) -> PriorRoot:
        """√(k(x, x)/λ)."""
        assumed = now.beliefs.assumed
        return PriorRoot(assumed.kernel, lam=assumed.lam)

    def _raise_lower(self, now: Situation) -> None:
        """Keep the largest lower bound so far of the arms whose rewards came in last."""
        if now.intersected:
            grown = np.full(len(now.observations), -np.inf)
            grown[: len(self._lower)] = self._lower
            rows = now.beliefs.latest
            grown[rows] = np.maximum(grown[rows], self._fresh_lower(now, rows))
            self._lower = grown

    def _intersect(self, now: Situation, sleepers: Intersected, own: OwnBounds) -> None:
        """Intersect with the bounds of the arms whose rewards came in last by themselves."""
        rows = now.beliefs.latest
        rows = rows[now.observations.ids[rows] >= 0]
        model, assumed = now.beliefs.model, now.beliefs.assumed
        lower, upper = own.bounds(now.observations, assumed, model.prior[rows], rows)
        ids = now.observations.ids[rows]
        sleepers.column.put(ids, np.minimum(sleepers.column.of(ids), upper))
        self._lower[rows] = np.maximum(self._lower[rows], lower)

    def _fresh_lower(self, now: Situation, rows: Ints) -> Floats:
        model = now.beliefs.model
        return now.bounds.lower(model.features[rows], model.residual[rows])

    def _kept_lower(self, now: Situation, rows: Ints) -> Floats:
        """The largest lower bounds so far of some arms (n); −∞ if none was kept."""
        kept = np.full(len(now.observations), -np.inf)
        if now.intersected and self._version == now.beliefs.version:
            kept[: len(self._lower)] = self._lower
        return kept[rows]

    def _best_lower(self, now: Situation, count: int) -> tuple[Ints, Floats]:
        """Rows of the told candidates with the largest lower bounds, and those bounds.

        No lower bound exceeds the mean, so arms are looked at in the order of their means.
        """
        rows = now.told
        rows = rows[now.observations.ids[rows] >= 0]
        kept, means = self._kept_lower(now, rows), now.beliefs.model.mean(rows)
        order = np.argsort(-np.maximum(means, kept), kind="stable")
        lower = kept.copy()
        for start in range(0, len(rows), _LOOK):
            part = order[start : start + _LOOK]
            lower[part] = np.maximum(kept[part], self._fresh_lower(now, rows[part]))
            left = order[start + _LOOK :]
            reach = np.maximum(means[left], kept[left]).max(initial=-np.inf)
            if len(rows) <= count or reach <= np.partition(lower, len(rows) - count)[-count]:
                break
        best = np.argsort(-lower, kind="stable")[:count]
        return rows[best], lower[best]

    def _looked_at(self, now: Situation) -> Sleepers:
        """The stale bounds for a look, which changes nothing."""
        sleepers = self._sleepers
        if sleepers is None or not self._is_valid(now, sleepers):
            return self._fresh(now)
        return sleepers

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates except some; −∞ if none is left."""
        return largest_upper(self._looked_at(now), now.bounds, self.space.at, without)

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first; one if none is told."""
        sleepers = self._looked_at(now)
        rows, lower = self._best_lower(now, count)
        if not len(rows):
            return [self._unknown(now)]
        ids = now.observations.ids[rows]
        block = now.bounds.fantasy.block(self.space.at(ids))
        upper = now.bounds.at_start(block)
        if isinstance(sleepers, Intersected):
            upper = np.minimum(upper, sleepers.column.of(ids))
        found = []
        for i, low in enumerate(lower.tolist()):
            high = max(float(upper[i]), low)
            mean = float(np.clip(block.mean[i], low, high))
            point = self.space.points[ids[i]]
            found.append(Interval(int(ids[i]), point, mean, low, high))
        return found

    def _unknown(self, now: Situation) -> Interval:
        """The first candidate, of which only the prior is known."""
        block = now.bounds.fantasy.block(self.space.at(np.zeros(1, dtype=np.int64)))
        upper = float(now.bounds.at_start(block)[0])
        mean = float(block.mean[0])
        lower = 2.0 * mean - upper
        return Interval(0, self.space.points[0], mean, lower, upper)

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some candidates any other can be (k)."""
        if not now.bounds.joint:
            return gaps_by_bounds(self, now, found)
        ids = np.array([one.id for one in found], dtype=np.int64)
        lower = np.array([one.lower for one in found])
        return gaps_by_differences(self._looked_at(now), now.bounds, self.space.at, ids, lower)

    def proves_gaps(self, now: Situation) -> bool:
        """All candidates are compared, so that gaps are proved where the bounds are."""
        return True

    def alive(self, now: Situation) -> int | None:
        """How many candidates can still be the best; ``None`` if bounds prove nothing.

        These are the candidates whose upper bound is at least the largest lower bound, without
        those that are worse than the candidate with that lower bound for sure (joint bounds of
        differences). Each bound is the better of two: the one kept at batch starts, and the one
        computed now. Kept bounds only tighten. What a look computes is not kept, because looks
        change nothing, so the number can rise a little from one look to the next. All counts hold
        at once with probability 1 − δ, so the smallest one seen holds too.
        """
        if not now.intersected or now.beliefs.refuted:
            return None
        rows, lower = self._best_lower(now, 1)
        sleepers = self._sleepers
        if self._version != now.beliefs.version or not isinstance(sleepers, Intersected):
            return len(self.space)
        if not len(rows):
            return len(self.space)
        return self._count_alive(now, sleepers, int(rows[0]), float(lower[0]))

    def _count_alive(self, now: Situation, sleepers: Intersected, row: int, best: float) -> int:
        """How many candidates can still be as good as an arm, whose lower bound is ``best``.

        If that takes too long, stale bounds are counted: the count is never too small.
        """
        (stale,) = sleepers.column.gathered().arrays()
        ids = np.flatnonzero(stale >= best)
        if len(ids) * float(max(now.beliefs.size, 8)) ** 2 > _MOST_WORK:
            return len(ids)
        count, arm = 0, now.bounds.fantasy.block(now.observations.points[[row]])
        for part in np.array_split(ids, len(ids) // _LARGEST_LOOK + 1):
            block = now.bounds.fantasy.block(self.space.at(part))
            able = np.minimum(stale[part], now.bounds.at_start(block)) >= best
            if now.bounds.joint:
                able &= now.bounds.differences(block, arm)[:, 0] >= 0.0
            count += int(able.sum())
        return count
