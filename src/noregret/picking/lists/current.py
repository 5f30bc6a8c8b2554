"""Bounds of a list by the papers' rule: each one as the posterior now gives it."""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.fantasy import Block
from noregret.models.sparse import SparseGP
from noregret.picking.bounds import Bounds
from noregret.picking.lists.awake import FIRST_LOOK, Awake
from noregret.picking.lists.columns import PointsOf, Queue
from noregret.picking.lists.following import Following
from noregret.picking.lists.last_looks import LastLooks
from noregret.picking.lists.shards import Looks
from noregret.spaces import Candidates


class Current:
    """The papers' rule: every bound is computed from the posterior now.

    Parameters
    ----------
    column
        What is known of every candidate: √(k(x, x)/λ) at first.
    nothing
        An empty array of points, in the type that points have.
    grows
        Whether stale bounds allow for leverages that grow with the dictionary.
    """

    intersects = False

    def __init__(self, column: Looks, nothing: Points, *, grows: bool = True) -> None:
        self._looks = LastLooks(column, grows=grows)
        self._following = Following(nothing)

    @property
    def column(self) -> Looks:
        """What is known of every candidate."""
        return self._looks.column

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""
        self._looks.extend(space)

    def move_to(self, space: Candidates) -> None:
        """Keep what is known of candidates where the list is."""
        self._looks.move_to(space)

    def stale(self, ids: Ints) -> Floats:
        """The stale bounds of some candidates (n): ∞, as earlier bounds limit nothing."""
        return np.full(len(ids), np.inf)

    def all_stale(self) -> Floats:
        """The stale bounds of all candidates (A): ∞."""
        return np.full(len(self._looks), np.inf)

    def intersect(self, ids: Ints, upper: Floats) -> None:
        """Does nothing: earlier bounds limit nothing."""

    def start(self, bounds: Bounds, points: PointsOf, skipped: Ints) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds; some are skipped."""
        following = self._following
        if self._follows_all(bounds):
            return following.queue(bounds, skipped)
        if not following.is_of(bounds.version):
            return self._looks.queue(bounds, points, skipped)
        return self._looks.queue(bounds, points, skipped, following.ids, following.upper(bounds))

    def follow(self, model: SparseGP, points: PointsOf) -> None:
        """Bring the candidates that are followed up to date with the model.

        While nothing is known, every candidate would be looked at: a short list is followed whole.
        """
        if model.size and self._looks.are_empty and len(self._following) < len(self._looks):
            self._following.take_all(len(self._looks), model, points)
        whole = len(self._following) == len(self._looks)
        self._following.catch_up(model, points, lazily=whole)

    def _follows_all(self, bounds: Bounds) -> bool:
        """Whether the bounds of all candidates are kept exact, so that the past does not matter."""
        return self._following.is_of(bounds.version) and len(self._following) == len(self._looks)

    def top(self, bounds: Bounds, skipped: Ints) -> tuple[int, Points, float] | None:
        """The candidate with the largest bound of all except ``skipped``: id, point and bound.

        ``None`` if candidates have to be looked at first, or if evaluations are pending.
        """
        following = self._following
        if not self._follows_all(bounds) or bounds.fantasy.pending or bounds.weight != 1.0:
            return None
        if following.are_too_many(bounds.posterior):
            return None
        return following.top(bounds, skipped)

    def first_look(self, bounds: Bounds, limit: int) -> int:
        """How many candidates to look at first: few if bounds are exact and few are picked."""
        return min(limit, FIRST_LOOK) if self._follows_all(bounds) else FIRST_LOOK

    def cap(self, bounds: Bounds, stale: Floats, block: Block) -> Floats:
        """The largest bounds that these candidates can have in the batch (n): ∞, no limit."""
        return np.full(len(stale), np.inf)

    def noted(self, stale: Floats, caps: Floats, block: Block) -> tuple[Floats, ...]:
        """The mean and √leverage, without pending evaluations (n each)."""
        return block.mean, np.sqrt(block.told)

    def commit(self, bounds: Bounds, awake: Awake, level: float) -> None:
        """Note what is known of the candidates that were looked at, and follow them."""
        if self._follows_all(bounds) and not self._following.are_too_many(bounds.posterior):
            return
        ids, (mean, root) = awake.seen
        self._looks.put(bounds, ids, mean, root)
        self._follow_more(bounds, awake.ids, awake.block)

    def note(self, bounds: Bounds, ids: Ints, points: Points) -> None:
        """Look at candidates (n ids, n × d points), and follow them; skips those followed."""
        if self._following.is_of(bounds.version):
            new = np.isin(ids, self._following.ids, invert=True)
            ids, points = ids[new], points[new]
        if len(ids):
            block = bounds.fantasy.block(points)
            self._looks.put(bounds, ids, block.mean, np.sqrt(block.told))
            self._follow_more(bounds, ids, block)

    def _follow_more(self, bounds: Bounds, ids: Ints, block: Block) -> None:
        """Follow candidates that were looked at; if too many, those with the largest bounds."""
        following, posterior = self._following, bounds.posterior
        if following.is_of(bounds.version):
            following.add(ids, block, posterior)
            if following.are_too_many(posterior):
                self._looks.put(bounds, *following.drop(posterior))
