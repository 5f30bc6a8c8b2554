"""Picks in a box or space by the largest upper confidence bound, found by search."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.picking.boxes.gaps import provable, proved_gaps
from noregret.picking.boxes.mixed import search_of
from noregret.picking.boxes.search import Search, box_batch, highest_bound
from noregret.picking.chooser import Interval, Picks, Situation, best_told, gp_predict
from noregret.spaces import Space


class BoxUCB:
    """The largest upper bound in a box or space, found by search; there is no state."""

    follows_aim = False

    def __init__(self, box: Space, method: str, *, quick: bool = False) -> None:
        self.search = search_of(box, method, quick=quick)

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        return self.choose_in(self.search, now, limit, 1.0)

    def choose_in(self, search: Search, now: Situation, limit: int, narrowing: float) -> Picks:
        """The picks of a batch in some part of the box, with widths times ``narrowing``."""
        rule, fantasy = now.rule(now.bounds.fantasy), now.bounds.fantasy
        anchors = best_told(now)
        inside = np.all((anchors >= search.box.lower) & (anchors <= search.box.upper), axis=1)
        width = narrowing * now.bounds.inflation * now.bounds.width
        known = now.observations.points if now.once else None
        points, upper = box_batch(
            search, fantasy, width, rule, limit, anchors[inside], now.rng, known=known
        )
        ids = np.full(len(points), -1, dtype=np.int64)
        return Picks(ids, points, upper, now.bounds.width, rule.ratio)

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told points with the largest lower bounds, best first; the centre if none is told.

        A point nobody has evaluated is not recommended, however good the model thinks it is.
        """
        told = now.observations.points[now.told]
        points = told if len(told) else self.search.box.centre[None]
        block = now.bounds.fantasy.block(points)
        lower, upper = now.bounds.lower(block.Z, block.residual), now.bounds.at_start(block)
        upper = np.maximum(lower, upper)  # round-off, or assumptions that are refuted
        means = np.clip(block.mean, lower, upper)
        order = np.argsort(-lower, kind="stable")[:count].tolist()
        return [
            Interval(-1, points[i], float(means[i]), float(lower[i]), float(upper[i]))
            for i in order
        ]

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some points any other can be (k).

        Proved if :meth:`proves_gaps`; else as far as a search finds, which also starts from the
        first of these points.
        """
        if self.proves_gaps(now):
            points = np.array([one.point for one in found])
            return proved_gaps(now.bounds, now.beliefs.assumed.norm, self.search.box, points)
        fantasy, width = now.bounds.fantasy, now.bounds.width
        anchors = np.concatenate([best_told(now), found[0].point[None]])
        highest = highest_bound(self.search, fantasy, width, anchors, now.rng)
        told = now.observations.points[now.told]
        if len(told):
            means, leverages = fantasy.evaluate(told)
            highest = max(highest, float((means + width * np.sqrt(leverages)).max()))
        return np.array([max(highest, one.upper) - one.lower for one in found])

    def proves_gaps(self, now: Situation) -> bool:
        """Whether gaps are proved: for joint bounds and kernels whose functions have tangents."""
        return now.bounds.joint and provable(now.bounds.posterior.kernel, self.search.box)

    def alive(self, now: Situation) -> int | None:
        """A box has no candidates to count."""
        return None

    def highest(self, now: Situation, without: Ints) -> float:
        """A box has no candidates to leave out."""
        raise TypeError("only a list has candidates outside the best k; this domain is a box")

    def extend(self, space: Any) -> None:
        """A box stays as it is."""

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """A box stays as it is."""

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        return gp_predict(now, points)
