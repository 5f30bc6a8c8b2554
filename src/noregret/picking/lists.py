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
from noregret.picking.awake import FIRST_LOOK, Awake
from noregret.picking.chooser import Bounds, Picks
from noregret.picking.columns import PointsOf, Queue
from noregret.picking.room import NOBODY, Room
from noregret.picking.shards import Looks, Uppers, placed_looks, placed_uppers
from noregret.spaces import Candidates
from noregret.widths.proved import leverage_ratio

#: moments that sleeping candidates were last looked at, kept at most
_MOMENTS = 64
#: numbers that the features of candidates looked at lately may take
_FOLLOWED = 1 << 27
#: numbers that these features may take in a file
_SAVED = 1 << 20


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

    def start(self, bounds: Bounds, points: PointsOf, skipped: Ints) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds; some are skipped."""
        return self.column.read(points, skipped)

    def stale(self, ids: Ints) -> Floats:
        """The stale bounds of some candidates (n)."""
        return self.column.of(ids)

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self.column = self.column.gathered().extended(space)

    def move_to(self, space: Candidates) -> None:
        """Keep the bounds where the list is."""
        self.column = placed_uppers(self.column, space)

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies hold the bounds themselves, wherever the list is."""
        return {**vars(self), "column": self.column.gathered()}

    def follow(self, model: SparseGP, points: PointsOf) -> None:
        """Nothing to bring up to date: a bound of the past is still a bound."""

    def cap(self, bounds: Bounds, stale: Floats, block: Block) -> Floats:
        """What no bound of candidates with these stale bounds may exceed inside the batch (n)."""
        return np.asarray(np.minimum(stale, bounds.at_start(block)))

    def noted(self, stale: Floats, caps: Floats, block: Block) -> tuple[Floats, ...]:
        """Bounds before and after the look (n each)."""
        return stale, caps

    def commit(self, bounds: Bounds, awake: Awake, level: float) -> None:
        """Bring candidates up to date whose stale bound is above ``level``.

        Of those at the level itself, as many were looked at as one look gives: which they are must
        not decide what is picked later.
        """
        ids, (stale, caps) = awake.seen
        reached = stale > level
        reached[:FIRST_LOOK] = True  # so many are brought up to date whatever the level
        self.column.put(ids[reached], caps[reached])


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

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self.column = self.column.gathered().extended(space)

    def stale(self, ids: Ints) -> Floats:
        """The stale bounds of some candidates (n): bounds of the past limit nothing."""
        return np.full(len(ids), np.inf)

    def start(self, bounds: Bounds, points: PointsOf, skipped: Ints) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds; some are skipped."""
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
        return self.column.read(points, reach, ids, known, skipped)

    def move_to(self, space: Candidates) -> None:
        """Keep what is known of candidates where the list is."""
        self.column = placed_looks(self.column, space)

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies hold what is known itself, wherever the list is.

        Many features are left out, and computed again when they are needed.
        """
        held = {**vars(self), "column": self.column.gathered()}
        if self._followed.features.size > _SAVED:
            held |= {"_followed": Followed(self._followed.points[:0]), "_version": -1}
        return held

    def follow(self, model: SparseGP, points: PointsOf) -> None:
        """Bring the candidates that are followed up to date with the model."""
        if self._version == model.version:
            return
        # No version while they are brought up to date: a kernel may fail on the way.
        before, self._version = self._version, -1
        missed = model.version - before
        if before >= 0 and missed <= len(model.updates):
            for update in model.updates[-missed:]:
                self._followed.apply(model.kernel, update)
        else:
            known = self._followed.points
            fresh = Followed(known[:0])
            whole = len(known) == len(self._ids)
            fresh.append(known if whole else points(self._ids), model.posterior())
            self._followed = fresh
        self._version = model.version

    def _follow_more(self, ids: Ints, block: Block, posterior: Posterior) -> None:
        """Follow candidates that were looked at; where there are too many, those on top."""
        new = np.flatnonzero(np.isin(ids, self._ids, invert=True))
        self._followed.append(block.points[new], posterior)
        self._ids = np.concatenate([self._ids, ids[new]])
        if len(self._ids) > _most_followed(posterior):
            root = np.sqrt(self._followed.leverage(posterior.lam))
            order = np.argsort(-self._followed.mean - 2.0 * root, kind="stable")
            kept, left = np.split(order, [3 * _most_followed(posterior) // 4])
            self.column.put(self._ids[left], self._followed.mean[left], root[left], self._now)
            self._followed.keep(np.sort(kept))
            self._ids = self._ids[np.sort(kept)]

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

    def noted(self, stale: Floats, caps: Floats, block: Block) -> tuple[Floats, ...]:
        """The mean and √leverage from what has been told (n each)."""
        return block.mean, np.sqrt(block.told)

    def commit(self, bounds: Bounds, awake: Awake, level: float) -> None:
        """Note what is known of the candidates that were looked at."""
        if self._follows_all(bounds) and len(self._ids) <= _most_followed(bounds.posterior):
            return
        self._forget(bounds.posterior)
        self._inducing = bounds.posterior.inducing
        self._now += 1
        self._weights[self._now] = bounds.posterior.theta.copy()
        self._growth[self._now] = leverage_ratio(bounds.trace, bounds.posterior.lam)
        ids, (mean, root) = awake.seen
        self.column.put(ids, mean, root, self._now)
        if self._version == bounds.version:
            self._follow_more(awake.ids, awake.block, bounds.posterior)


Sleepers = Intersected | Current


def list_batch(
    sleepers: Sleepers,
    bounds: Bounds,
    points: PointsOf,
    rule: BatchRule,
    limit: int,
    room: Room,
    leading: Ints = NOBODY,
) -> Picks:
    """Pick the candidate with the largest bound again and again, until the rule ends the batch.

    It also ends where no candidate may be picked any more.

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
    room
        How often each candidate may be picked.
    leading
        The k best candidates so far, where k are looked for. Then the one with the largest bound
        of all others is picked, or of these the one with the smallest lower bound, whichever has
        the larger deviation (LUCB of Kalyanakrishnan et al. 2012, one pick at a time).
    """
    awake = Awake(sleepers, bounds, points, room.closed, leading, all_of_them=rule.compares)
    ids: list[int] = []
    chosen: dict[int, Points] = {}  # points by id
    upper: list[float] = []
    level = np.inf  # down to which bounds were compared
    waiting: list[int] = []  # picks that the deviations do not count yet
    full = False
    while not full:
        position = awake.best()
        if position is not None:
            level = min(level, float(awake.upper[position]))
        weakest = awake.weakest()
        if weakest is not None and (
            position is None or awake.block.leverage[weakest] > awake.block.leverage[position]
        ):
            position = weakest
        if position is None:
            break
        bound = float(awake.upper[position])
        while not full:
            ids.append(int(awake.ids[position]))
            chosen[ids[-1]] = awake.block.points[position : position + 1]
            upper.append(bound)
            full = rule.add(awake.block, position) or len(ids) >= limit
            waiting.append(position)
            if not room.take(ids[-1]):
                awake.close(position)
                break
            # While the ratio is below the inflation squared, no bound inside the batch is below
            # that of the batch start (BBKB Lemma 1): an intersected bound cannot have fallen, and
            # the same candidate is next.
            below = not rule.follows and rule.ratio <= bounds.inflation**2
            if not sleepers.intersects or not below or awake.leading:
                break
        if not full:
            for pick in waiting:
                awake.evaluate(pick)
            waiting.clear()
    awake.commit(level)
    position_of = {id_: i for i, id_ in enumerate(chosen)}
    where = np.array([position_of[id_] for id_ in ids], dtype=np.int64)
    picked = np.concatenate([awake.block.points[:0], *chosen.values()])[where]
    numbers = np.array(ids, dtype=np.int64)
    return Picks(numbers, picked, np.array(upper), bounds.width, rule.ratio)


def largest_upper(
    sleepers: Sleepers, bounds: Bounds, points: PointsOf, without: Ints = NOBODY
) -> float:
    """The largest upper bound on the list, or on what is left of it without some candidates.

    From what has been told; nothing is changed. −∞ where nothing is left.
    """
    awake = Awake(sleepers, replace(bounds, inflation=1.0), points, without)
    position = awake.best()
    return -np.inf if position is None else float(awake.upper[position])


def _most_followed(posterior: Posterior) -> int:
    """How many candidates may be followed with the features of this posterior."""
    return max(_FOLLOWED // max(posterior.size, 1), 2 * FIRST_LOOK)
