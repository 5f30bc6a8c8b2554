"""Who is next on a plate? Whole plates of a list, from one pass over its means.

A plate has tens to thousands of wells, and the model may have changed since the last one, so old
bounds say little. One pass over the list computes, from O(A·m) kernel values, the mean of every
candidate and an upper bound on its deviation. The deviation itself costs O(m²). It is computed only
for candidates whose score from the pass is among the largest. Picks are made in groups: those of a
group have the largest scores, then deviations fall by all of them at once.

To find the best candidate, the score is the upper bound. To find the best k, it is
(mean − τ)/deviation: the larger it is, the more probably the candidate is above τ, the value that k
candidates are expected to exceed.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.fantasy import Block
from noregret.picking.bounds import Bounds
from noregret.picking.chooser import Interval, Picks, Situation, gp_predict
from noregret.picking.lists.columns import ListQueue, Tops
from noregret.picking.lists.gaps import gaps_by_bounds
from noregret.picking.lists.one_pass import OnePass
from noregret.picking.lists.ranking import by_lower
from noregret.picking.lists.room import NOBODY
from noregret.spaces import Candidates

#: groups that a plate is picked in, at most
_GROUPS = 16
#: candidates looked at first
_FIRST_LOOK = 256
#: candidates whose deviations are computed to find the value that k are expected to exceed
_SAMPLED = 512
#: steps of a search for it, and the smallest deviation
_HALVINGS, _TINY = 60, 1e-150


class ListPlates:
    """The largest upper bounds on a list, or the most probable of the k best, in groups.

    If the best k are wanted and candidates may be measured again, the k best so far compete with
    the others: the one of these k with the smallest lower bound is next if its deviation is larger
    than that of the best of the others.

    The only state is the last pass over the list, which is made again if it is missing.

    Parameters
    ----------
    space
        The list.
    narrowing
        The width of the bounds used for picks, as a share of the width of the reported bounds.
    """

    follows_aim = True

    def __init__(self, space: Candidates, narrowing: float = 1.0) -> None:
        self.space = space
        self.narrowing = narrowing
        self._pass: OnePass | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies do without the pass."""
        return {**vars(self), "_pass": None}

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a plate that starts here."""
        closed, leading, width = _closed(now), NOBODY, self.narrowing * now.bounds.width
        score: _Score = _Upper(width)
        if now.aim > 1:
            leading, score = self._leading(now), _Exceeding(self._exceeded(now))
        looked = self._look(now, score, np.union1d(closed, leading))
        looked.lead(leading[np.isin(leading, closed, invert=True)])
        picked: list[int] = []
        upper: list[float] = []
        group = -(-limit // _GROUPS)
        while len(picked) < limit:
            chosen = looked.next(min(group, limit - len(picked)), now.bounds.width)
            if not len(chosen):
                break
            picked += chosen.tolist()
            for id_ in looked.ids[chosen].tolist():
                now.room.take(id_)
            deviation = np.sqrt(looked.block.leverage[chosen])
            upper += (looked.block.mean[chosen] + width * deviation).tolist()
            looked.pick(chosen)
        order = np.array(picked, dtype=np.int64)
        points = looked.block.points[order]
        return Picks(looked.ids[order], points, np.array(upper), now.bounds.width)

    def _leading(self, now: Situation) -> Ints:
        """The best candidates so far (ids)."""
        return np.array([one.id for one in self._ranked(now, now.aim)], dtype=np.int64)

    def _exceeded(self, now: Situation) -> float:
        """The value that ``now.aim`` candidates are expected to exceed.

        Deviations are computed for the candidates with the largest means, and for some of the rest
        at equal distances in the order of means, each of which stands for its neighbours.
        """
        means = self._passed(now).means
        order = np.argsort(-means, kind="stable")
        first, rest = np.split(order, [_SAMPLED + 2 * now.aim])
        step = max(len(rest) // _SAMPLED, 1)
        some = rest[step // 2 :: step]
        ids = np.concatenate([first, some])
        _, leverage = now.bounds.evaluate(self.space.at(ids))
        weights = np.ones(len(ids))
        weights[len(first) :] = len(rest) / max(len(some), 1)
        deviations = np.sqrt(now.beliefs.assumed.lam * leverage)
        return level_exceeded(means[ids], deviations, weights, now.aim)

    def _look(self, now: Situation, score: "_Score", closed: Ints) -> "_Looked":
        """What is known of the candidates, from the largest possible scores down."""
        found = self._passed(now)
        stale = score.of(found.means, found.roots, most=True)
        stale[closed] = -np.inf
        return _Looked(now.bounds, score, stale, self.space)

    def _passed(self, now: Situation) -> OnePass:
        """What a pass over the list finds."""
        model = now.beliefs.model
        if self._pass is None or not self._pass.is_of(model):
            self._pass = OnePass(model, self.space)
        return self._pass

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first; one where none is told."""
        return self._ranked(now, count) or [self._unknown(now)]

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some candidates any other can be (k)."""
        return gaps_by_bounds(self, now, found)

    def _ranked(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first."""
        model, width = now.beliefs.model, now.bounds.width
        rows = now.listed
        radius = width * np.sqrt(model.leverage(rows))
        return by_lower(now, self.space, model.mean(rows), radius, count)

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates but some; −∞ where nothing is left."""
        looked = self._look(now, _Upper(now.bounds.width), without)
        best = looked.best(1)
        return float(looked.scores[best[0]]) if len(best) else -np.inf

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self.space, self._pass = space, None

    def _unknown(self, now: Situation) -> Interval:
        """The first candidate, of which only the prior is known."""
        mean, leverage = now.bounds.evaluate(self.space.at(np.zeros(1, dtype=np.int64)))
        middle, radius = float(mean[0]), now.bounds.width * float(np.sqrt(leverage[0]))
        return Interval(0, self.space.points[0], middle, middle - radius, middle + radius)

    def proves_gaps(self, now: Situation) -> bool:
        """All candidates are compared, so that gaps are proved where the bounds are."""
        return True

    def alive(self, now: Situation) -> int | None:
        """``None``: nothing is kept from one plate to the next; ``certify`` counts."""
        return None

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        return gp_predict(now, points)

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list, or with ``keep`` the same one after a run was loaded."""
        self.space, self._pass = space, None


def _closed(now: Situation) -> Ints:
    """The candidates that may not be picked: those without room, or all told or pending.

    The latter where ``repeats`` is not given and other candidates are left.
    """
    if now.room.repeats is not None:
        return now.room.closed
    seen = now.observations
    ids = seen.ids[(seen.told + seen.pending > 0) & (seen.ids >= 0)]
    ids = np.union1d(ids, now.room.closed)
    return ids if len(ids) < len(now.space) else now.room.closed  # type: ignore[arg-type]


class _Score(Protocol):
    """What candidates are compared by."""

    def of(self, mean: Floats, deviation: Floats, *, most: bool = False) -> Floats:
        """Scores (n) of candidates with these means and deviations (n each).

        With ``most`` the largest scores that deviations up to these can give.
        """


@dataclass(frozen=True)
class _Upper:
    """The upper bound: mean + width·deviation."""

    width: float

    def of(self, mean: Floats, deviation: Floats, *, most: bool = False) -> Floats:
        return mean + self.width * deviation


@dataclass(frozen=True)
class _Exceeding:
    """How probably a candidate is above a level: (mean − level)/deviation."""

    level: float

    def of(self, mean: Floats, deviation: Floats, *, most: bool = False) -> Floats:
        score = (mean - self.level) / np.maximum(deviation, _TINY)
        # Above the level a smaller deviation means a larger score, without limit.
        return np.where(mean >= self.level, np.inf, score) if most else score


def level_exceeded(means: Floats, deviations: Floats, weights: Floats, count: float) -> float:
    """The level that ``count`` of some normal values are expected to exceed.

    Parameters
    ----------
    means, deviations
        Of the values (n each).
    weights
        How many values each of them stands for (n).
    count
        How many exceed it; where there are no more than that, all of them do.
    """
    from scipy.special import ndtr  # slow to import

    reach = 10.0 * deviations
    low, high = float((means - reach).min()), float((means + reach).max())
    scale = np.maximum(deviations, _TINY)
    for _ in range(_HALVINGS):
        level = 0.5 * (low + high)
        if weights @ ndtr((means - level) / scale) > count:
            low = level
        else:
            high = level
    return low


class _Looked:
    """The candidates that have been looked at, in falling order of what their scores may be.

    Attributes
    ----------
    ids
        Which they are (n).
    block
        What is known of them.
    scores
        Their scores now (n); −∞ once they are picked, and for those that lead.
    """

    def __init__(self, bounds: Bounds, score: _Score, stale: Floats, space: Candidates) -> None:
        self._fantasy, self._score, self._space = bounds.fantasy, score, space
        self._queue = ListQueue(Tops(stale), space.at)
        self._closed: list[int] = []  # positions of those picked or leading
        self._leading: Ints = np.empty(0, dtype=np.int64)  # positions
        self.ids: Ints = np.empty(0, dtype=np.int64)
        self.block: Block = self._fantasy.block(space.at(self.ids))
        self.scores: Floats = np.empty(0)

    def lead(self, ids: Ints) -> None:
        """Look at candidates that :meth:`best` does not give; before anything else."""
        self._add(ids, self._space.at(ids))
        self._leading = np.arange(len(ids))
        self._closed = self._leading.tolist()
        self._settle()

    def best(self, count: int) -> Ints:
        """The positions of the candidates with the largest scores of all, or of all there are."""
        while True:
            order = np.argsort(-self.scores, kind="stable")[:count]
            order = order[self.scores[order] > -np.inf]
            floor = self._queue.floor
            if floor == -np.inf or (len(order) == count and self.scores[order[-1]] >= floor):
                return order
            taken = self._queue.take(max(_FIRST_LOOK, 2 * count, len(self.ids)))
            self._add(taken.ids, taken.points)

    def next(self, count: int, width: float) -> Ints:
        """The positions of the next picks: the best, and those that lead while less is known."""
        best = self.best(count)
        if not len(self._leading):
            return best
        deviation = np.sqrt(self.block.leverage)
        lower = (self.block.mean - width * deviation)[self._leading]
        weakest = self._leading[np.argsort(lower, kind="stable")].tolist()
        others: list[int] = best.tolist()
        picked: list[int] = []
        while len(picked) < count and (weakest or others):
            leads = not others or (weakest and deviation[weakest[0]] > deviation[others[0]])
            picked.append((weakest if leads else others).pop(0))
        return np.array(picked, dtype=np.int64)

    def _add(self, ids: Ints, points: Points) -> None:
        self.ids = np.concatenate([self.ids, ids])
        self.block = self.block.joined(self._fantasy.block(points))
        self._settle()

    def pick(self, positions: Ints) -> None:
        """These are evaluated: deviations fall."""
        self._fantasy.add_all(self.block, positions)
        self._leading = np.setdiff1d(self._leading, positions)
        self._closed += positions.tolist()
        self._settle()

    def _settle(self) -> None:
        self.scores = self._score.of(self.block.mean, np.sqrt(self.block.leverage))
        self.scores[self._closed] = -np.inf
