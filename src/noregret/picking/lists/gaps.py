"""How much better than a candidate of a list can another one be?

Where a width bounds the error of the whole function, it bounds differences of values too. Two
candidates that are much alike differ little, even if little is known of both, so a gap from
differences is smaller than an upper bound minus a lower bound (the Proofs page, Theorem 2).
"""

from dataclasses import replace

import numpy as np

from noregret._types import Floats, Ints
from noregret.picking.bounds import Bounds
from noregret.picking.chooser import Chooser, Interval, Situation
from noregret.picking.lists.awake import FIRST_LOOK
from noregret.picking.lists.columns import PointsOf
from noregret.picking.lists.room import NOBODY
from noregret.picking.lists.sleepers import Sleepers

#: candidates looked at at a time, at most, to find the largest bound
_MOST_AT_A_TIME = 8192
#: multiplications that the search for the largest difference may take, and candidates at a time
_MOST_WORK, _LARGEST_LOOK = 1e9, 4096


def gaps_by_differences(
    sleepers: Sleepers, bounds: Bounds, points: PointsOf, ids: Ints, lower: Floats
) -> Floats:
    """How much better than each of some candidates any other can be (k), by joint bounds.

    Candidates are looked at from the largest stale bound down, until no other one can be better by
    more than was found. If that takes too long, the rest counts with its stale bounds.

    Parameters
    ----------
    sleepers
        The stale bounds of the list.
    bounds
        How bounds are computed now.
    points
        Gives the points of ids.
    ids, lower
        The candidates, and lower bounds of their values (k each).
    """
    queue, found = sleepers.start(bounds, points, NOBODY), np.zeros(len(ids))
    some = bounds.fantasy.block(points(ids))
    cost = len(ids) * len(bounds.widths) * float(max(bounds.posterior.size, 8)) ** 2
    count, work = FIRST_LOOK, 0.0
    while (queue.floor - lower > found).any():
        if work > _MOST_WORK:
            return np.asarray(np.maximum(found, queue.floor - lower))
        taken = queue.take(count)
        block = bounds.fantasy.block(taken.points, taken.features)
        better = np.minimum(taken.stale[:, None] - lower, bounds.differences(block, some))
        better[taken.ids[:, None] == ids] = 0.0
        found = np.maximum(found, better.max(axis=0))
        count, work = min(2 * count, _LARGEST_LOOK), work + count * cost
    return found


def gaps_by_bounds(chooser: Chooser, now: Situation, found: list[Interval]) -> Floats:
    """How much better than each of some candidates any other can be (k), by the bounds of each."""
    highest, gaps = chooser.highest(now, NOBODY), np.empty(len(found))
    for i, one in enumerate(found):
        own = highest <= one.upper  # then the largest bound may be its own
        others = chooser.highest(now, np.array([one.id])) if own else highest
        gaps[i] = max(others - one.lower, 0.0)
    return gaps


def largest_upper(
    sleepers: Sleepers, bounds: Bounds, points: PointsOf, without: Ints = NOBODY
) -> float:
    """The largest upper bound on the list, or on what is left of it without some candidates.

    Pending evaluations do not count, and nothing is changed. −∞ if no candidate is left.
    """
    bounds = replace(bounds, inflation=1.0)
    queue, count, highest = sleepers.start(bounds, points, without), FIRST_LOOK, -np.inf
    while queue.floor > highest:
        taken = queue.take(count)
        block = bounds.fantasy.block(taken.points, taken.features)
        upper = np.minimum(sleepers.cap(bounds, taken.stale, block), bounds.inside(block))
        highest = max(highest, float(upper.max()))
        count = min(2 * count, _MOST_AT_A_TIME)
    return highest
