"""Predictions and recommendations, in the units of the rewards."""

import math
from dataclasses import replace
from typing import cast

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.picking.chooser import Chooser, Interval, Situation
from noregret.results import Recommendation


def prediction(
    chooser: Chooser, now: Situation, ids: Ints, points: Points
) -> tuple[Floats, Floats]:
    """Mean and standard deviation of choices (n each)."""
    mean, variance = chooser.predict(now, ids, points)
    assumed = now.beliefs.assumed
    return assumed.reward(mean), assumed.deviation(mean, np.sqrt(variance))


def prediction_at(now: Situation, points: Points) -> tuple[Floats, Floats]:
    """Mean and standard deviation (n each) of any points (n × d), on the list or not."""
    mean, leverage = now.bounds.evaluate(points)
    assumed = now.beliefs.assumed
    deviation = assumed.deviation(mean, np.sqrt(assumed.lam * leverage))
    return assumed.reward(mean), deviation


def recommendations(chooser: Chooser, now: Situation, k: int) -> list[Recommendation]:
    """The k choices with the largest lower bounds of those told, best first."""
    found = chooser.ranking(now, _checks.count("k", k))
    if now.beliefs.refuted:
        unproved = [_without_proof(one, chooser, now) for one in found]
        return [_recommendation(one, math.inf, now) for one in unproved]
    gaps = chooser.gaps(now, found)
    return [_recommendation(one, float(gap), now) for one, gap in zip(found, gaps, strict=True)]


def top_gap(chooser: Chooser, now: Situation, k: int) -> float:
    """How much better than the worst of the k recommended a candidate outside can be (lists)."""
    k, size = _checks.count("k", k), now.space.size
    if size is None:
        raise ValueError("top_gap needs a list of candidates: a box has none to count")
    if now.beliefs.refuted:
        return math.inf
    if k == 1:
        return recommendations(chooser, now, 1)[0].gap
    found = chooser.ranking(now, k)
    best = np.array(sorted(interval.id for interval in found), dtype=np.int64)
    if len(best) < k:  # fewer have been told: any other candidate belongs to the k best
        return math.inf if len(best) < size else 0.0
    lowest = min(interval.lower for interval in found)
    return now.beliefs.assumed.unit * max(chooser.highest(now, best) - lowest, 0.0)


def _without_proof(found: Interval, chooser: Chooser, now: Situation) -> Interval:
    """Mean ± max(β, 2) · std, if the bounds contradict each other."""
    ids, seen = np.array([found.id]), now.observations
    rows = seen.known_rows(ids, cast(Points, [found.point]))
    mean, variance = chooser.predict(now, ids, seen.points[rows])
    middle, reach = float(mean[0]), max(now.beta, 2.0) * math.sqrt(float(variance[0]))
    return replace(found, mean=middle, lower=middle - reach, upper=middle + reach)


def _recommendation(found: Interval, gap: float, now: Situation) -> Recommendation:
    """In the units of the rewards, with the point as users see it and what was measured."""
    assumed, seen = now.beliefs.assumed, now.observations
    where = cast(Points, [found.point])  # one point, or one object
    row = int(seen.known_rows(np.array([found.id]), where)[0])
    # Rewards that stand in for failures were not measured.
    invented = np.array(seen.stand_ins, dtype=np.int64)
    invented = invented[seen.history_rows[invented] == row]
    count = int(seen.told[row]) - len(invented) if row >= 0 else 0
    return Recommendation(
        id=found.id,
        point=now.space.labels(np.array([found.id]), [found.point])[0],
        mean=assumed.reward(found.mean),
        lower=assumed.reward(found.lower),
        upper=assumed.reward(found.upper),
        gap=max(assumed.between(found.lower, found.lower + gap), 0.0),
        evaluations=count,
        measured=float(seen.sums[row] - seen.rewards[invented].sum()) / count if count else None,
    )
