"""Who is next on a list? The largest upper bound, found without reading the list.

Every candidate keeps a *stale* bound that is never below its bound now. Only candidates whose stale
bound comes out on top are looked at again; all others sleep. So a batch costs the candidates it
looks at, not the length of the list, and the picks are exactly those of a full argmax.

Two rules say what the bound of a candidate is (the Guarantees page):

- *intersected*: the smallest upper bound ever computed for it. Bounds only fall, so the last one
  computed is the stale bound. At a batch start the pick is the argmax of min(stale, fresh) over all
  candidates. Brought up to date are the 64 candidates with the largest stale bounds, and all whose
  stale bound is above the smallest bound of a pick: neither the order in which candidates are
  looked at nor the way a list is cut into parts matters.
- *current*: mean + width·√leverage now, the papers' rule. Between two batch starts s < t with a
  dictionary that only grew, the leverage of x becomes at most c times what it was, and its mean
  moves by at most √c·D·√leverage_s(x), where D = ‖θ_t − θ_s‖ in the norm of V_t and c depends on
  what the dictionary left out at s. So mean_s + √c·(D + width)·√leverage_s is a stale bound.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.batching import BatchRule
from noregret.models.followed import Followed
from noregret.models.posterior import Block, Posterior
from noregret.models.sparse import SparseGP
from noregret.picking.chooser import Bounds, Picks
from noregret.picking.columns import PointsOf, Queue
from noregret.picking.parts import Looks, Uppers, placed_looks, placed_uppers
from noregret.spaces import Candidates
from noregret.widths.proved import leverage_ratio

#: candidates looked at first
_FIRST_LOOK = 64
#: moments that sleeping candidates were last looked at, kept at most
_MOMENTS = 64
#: numbers that the features of candidates looked at lately may take
_FOLLOWED = 1 << 24


class Intersected:
    """Bounds that only fall: one number a candidate.

    Parameters
    ----------
    column
        Upper bounds before anything is known: F·√k(x, x).
    """

    intersects = True

    def __init__(self, column: Uppers) -> None:
        self.column = column

    def start(self, bounds: Bounds, points: PointsOf) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds."""
        return self.column.read(points)

    def move_to(self, space: Candidates) -> None:
        """Keep the bounds where the list is."""
        self.column = placed_uppers(self.column, space)

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies hold the bounds themselves, wherever the list is."""
        return {**vars(self), "column": self.column.gathered()}

    def follow(self, model: SparseGP) -> None:
        """Nothing to bring up to date: a bound of the past is still a bound."""

    def cap(self, bounds: Bounds, stale: Floats, block: Block) -> Floats:
        """What no bound of candidates with these stale bounds may exceed inside the batch (n)."""
        return np.asarray(np.minimum(stale, bounds.at_start(block)))

    def commit(self, bounds: Bounds, awake: "Awake", level: float) -> None:
        """Bring candidates up to date whose stale bound is above ``level``.

        Of those at the level itself, as many were looked at as one look gives: which they are must
        not decide what is picked later.
        """
        reached = awake.stale > level
        reached[:_FIRST_LOOK] = True  # so many are brought up to date whatever the level
        self.column.put(awake.ids[reached], awake.caps[reached])


class Current:
    """The papers' rule: every bound is computed from the posterior now.

    Parameters
    ----------
    column
        What is known of every candidate: √(k(x, x)/λ) at first.
    nothing
        No points, in the type that points have.
    """

    intersects = False

    def __init__(self, column: Looks, nothing: Points) -> None:
        self.column = column
        self._weights: dict[int, Floats] = {0: np.empty(0)}  # θ of each moment; the prior's is none
        self._growth = {0: 1.0}  # c of each moment: what leverages may have grown by since
        self._now = 0
        self._inducing: Points | None = None
        # Candidates looked at lately, whose bounds are kept exact.
        self._ids: Ints = np.empty(0, dtype=np.int64)
        self._followed = Followed(nothing)
        self._version = -1

    def start(self, bounds: Bounds, points: PointsOf) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds."""
        posterior, width = bounds.posterior, bounds.inflation * bounds.width
        reach = np.full(self._now + 1, np.inf)
        moments = [0]
        if not self._follows_all(bounds) and self._has_grown(posterior):
            moments = list(self._weights)
        moved = posterior.distances([self._weights[moment] for moment in moments])
        growth = np.sqrt([self._growth[moment] for moment in moments])
        reach[moments] = growth * (width + moved)
        ids, known = self._ids[:0], np.empty(0)
        if self._version == bounds.version and len(self._followed):
            leverage = self._followed.leverage(posterior.lam)
            ids, known = self._ids, self._followed.mean + width * np.sqrt(leverage)
        return self.column.read(points, reach, ids, known)

    def move_to(self, space: Candidates) -> None:
        """Keep what is known of candidates where the list is."""
        self.column = placed_looks(self.column, space)

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies hold what is known itself, wherever the list is."""
        return {**vars(self), "column": self.column.gathered()}

    def follow(self, model: SparseGP) -> None:
        """Bring the candidates that are followed up to date with the model."""
        if self._version == model.version:
            return
        # No version while they are brought up to date: a kernel may fail on the way.
        before, self._version = self._version, -1
        if before == model.version - 1 and model.update is not None:
            self._followed.apply(model.kernel, model.update)
        else:
            fresh = Followed(self._followed.points[:0])
            fresh.append(self._followed.points, model.posterior())
            self._followed = fresh
        self._version = model.version

    def _follow_more(self, ids: Ints, block: Block, posterior: Posterior) -> None:
        """Follow candidates that were looked at; where there are too many, those on top."""
        new = np.flatnonzero(np.isin(ids, self._ids, invert=True))
        self._followed.append(block.points[new], posterior)
        self._ids = np.concatenate([self._ids, ids[new]])
        most = max(_FOLLOWED // max(posterior.size, 1), 2 * _FIRST_LOOK)
        if len(self._ids) > most:
            upper = self._followed.mean + 2.0 * np.sqrt(self._followed.leverage(posterior.lam))
            kept = np.sort(np.argpartition(-upper, most // 2)[: most // 2])
            self._followed.keep(kept)
            self._ids = self._ids[kept]

    def _follows_all(self, bounds: Bounds) -> bool:
        """Whether the bounds of all candidates are kept exact, so that the past does not matter."""
        return self._version == bounds.version and len(self._ids) == len(self.column)

    def _has_grown(self, posterior: Posterior) -> bool:
        """Whether the dictionary is the one of the past, with more inducing points at most."""
        old = self._inducing
        return old is not None and np.array_equal(posterior.inducing[: len(old)], old)

    def _forget(self, posterior: Posterior) -> None:
        """Moments that say nothing of this posterior, or of too few candidates, are dropped.

        What the prior says of a candidate takes the place of what was known of it then.
        """
        old = [moment for moment in self._weights if moment]
        if self._has_grown(posterior):
            if len(old) <= _MOMENTS:
                return
            used = self.column.used(self._now + 1)
            old = sorted(old, key=lambda moment: used[moment])[: len(old) // 2]
        self.column.forget(old)
        for moment in old:
            del self._weights[moment], self._growth[moment]

    def cap(self, bounds: Bounds, stale: Floats, block: Block) -> Floats:
        """What no bound of these candidates may exceed inside the batch (n): nothing."""
        return np.full(len(stale), np.inf)

    def commit(self, bounds: Bounds, awake: "Awake", level: float) -> None:
        """Note what is known of the candidates that were looked at."""
        if self._follows_all(bounds):
            return
        self._forget(bounds.posterior)
        self._inducing = bounds.posterior.inducing
        self._now += 1
        self._weights[self._now] = bounds.posterior.theta.copy()
        self._growth[self._now] = leverage_ratio(bounds.trace, bounds.posterior.lam)
        self.column.put(awake.ids, awake.block.mean, np.sqrt(awake.block.told), self._now)
        if self._version == bounds.version:
            self._follow_more(awake.ids, awake.block, bounds.posterior)


Sleepers = Intersected | Current


class Awake:
    """The candidates of a batch that have been looked at, with their bounds inside the batch.

    Attributes
    ----------
    ids
        Which they are (n).
    stale
        Their bounds before this look (n).
    block
        What is known of them.
    caps
        What their bounds may not exceed inside the batch (n).
    upper
        Their bounds now (n).
    """

    def __init__(self, sleepers: Sleepers, bounds: Bounds, points: PointsOf) -> None:
        self._sleepers, self._bounds = sleepers, bounds
        self._queue = sleepers.start(bounds, points)
        self._count = _FIRST_LOOK
        self.ids: Ints = np.empty(0, dtype=np.int64)
        self.stale: Floats = np.empty(0)
        self.block = bounds.fantasy.block(points(self.ids))
        self.caps: Floats = np.empty(0)
        self.upper: Floats = np.empty(0)

    def best(self) -> int:
        """The position of the candidate with the largest bound of all, asleep or awake."""
        while True:
            if len(self.ids):
                top = float(self.upper.max())
                ties = np.flatnonzero(self.upper == top)
                position = int(ties[np.argmin(self.ids[ties])])
                floor = self._queue.floor
                if top > floor or (top == floor and self.ids[position] < self._queue.next_id):
                    return position
                if floor == -np.inf:
                    return position
            self._look()

    def _look(self) -> None:
        ids, stale, points = self._queue.take(self._count)
        self._count *= 2  # blocks are joined as often as the awake double
        block = self._bounds.fantasy.block(points)
        caps = self._sleepers.cap(self._bounds, stale, block)
        self.ids = np.concatenate([self.ids, ids])
        self.stale = np.concatenate([self.stale, stale])
        self.block = _joined(self.block, block)
        self.caps = np.concatenate([self.caps, caps])
        self.upper = np.minimum(self.caps, self._bounds.inside(self.block))

    def evaluate(self, position: int) -> None:
        """Count one more evaluation of a candidate: deviations fall."""
        self._bounds.fantasy.add(self.block, position)
        self.upper = np.minimum(self.caps, self._bounds.inside(self.block))

    def commit(self, level: float) -> None:
        """Let the sleepers know what was seen, down to bounds of this level."""
        self._sleepers.commit(self._bounds, self, level)


def list_batch(
    sleepers: Sleepers,
    bounds: Bounds,
    points: PointsOf,
    rule: BatchRule,
    limit: int,
) -> Picks:
    """Pick the candidate with the largest bound again and again, until the rule ends the batch.

    Parameters
    ----------
    sleepers
        The stale bounds of the list.
    bounds
        How bounds are computed now.
    points
        Gives the points of ids.
    rule
        Ends the batch; the pick it ends with is included.
    limit
        At most this many picks.
    """
    awake = Awake(sleepers, bounds, points)
    picked: list[int] = []  # positions
    upper: list[float] = []
    waiting: list[int] = []  # picks that the deviations do not count yet
    full = False
    while not full:
        position = awake.best()
        bound = float(awake.upper[position])
        while not full:
            picked.append(position)
            upper.append(bound)
            full = rule.add(awake.block, position) or len(picked) >= limit
            waiting.append(position)
            # While the ratio is below the inflation squared, no bound inside the batch is below
            # that of the batch start (BBKB Lemma 1): an intersected bound cannot have fallen, and
            # the same candidate is next.
            if not sleepers.intersects or rule.follows or rule.ratio > bounds.inflation**2:
                break
        if not full:
            for pick in waiting:
                awake.evaluate(pick)
            waiting.clear()
    awake.commit(min(upper))
    chosen = awake.block.points[picked]
    return Picks(awake.ids[picked], chosen, np.array(upper), bounds.width, rule.ratio)


def largest_upper(sleepers: Sleepers, bounds: Bounds, points: PointsOf) -> float:
    """The largest upper bound on the list, from what has been told; nothing is changed."""
    awake = Awake(sleepers, replace(bounds, inflation=1.0), points)
    position = awake.best()
    return float(awake.upper[position])


def _joined(one: Block, two: Block) -> Block:
    """A block and another below it."""
    parts = ("points", "Z", "b", "mean", "told", "leverage")
    return Block(*(np.concatenate([getattr(one, p), getattr(two, p)]) for p in parts))
