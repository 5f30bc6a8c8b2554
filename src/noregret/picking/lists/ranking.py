"""Which candidates of a list are recommended, and how many can still be the best."""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints
from noregret.picking.chooser import Interval, Situation
from noregret.picking.lists.sleepers import Sleepers
from noregret.spaces import Candidates

#: multiplications that counting the candidates alive may take, and how many at a time
_MOST_WORK, _LARGEST_LOOK = 2e9, 4096
#: arms whose lower bounds are computed at a time
_LOOK = 256


def by_lower(
    now: Situation, space: Candidates, mean: Floats, radius: Floats, count: int
) -> list[Interval]:
    """The told candidates with the largest lower bounds, best first.

    ``mean`` and ``radius`` give the bounds of all that were told (n each, as ``now.listed``).
    """
    ids, found = now.observations.ids[now.listed], []
    for i in np.argsort(radius - mean, kind="stable")[:count].tolist():
        id_, middle, reach = int(ids[i]), float(mean[i]), float(radius[i])
        found.append(Interval(id_, space.points[id_], middle, middle - reach, middle + reach))
    return found


@dataclass(frozen=True)
class KeptBounds:
    """What is kept of a list from batch to batch, for a look: nothing is changed.

    Attributes
    ----------
    space
        The list.
    sleepers
        The stale bounds of the candidates; those of the prior if nothing has been asked yet.
    lower
        The largest lower bound so far of every arm; −∞ if none is kept (u).
    asked
        Whether a batch has been asked for under the present assumptions.
    """

    space: Candidates
    sleepers: Sleepers
    lower: Floats
    asked: bool

    def best_lower(self, now: Situation, count: int) -> tuple[Ints, Floats]:
        """Rows of the told candidates with the largest lower bounds, and those bounds.

        No lower bound exceeds the mean, so arms are looked at in the order of their means.
        """
        rows, model = now.listed, now.beliefs.model
        kept, means = self.lower[rows], model.mean(rows)
        order = np.argsort(-np.maximum(means, kept), kind="stable")
        lower = kept.copy()
        for start in range(0, len(rows), _LOOK):
            part = order[start : start + _LOOK]
            lower[part] = np.maximum(kept[part], now.bounds.lower_of(model, rows[part]))
            left = order[start + _LOOK :]
            reach = np.maximum(means[left], kept[left]).max(initial=-np.inf)
            if len(rows) <= count or reach <= np.partition(lower, len(rows) - count)[-count]:
                break
        best = np.argsort(-lower, kind="stable")[:count]
        return rows[best], lower[best]

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first; one if none is told."""
        rows, lower = self.best_lower(now, count)
        if not len(rows):
            return [self._unknown(now)]
        ids = now.observations.ids[rows]
        block = now.bounds.fantasy.block(self.space.at(ids))
        upper = np.minimum(now.bounds.at_start(block), self.sleepers.stale(ids))
        found = []
        for i, low in enumerate(lower.tolist()):
            high = max(float(upper[i]), low)
            mean = float(np.clip(block.mean[i], low, high))
            found.append(Interval(int(ids[i]), self.space.points[ids[i]], mean, low, high))
        return found

    def _unknown(self, now: Situation) -> Interval:
        """The first candidate, of which only the prior is known."""
        block = now.bounds.fantasy.block(self.space.at(np.zeros(1, dtype=np.int64)))
        upper = float(now.bounds.at_start(block)[0])
        mean = float(block.mean[0])
        lower = 2.0 * mean - upper
        return Interval(0, self.space.points[0], mean, lower, upper)

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
        rows, lower = self.best_lower(now, 1)
        if not self.asked or not len(rows):
            return len(self.space)
        return self._count_alive(now, int(rows[0]), float(lower[0]))

    def _count_alive(self, now: Situation, row: int, best: float) -> int:
        """How many candidates can still be as good as an arm, whose lower bound is ``best``.

        If that takes too long, stale bounds are counted: the count is never too small.
        """
        stale = self.sleepers.all_stale()
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
