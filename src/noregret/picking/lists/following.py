"""Candidates looked at lately: what the posterior says of them is kept up to date."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.fantasy import Block
from noregret.models.followed import Followed
from noregret.models.posterior import Posterior
from noregret.models.sparse import SparseGP
from noregret.picking.bounds import Bounds
from noregret.picking.lists.columns import PointsOf, Taken
from noregret.picking.lists.look_columns import with_slack

#: how many numbers the features of all followed candidates may take in any case
_MOST = 1 << 26
#: they may take more beside a large model: this many times m × m numbers, up to a limit
_TIMES, _MOST_BESIDE_MODEL = 16, 1 << 29
#: how many numbers these features may take in a file
_SAVED = 1 << 20
#: at least this many candidates are followed
_FEWEST = 128
#: for how many candidates features are computed at a time
_PIECE = 8192
#: if more than one of so many has to be looked at, all take in the updates that wait
_FEW = 16
#: to find the largest bounds, this many times as many are computed first, and so on
_AHEAD = 4


class Following:
    """Candidates that are followed from batch to batch.

    Parameters
    ----------
    nothing
        An empty array of points, in the type that points have.

    Attributes
    ----------
    ids
        Ids of these candidates (n).
    """

    def __init__(self, nothing: Points) -> None:
        self.ids: Ints = np.empty(0, dtype=np.int64)
        self._followed = Followed(nothing)
        self._version = -1

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        """Many features are left out of files, and computed again when they are needed."""
        if self._are_saved():
            return vars(self)
        return {**vars(self), "_followed": Followed(self._followed.points[:0]), "_version": -1}

    def _are_saved(self) -> bool:
        return self._followed.numbers <= _SAVED

    def is_of(self, version: int) -> bool:
        """Whether the candidates are up to date with this version of the model."""
        return self._version == version

    def catch_up(self, model: SparseGP, points: PointsOf, *, lazily: bool = False) -> None:
        """Bring all of them up to date with the model.

        If they are many and ``lazily``, updates wait, and those by many evaluations leave upper
        bounds of leverages: only the queue computes bounds, of the candidates that come out on top.
        """
        if self._version == model.version:
            return
        # There is no version until all are up to date: a kernel may raise an error on the way.
        before, self._version = self._version, -1
        missed = model.version - before
        if before >= 0 and missed <= len(model.updates):
            lazily = lazily and not self._are_saved()
            for update in model.updates[-missed:]:
                if not (lazily and self._followed.put_off(update)):
                    falls = not lazily or update.falls_cost_nothing
                    self._followed.apply(model.kernel, update, falls=falls)
        else:
            known = self._followed.points
            where = known if len(known) == len(self.ids) else points(self.ids)
            self._followed = Followed(known[:0])  # the old features need not be kept meanwhile
            self._followed = Followed.all_of(where, model.posterior())
        self._version = model.version

    def take_all(self, count: int, model: SparseGP, points: PointsOf) -> None:
        """Follow every candidate of a list of this length, if they are not too many.

        Their points are kept beside their features, and count as much.
        """
        numbers = points(np.zeros(1, dtype=np.int64)).size  # of one point
        if count <= _most(model.size + numbers):
            self.ids, self._version = np.arange(count), -1
            self.catch_up(model, points)

    def add(self, ids: Ints, block: Block, posterior: Posterior) -> None:
        """Follow more candidates; those that are followed already are skipped."""
        new = np.flatnonzero(np.isin(ids, self.ids, invert=True))
        if len(new):
            self._followed.append(block.points[new], block.Z[new], posterior)
            self.ids = np.concatenate([self.ids, ids[new]])

    def are_too_many(self, posterior: Posterior) -> bool:
        """Whether their features take more memory than they may."""
        return len(self.ids) > _most(posterior.size)

    def drop(self, posterior: Posterior) -> tuple[Ints, Floats, Floats]:
        """Stop following candidates with small bounds; their ids, means and √leverages (n each)."""
        self._followed.make_exact(posterior)
        mean, root = self._means_and_roots(posterior)
        order = np.argsort(-mean - 2.0 * root, kind="stable")
        kept, left = np.split(order, [3 * _most(posterior.size) // 4])
        dropped = self.ids[left], mean[left], root[left]
        self._followed.keep(np.sort(kept))
        self.ids = self.ids[np.sort(kept)]
        return dropped

    def _means_and_roots(
        self, posterior: Posterior, rows: Ints | slice = slice(None)
    ) -> tuple[Floats, Floats]:
        """Means and √leverages of some of them, or of all (n each)."""
        leverage = self._followed.leverage(posterior.lam, rows)
        return self._followed.mean[rows], np.sqrt(leverage)

    def upper(self, bounds: Bounds) -> Floats:
        """Upper bounds inside a batch that starts here, without pending evaluations (n)."""
        self._followed.make_exact(bounds.posterior)
        return self._upper(bounds)

    def _upper(self, bounds: Bounds, rows: Ints | slice = slice(None)) -> Floats:
        mean, root = self._means_and_roots(bounds.posterior, rows)
        width = math.hypot(bounds.inflation * bounds.width, math.sqrt(self._followed.growth))
        return with_slack(mean + width * root, root)

    def _exact_upper(self, bounds: Bounds, rows: Ints) -> Floats:
        """As :meth:`upper`, of some candidates (n)."""
        followed, posterior = self._followed, bounds.posterior
        if len(rows) * _FEW > min(len(self.ids), _PIECE):
            followed.settle(posterior.kernel)
        if followed.late:
            mean, leverage = followed.ahead(posterior.kernel, posterior.lam, rows)
            root = np.sqrt(leverage)
            return with_slack(mean + bounds.inflation * bounds.width * root, root)
        followed.make_exact(posterior, rows)
        return self._upper(bounds, rows)

    def top(self, bounds: Bounds, skipped: Ints) -> tuple[int, Points, float] | None:
        """The one with the largest bound of all except ``skipped``: id, point (1 × d) and bound.

        Of several the one with the largest mean, then the one with the smallest id. ``None`` if
        bounds are not known exactly, or if a file would leave them out, or if all are skipped.
        """
        if not (self._followed.exact and self._are_saved()):
            return None
        mean, upper = self._means_and_roots(bounds.posterior)
        upper *= bounds.inflation * bounds.width
        upper += mean
        if len(skipped):
            upper[np.isin(self.ids, skipped)] = -np.inf
        largest = upper.item(upper.argmax())
        ties = (upper == largest).nonzero()[0]
        at = ties[np.lexsort((self.ids[ties], -mean[ties]))[0]] if len(ties) > 1 else ties[0]
        if largest == -np.inf:
            return None
        return int(self.ids[at]), self._followed.points[at : at + 1], largest

    def queue(self, bounds: Bounds, skipped: Ints) -> "FollowedQueue":
        """All of them in falling order of their bounds, except ``skipped``."""
        upper = self._upper(bounds)
        if len(skipped):
            upper[np.isin(self.ids, skipped)] = -np.inf

        unsure = self._followed.late or not self._followed.exact
        # Features that files leave out are not given: computed again, they differ by round-off.
        return FollowedQueue(
            upper,
            self.ids,
            self._followed,
            partial(self._exact_upper, bounds) if unsure else None,
            with_features=self._are_saved(),
        )


class FollowedQueue:
    """Candidates that are followed, in falling order of their bounds; ties in the order of ids.

    Parameters
    ----------
    values
        Their bounds (n), −∞ for those that are skipped.
    ids, followed
        Ids of the candidates (n), and what is known of them.
    exactly
        Gives the bounds of some candidates (k) if ``values`` may be too large; else ``None``.
    with_features
        Whether to give their features too.
    """

    def __init__(
        self,
        values: Floats,
        ids: Ints,
        followed: Followed,
        exactly: Callable[[Ints], Floats] | None = None,
        *,
        with_features: bool,
    ) -> None:
        self._values, self._ids, self._followed = values, ids, followed
        self._exactly, self._with_features = exactly, with_features
        if exactly is not None:
            self._unsure = values > -np.inf
            self._make_exact(1)
        self.floor = float(values.max(initial=-np.inf))

    def _make_exact(self, count: int) -> None:
        """Make sure that the ``count`` largest bounds are exact."""
        if self._exactly is None:
            return
        values, some = self._values, _AHEAD * count
        while True:
            sure = values[~self._unsure]
            level = np.partition(sure, len(sure) - count)[-count] if len(sure) >= count else -np.inf
            rows = (self._unsure & (values >= level)).nonzero()[0]
            if not len(rows):
                return
            if len(rows) > some:  # their own bounds may show that the others need not be computed
                rows = rows[np.argpartition(values[rows], len(rows) - some)[-some:]]
            self._compute(rows)
            some *= _AHEAD

    def _compute(self, rows: Ints) -> None:
        """Compute the bounds of some candidates."""
        assert self._exactly is not None
        rows = np.sort(rows[self._unsure[rows]])
        for start in range(0, len(rows), _PIECE):
            part = rows[start : start + _PIECE]
            self._values[part] = self._exactly(part)
        self._unsure[rows] = False

    @property
    def next_id(self) -> int:
        """The smallest id that has the largest bound not taken yet."""
        if self.floor == -np.inf:
            return len(self._ids)
        return int(self._ids[self._values == self.floor].min())

    def take(self, count: int, above: float = -np.inf) -> Taken:
        """The next candidates: ``count`` of them, or as many as have a bound above a level."""
        self._make_exact(count + 1)  # the one after them has the floor
        values, level = self._values, -np.inf
        if count == 1:
            level = self.floor
        elif count < len(values):
            level = np.partition(values, len(values) - count)[len(values) - count]
        rows = (values >= level if level > -np.inf else values > -np.inf).nonzero()[0]
        if len(rows) > 1:
            rows = rows[np.lexsort((self._ids[rows], -values[rows]))[:count]]
        rows = rows[values[rows] > above]
        stale = values[rows]
        values[rows] = -np.inf
        self.floor = float(values.max(initial=-np.inf))
        features = self._followed.features(rows) if self._with_features else None
        return Taken(self._ids[rows], stale, self._followed.points[rows], features)


def _most(size: int) -> int:
    """How many candidates may be followed with m inducing points.

    To look at a candidate that is not followed costs O(m²), to follow it O(m). So the larger the
    model, the more candidates are worth following.
    """
    m = max(size, 1)
    return max(_MOST // m, min(_TIMES * m, _MOST_BESIDE_MODEL // m), _FEWEST)
