"""Candidates looked at lately: what the posterior says of them is kept exact."""

from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.followed import Followed
from noregret.models.posterior import Block, Posterior
from noregret.models.sparse import SparseGP
from noregret.picking.chooser import Bounds
from noregret.picking.columns import PointsOf, Taken, with_slack

#: how many numbers the features of all followed candidates may take
_MOST = 1 << 26
#: how many numbers these features may take in a file
_SAVED = 1 << 20
#: at least this many candidates are followed
_FEWEST = 128
#: for how many candidates features are computed at a time
_PIECE = 8192
#: a list of at most this many candidates may be followed from the start
_WHOLE = 1 << 17


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

    def catch_up(self, model: SparseGP, points: PointsOf) -> None:
        """Bring all of them up to date with the model."""
        if self._version == model.version:
            return
        # There is no version until all are up to date: a kernel may raise an error on the way.
        before, self._version = self._version, -1
        missed = model.version - before
        if before >= 0 and missed <= len(model.updates):
            for update in model.updates[-missed:]:
                self._followed.apply(model.kernel, update)
        else:
            known, posterior = self._followed.points, model.posterior()
            where = known if len(known) == len(self.ids) else points(self.ids)
            self._followed = Followed(known[:0])
            for start in range(0, len(where), _PIECE):
                part = where[start : start + _PIECE]
                self._followed.append(part, posterior.embed(part), posterior)
        self._version = model.version

    def take_all(self, count: int, model: SparseGP, points: PointsOf) -> None:
        """Follow every candidate of a list of this length, if they are not too many."""
        if count <= _WHOLE and count <= _most(model.size):
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
        mean, root = self._means_and_roots(posterior)
        order = np.argsort(-mean - 2.0 * root, kind="stable")
        kept, left = np.split(order, [3 * _most(posterior.size) // 4])
        dropped = self.ids[left], mean[left], root[left]
        self._followed.keep(np.sort(kept))
        self.ids = self.ids[np.sort(kept)]
        return dropped

    def _means_and_roots(self, posterior: Posterior) -> tuple[Floats, Floats]:
        """Means and √leverages (n each)."""
        return self._followed.mean, np.sqrt(self._followed.leverage(posterior.lam))

    def upper(self, bounds: Bounds) -> Floats:
        """Upper bounds inside a batch that starts here, without pending evaluations (n)."""
        mean, root = self._means_and_roots(bounds.posterior)
        return with_slack(mean + bounds.inflation * bounds.width * root, root)

    def queue(self, bounds: Bounds, skipped: Ints) -> "FollowedQueue":
        """All of them in falling order of their bounds, except ``skipped``."""
        upper = self.upper(bounds)
        if len(skipped):
            upper[np.isin(self.ids, skipped)] = -np.inf
        # Features that files leave out are not given: computed again, they differ by round-off.
        return FollowedQueue(upper, self.ids, self._followed, with_features=self._are_saved())


class FollowedQueue:
    """Candidates that are followed, in falling order of their bounds; ties in the order of ids.

    Parameters
    ----------
    values
        Their bounds (n), −∞ for those that are skipped.
    ids, followed
        Ids of the candidates (n), and what is known of them.
    with_features
        Whether to give their features too.
    """

    def __init__(
        self, values: Floats, ids: Ints, followed: Followed, *, with_features: bool
    ) -> None:
        self._values, self._ids, self._followed = values, ids, followed
        self._with_features = with_features
        self.floor = float(values.max(initial=-np.inf))

    @property
    def next_id(self) -> int:
        """The smallest id that has the largest bound not taken yet."""
        if self.floor == -np.inf:
            return len(self._ids)
        return int(self._ids[self._values == self.floor].min())

    def take(self, count: int) -> Taken:
        """The next candidates, ``count`` of them or all that are left."""
        values, level = self._values, -np.inf
        if count == 1:
            level = self.floor
        elif count < len(values):
            level = np.partition(values, len(values) - count)[len(values) - count]
        rows = np.flatnonzero(values >= level if level > -np.inf else values > -np.inf)
        if len(rows) > 1:
            rows = rows[np.lexsort((self._ids[rows], -values[rows]))[:count]]
        stale = values[rows]
        values[rows] = -np.inf
        self.floor = float(values.max(initial=-np.inf))
        features = self._followed.features(rows) if self._with_features else None
        return Taken(self._ids[rows], stale, self._followed.points[rows], features)


def _most(size: int) -> int:
    """How many candidates may be followed with this many inducing points."""
    return max(_MOST // max(size, 1), _FEWEST)
