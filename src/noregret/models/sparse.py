"""The sparse GP: updates of a posterior on a dictionary of inducing points.

See :mod:`noregret.models.posterior` for the formulas. This module keeps the posterior up to date.
Features stay as they are when the dictionary grows. Evaluations enter by unique arm, with a count
and a sum of rewards. V⁻¹ is updated by low-rank steps. This module does not know about candidates.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import (
    lower_solve,
    pivoted_cholesky,
    row_norms,
    with_room,
    with_square_room,
)
from noregret.models.posterior import Posterior
from noregret.models.ridge import Ridge
from noregret.models.update import Update

T = TypeVar("T")

#: how many updates are kept
_UPDATES = 8


class SparseGP:
    """A GP given evaluations of u arms, on a dictionary of m of them.

    Parameters
    ----------
    kernel, lams
        The prior covariance, and the values of the regularisation λ to keep posteriors for.
        Leverages are those of the first one.
    nothing
        An empty array of points (0 × d, or no objects), in the type that points have.
    scale
        The largest k(x, x).

    Attributes
    ----------
    dictionary
        The arms that are inducing points (m rows).
    counts, sums
        Evaluations and sums of rewards that the posterior holds, by arm (u each).
    prior, residual
        k(x, x), and the part of it outside the dictionary's span, by arm (u each).
    version
        How often the posterior has changed.
    updates
        How the latest changes affected the posterior of any point, in order; empty if the
        dictionary was replaced.
    """

    def __init__(
        self, kernel: Kernel, lams: tuple[float, ...], nothing: Points, scale: float
    ) -> None:
        self.kernel = kernel
        self.lams = lams
        self.dictionary: Ints = np.empty(0, dtype=np.int64)
        self.counts: Floats = np.empty(0)
        self.sums: Floats = np.empty(0)
        self.prior: Floats = np.empty(0)
        self.residual: Floats = np.empty(0)
        self._inducing: Points = nothing
        self._upper: Floats = np.empty((0, 0))  # Lᵀ in a corner, K_S = LLᵀ
        self._buffer: Floats = np.empty((0, 0))  # the features of the arms in a corner
        self._ridge = Ridge(np.array(lams))
        self._kept: dict[str, Any] = {}  # see :meth:`kept`
        self.version = 0
        self.updates: list[Update] = []
        # The target dictionary of an update that is under way, or was interrupted.
        self._target: Ints | None = None
        # The dictionary of the last computation from scratch, if nothing has changed since.
        self._computed_from: Ints | None = None
        # Directions with less prior variance than this outside the span are round-off, or tiny
        # beside λ.
        self.tolerance = min(max(1e-3 * lams[0], 1e-13 * scale), 1e-10 * scale)

    def __getstate__(self) -> dict[str, Any]:
        """Files and copies leave out what a look may have computed."""
        return {**vars(self), "_kept": {}}

    def copy(self) -> "SparseGP":
        """Another model with the same content: O(u m + g m²)."""
        made = self._shared()
        # All other attributes are replaced when they change, never written to.
        made._buffer, made._ridge = self._buffer.copy(), self._ridge.copy()
        made._upper = self._upper.copy()
        return made

    def _shared(self) -> "SparseGP":
        """Another model with the same arrays."""
        made = object.__new__(SparseGP)
        vars(made).update(vars(self), _kept={})
        return made

    @property
    def is_whole(self) -> bool:
        """Whether no update was interrupted."""
        return self._target is None

    def without_factors(self) -> "SparseGP":
        """The same model for a file, without what :meth:`see` computes again bit for bit.

        The model itself if that is not possible, because it has changed since everything was last
        computed.
        """
        if self._computed_from is None:
            return self
        made = SparseGP(self.kernel, self.lams, self._inducing[:0], 1.0)
        made.counts, made.sums, made.tolerance = self.counts, self.sums, self.tolerance
        made.version, made._target = self.version - 1, self._computed_from
        return made

    @property
    def lam(self) -> float:
        """The first λ."""
        return self.lams[0]

    @property
    def size(self) -> int:
        """m, the number of inducing points."""
        return len(self.dictionary)

    @property
    def features(self) -> Floats:
        """Z of the arms (u × m, a view)."""
        return self._buffer[: len(self.counts), : self.size]

    def posterior(self) -> Posterior:
        """The posterior of what has been taken in; valid until more is taken in."""

        def posterior() -> Posterior:
            ridge, tall = self._ridge, self._upper[: self.size].T  # the order that LAPACK wants
            parts = self.kernel, self._inducing, tall, self.lams, ridge, ridge.thetas
            return Posterior(*parts, self.tolerance)

        return self.kept("posterior", posterior)

    # -- what is known -----------------------------------------------------------------------

    def mean(self, rows: Ints) -> Floats:
        """The posterior means of some arms (n)."""
        return np.asarray(self.features[rows] @ self._ridge.thetas[0])

    def leverage(self, rows: Ints | None = None) -> Floats:
        """The leverages of some arms (n), or of all (u)."""
        if rows is None:
            b, residual = self._ridge.coordinates(self.features, slice(1)), self.residual
        else:
            b, residual = self._coordinates(rows), self.residual[rows]
        return np.asarray(residual / self.lam + row_norms(b[0]))

    def _coordinates(self, rows: Ints) -> Floats:
        """ZF of some arms (g × n × m); for the first λ only if they are too many for an update."""
        if self._are_many(len(rows)):
            return self._ridge.coordinates(self.features[rows], slice(1))
        last, found = self._kept.get("coordinates", (None, None))
        if last is None or not np.array_equal(last, rows):
            Z = self.features[rows]
            alone = len(self.lams) == 1  # then a look may have computed them
            found = self.posterior().coordinates(Z)[None] if alone else self._ridge.coordinates(Z)
            self._kept["coordinates"] = rows, found
        return np.asarray(found)

    def _are_many(self, told: int, new: int = 0) -> bool:
        """Whether for so many arms told and new inducing points all is computed from scratch."""
        return 2 * told + new > self.size + 64

    def log_dets(self) -> Floats:
        """log det(V/λ) = log det(I + Q/λ) for every λ (g); Q is the kernel matrix on the span."""
        return self._ridge.log_dets

    def trace(self) -> float:
        """tr R = Σ over evaluations of the part of k(x, x) outside the span."""
        return float(self.counts @ self.residual)

    def prior_sum(self) -> float:
        """Σ k(x, x) over evaluations."""
        return float(self.counts @ self.prior)

    def effective_dimension(self) -> float:
        """Σ leverage over the evaluations told (BKB eq. 5)."""
        return self.kept("degrees", lambda: float(self.counts @ self.leverage()))

    def ridge(self, scatter: float) -> Callable[[], Floats]:
        """A function that gives λ yᵀ(Q + λI)⁻¹y = min_μ ‖y − μ‖² + λ‖μ‖² for every λ (g).

        ``scatter`` is Σ (reward − mean of its arm)². A sum of squares, so that nothing cancels. The
        function is called for the first time before the model changes, or never.
        """
        kept = self._kept

        def ridges() -> Floats:
            if "misfits" not in kept:
                assert kept is self._kept  # the model is still the same
                kept["misfits"] = self._misfits()
            return np.asarray(scatter + kept["misfits"])

        return ridges

    def _misfits(self) -> Floats:
        """Σ n (average − mean)² + λ‖θ‖² for every λ (g): a pass over all features."""
        # Arms that were never told, at the end, must not change how the sum is rounded.
        told = slice(int(np.flatnonzero(self.counts).max(initial=-1)) + 1)
        counts, thetas = self.counts[told], self._ridge.thetas
        averages = self.sums[told] / np.maximum(counts, 1.0)
        fits = np.square(averages - thetas @ self.features[told].T) @ counts
        return np.asarray(fits + np.array(self.lams) * row_norms(thetas))

    def kept(self, name: str, compute: Callable[[], T]) -> T:
        """What ``compute`` gives, kept under a name until the posterior changes."""
        if name not in self._kept:
            self._kept[name] = compute()
        found: T = self._kept[name]
        return found

    def ridges_of(self, lams: Floats, scatter: float) -> Floats:
        """As :meth:`ridge`, for any λ (k), with a posterior or without: O(m³)."""
        total = scatter + float(np.square(self.sums) @ (1.0 / np.maximum(self.counts, 1.0)))
        return np.asarray(np.maximum(total - self._ridge.explained(lams), scatter))

    # -- following the observations ----------------------------------------------------------

    def see(self, points: Points) -> None:
        """Take in arms not seen before: ``points`` are all arms (u × d), old ones first.

        An update that was interrupted is finished first.
        """
        if self._target is not None:
            own = len(self.counts)
            self.rebuild(points[:own], self.counts.astype(np.int64), self.sums, self._target)
        known, total = len(self.counts), len(points)
        if total == known:
            return
        self._computed_from = None
        fresh = points[known:]
        Z, prior = self.posterior().embed(fresh), self.kernel.diag(fresh)
        zeros = np.zeros(total - known)
        self._buffer = with_room(self._buffer, total, self.size)
        self.counts = np.concatenate([self.counts, zeros])
        self.sums = np.concatenate([self.sums, zeros])
        self.prior = np.concatenate([self.prior, prior])
        left = np.maximum(prior - row_norms(Z), 0.0)
        self.residual = np.concatenate([self.residual, left])
        self._buffer[known:total, : self.size] = Z

    def advance(self, points: Points, counts: Ints, sums: Floats, grow: Ints) -> None:
        """Follow the observations: all arms (u × d), evaluations told and sums of rewards (u each).

        ``grow`` are arms to add to the dictionary; those already in its span are skipped.
        O(m² k + u m Δ) for k arms with new evaluations and Δ new inducing points.
        """
        self.see(points)
        self._computed_from = None
        more = counts - self.counts
        rows = more.nonzero()[0]
        grow = grow[self.residual[grow] > self.tolerance]  # 0 for those in the dictionary
        self._target = np.concatenate([self.dictionary, grow])
        change = sums - self.sums
        self.counts, self.sums = counts.astype(np.float64), sums.copy()
        updates, self.updates, self.version = self.updates, [], self.version + 1
        update = Update(self._ridge.thetas[0])
        if self._are_many(len(rows), len(grow)):
            self._kept = {}
            self._add_features(points, grow, update)
            self._compute()
            accurate = False
        else:
            accurate = self._take_in(points, rows, more[rows], change, grow, update)
        update.theta = self._ridge.thetas[0]
        if not accurate:
            update.root = self._ridge.roots[0].copy()
        self.updates = [*updates[1 - _UPDATES :], update]
        self._target = None

    def rebuild(self, points: Points, counts: Ints, sums: Floats, dictionary: Ints) -> None:
        """Compute everything from scratch on a dictionary of arms: O(u m² + m³)."""
        self._target, self._kept = dictionary, {}
        self.updates, self.version = [], self.version + 1
        self.dictionary, self._inducing = dictionary[:0], points[:0]
        self._upper = np.empty((0, 0))
        self.counts, self.sums = counts.astype(np.float64), sums.copy()
        self.prior = self.kernel.diag(points)
        self.residual = self.prior.copy()
        self._buffer = np.zeros((len(points), 0))
        self._ridge = Ridge(np.array(self.lams))
        self._add_features(points, dictionary)
        self._compute()
        self._target, self._computed_from = None, dictionary

    def recounted(self, counts: Ints, sums: Floats) -> "SparseGP":
        """A model with other counts and sums of the same arms (u each); features are shared."""
        made = self._shared()
        made.counts, made.sums = counts.astype(np.float64), sums.copy()
        made._ridge = ridge = Ridge(np.array(self.lams))
        made.version += 1
        made._compute()
        made.updates = [*self.updates[1 - _UPDATES :], Update(ridge.thetas[0], ridge.roots[0])]
        return made

    def set_weights(self, weights: Floats) -> None:
        """Use other weights of the means than those of least squares, until the next update.

        The weights are those of the first λ (m), or of all (g × m).
        """
        self._ridge.set_weights(np.atleast_2d(weights))
        self._computed_from, self._kept = None, {}
        if self.updates:
            self.updates[-1].theta, self.updates[-1].moves = self._ridge.thetas[0], None

    def _compute(self) -> None:
        """Compute V, its root and the weights from the features, without drift: O(u m² + m³)."""
        self._ridge.compute(self.features, self.counts, self.sums)

    def _take_in(
        self, points: Points, rows: Ints, more: Floats, change: Floats, grow: Ints, update: Update
    ) -> bool:
        """Low-rank steps: more evaluations of some arms (k each), then more inducing points.

        ``change`` is that of the sums of all arms (u). Returns whether the first λ's root was still
        accurate.
        """
        ridge, m = self._ridge, self.size
        weights, gains = np.sqrt(more), np.empty((len(self.lams), 0, m))
        coordinates, self._kept = self._coordinates(rows), {}
        moved = change.nonzero()[0]
        ridge.change_sums(self.features[moved], change[moved])
        by_rank = by_columns = np.empty(0)
        if len(rows):
            found = ridge.add_rows(self.features[rows], coordinates, weights, change[rows])
            update.rank, by_rank, gains, across = found
        if len(grow):
            told = self.counts.copy()
            told[rows] -= more
            # Arms in the span have no new features, so that what was told of them has no part here.
            others = ((self.residual > 0.0) & (told > 0.0)).any()
            fresh = self._add_features(points, grow, update)
            if fresh.shape[1]:
                new = np.flatnonzero(fresh.any(axis=1) & (self.counts > 0.0))
                weighted = fresh[rows] * weights[:, None]
                solved = None if others else gains.transpose(0, 2, 1) @ weighted
                arms = self.features[new, :m], fresh[new], self.counts[new], self.sums[new]
                update.columns, update.columns_inverse, by_columns = ridge.add_columns(
                    *arms, solved
                )
                if len(rows) and not others:
                    by_fresh = update.columns_inverse @ weighted.T
                    update.columns_by_rank = by_fresh @ across
        if len(moved) == np.count_nonzero(change[rows]) and ridge.is_settled():
            update.moves = by_rank, by_columns
            return True
        return ridge.solve()

    def _add_features(self, points: Points, rows: Ints, update: Update | None = None) -> Floats:
        """Features of new inducing points for all arms, beside the old ones (u × Δ).

        If ``update`` is given, it records how any point gets these features.
        """
        m, own = self.size, points[rows]
        old = self.features[rows]
        if len(rows) == 1:
            gram = self.residual[rows, None]
        else:
            gram = self.kernel(own, own) if len(rows) else np.empty((0, 0))
            if m:
                gram -= old @ old.T
        lower, kept = pivoted_cholesky(gram, self.tolerance)
        k, new, taken = len(kept), own[kept], rows[kept]
        if not k:
            return np.empty((len(points), 0))
        # Arms in the span have none of the new features: |e|² is at most the residual.
        left = self.residual.copy()
        left[taken] = 0.0  # inducing points lie in their own span
        others = left.nonzero()[0]
        fresh = np.zeros((len(points), k))
        fresh[taken] = lower
        if update is not None or len(others):
            inverse = 1.0 / lower if k == 1 else lower_solve(lower, np.eye(k))
            border = inverse @ old[kept]
            if update is not None:
                update.new_points, update.border, update.border_inverse = new, border, inverse
        if len(others):
            e = self.kernel(points[others], new) @ inverse.T - self.features[others] @ border.T
            fresh[others], left[others] = e, np.maximum(left[others] - row_norms(e), 0.0)
        self.residual = left
        self._upper = with_square_room(self._upper, m + k)
        self._upper[:m, m : m + k] = old[kept].T
        self._upper[m : m + k, m : m + k] = lower.T
        self._buffer = with_room(self._buffer, len(points), m + k)
        self._buffer[: len(points), m : m + k] = fresh
        self._inducing = np.concatenate([self._inducing, new])
        self.dictionary = np.concatenate([self.dictionary, taken])
        return np.asarray(fresh)
