"""Algorithms on one GP, over a list or a box: following the observations, choosing batches."""

import math
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.acquisition import lazy_batch
from noregret.algorithms.base import Optimizer
from noregret.batching import BatchRule, FixedSize
from noregret.box_search import SEARCHES, BoxSearch, box_batch
from noregret.domains import Box
from noregret.models.dictionary import Plan, Sparsifier
from noregret.models.sparse import SparseGP
from noregret.models.surface import Surface
from noregret.models.view import PosteriorView
from noregret.results import BatchInfo, Recommendation

Width = str | float

#: the limit of a batch that only its rule ends
UNLIMITED = 1 << 62
#: points known to be good from which a search of a box starts too
_ANCHORS = 5


class GPOptimizer(Optimizer):
    """Keeps a GP model of a list or a box and picks by upper confidence bounds.

    Subclasses say which dictionary, which width and which batch rule.
    """

    #: widths this algorithm knows by name
    widths: tuple[str, ...] = ("theory", "practical")
    #: whether the batch rule decides how many points ask() gives
    adaptive = False
    #: whether the dictionary's span bounds what picks of a batch shrink (BBKB Algorithm 1)
    frozen = False

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        width: Width,
        ratio: float,
        sparsifier: Sparsifier,
        search: str,
        **shared: Any,
    ) -> None:
        super().__init__(domain, kernel, **shared)
        self.search = _checks.one_of("search", search, SEARCHES)
        self._box = BoxSearch(self.domain, search) if isinstance(self.domain, Box) else None
        self.width = self._check_width(width)
        self.ratio = _checks.at_least_one("ratio", ratio)
        self._sparsifier = sparsifier
        self._model = self._new_model()
        self._synced = 0  # evaluations the model holds
        self._unasked = 0  # of them, those that nobody had asked for
        # Bounds on log det(K_t/λ + I), from leverages at batch starts times 1 and 3.
        self._log_det = {1: 0.0, 3: 0.0}

    def _new_model(self) -> SparseGP:
        scale = self.kappa_squared if self._box else 0.0
        return SparseGP(self.kernel, self.lam, self._points, self._prior, scale)

    # -- widths ------------------------------------------------------------------------------

    def _check_width(self, width: Any) -> Width:
        if isinstance(width, str):
            return _checks.one_of("width", width, self.widths)
        return _checks.not_negative("width", width)

    @property
    def beta(self) -> float:
        """The width in use: bounds are mean ± beta · std."""
        self._sync()
        return self._beta()

    def _beta(self) -> float:
        if not isinstance(self.width, str):
            return self.width
        return self._leverage_width(self.width) / math.sqrt(self.lam)

    def _leverage_width(self, name: str) -> float:
        """The named width, as a factor of √leverage."""
        raise TypeError(f"{type(self).__name__} defines no widths")

    # -- following the observations ----------------------------------------------------------

    def _sync(self) -> None:
        """Let the model take in what has been told since the last batch start."""
        observations, model = self._observations, self._model
        if self._box:
            model.see_points(observations.points[len(model.arms) :])
        else:
            model.see(observations.ids[len(model.arms) :])
        if observations.t == self._synced:
            return
        self._count_information()
        counts = observations.told + observations.pending
        unasked = observations.unasked - self._unasked
        plan = self._sparsifier.plan(model, counts, self._qbar(), self._rng, unasked)
        self._carry_out(plan)
        if unasked:
            # Old data came in bulk: the sum over its points, all judged at once, is a poor bound.
            for factor in self._log_det:
                self._log_det[factor] = min(self._log_det[factor], model.log_det_bound())
            self._unasked = observations.unasked
        self._synced = observations.t

    def _count_information(self) -> None:
        """log det(K/λ + I) grows by at most Σ log(1 + σ²_fb), σ² ≤ 3σ̃² (BBKB C.2)."""
        more = self._observations.told - self._model.counts
        leverage = self._model.arms.leverage(self.lam)
        for factor in self._log_det:
            self._log_det[factor] += float(more @ np.log1p(factor * leverage))

    def _carry_out(self, plan: Plan) -> None:
        observations, model = self._observations, self._model
        before = model.size
        if plan.replace:
            model.rebuild(observations.told, observations.sums, plan.rows)
        else:
            model.advance(observations.told, observations.sums, plan.rows)
        if plan.reason in ("compact", "warm start"):
            self._log(plan.reason, before=before, after=model.size)

    def _qbar(self) -> float:
        """q̄ for the next draw of the dictionary."""
        return 2.0

    # -- choosing ----------------------------------------------------------------------------

    def _rule(self, view: PosteriorView, pending: float) -> BatchRule:
        """The batch rule for a batch that starts here."""
        return FixedSize()

    def _draw(self, n: int) -> Ints | Floats:
        """Ids or points uniformly at random."""
        if isinstance(self.domain, Box):
            return self.domain.sample(n, self._rng)
        return self._rng.integers(len(self._points), size=n)

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        self._sync()
        model, observations = self._model, self._observations
        limit = (n or UNLIMITED) if self.adaptive else (n or 1)
        beta = self._beta()
        if not observations.t and not observations.pending.any():
            # Nothing is known: uniformly at random (BKB 3.1, BBKB Algorithm 1, line 1).
            drawn = self._draw(1 if self.adaptive else limit)
            return drawn, BatchInfo(beta * np.sqrt(self._prior_at(drawn)), beta, 1.0, 0)
        pending = float(observations.pending @ model.arms.leverage(self.lam))
        # Inside a batch the theorems multiply β by C̃ (α̃ of BBKB Theorem 2).
        inflation = self.ratio if self.width == "theory" else 1.0
        width = inflation * beta * math.sqrt(self.lam)
        picks: Ints | Floats
        if self._box:
            surface = Surface(model, observations.pending, self.frozen)
            rule = self._rule(surface, pending)
            picks, upper = box_batch(
                self._box, surface, width, rule, limit, self._anchors(), self._rng
            )
        else:
            view = PosteriorView(model, observations.pending, self.frozen)
            rule = self._rule(view, pending)
            picks, upper = lazy_batch(view, model.table.mean, width, rule, limit)
        return picks, BatchInfo(upper, beta, rule.ratio, model.size)

    def _prior_at(self, where: Ints | Floats) -> Floats:
        """k(x, x) at ids or points."""
        return self.kernel.diag(where) if self._box else self._prior[where]

    def _anchors(self) -> Floats:
        """The told points of a box with the largest means: where a search starts as well."""
        told = np.flatnonzero(self._observations.told)
        best = told[np.argsort(-self._model.arms.mean[told], kind="stable")[:_ANCHORS]]
        return np.asarray(self._observations.points[best])

    # -- what is known -----------------------------------------------------------------------

    def _predict(self, where: Ints | Floats) -> tuple[Floats, Floats]:
        self._sync()
        if self._box:
            surface = Surface(self._model, self._observations.pending)
            mean, leverage = surface.evaluate(np.asarray(where, dtype=np.float64))
            return mean, self.lam * leverage
        ids = np.asarray(where, dtype=np.int64)
        leverage = PosteriorView(self._model, self._observations.pending).leverage
        return self._model.table.mean[ids], self.lam * leverage[ids]

    def _recommend(self) -> Recommendation:
        self._sync()
        if self._box:
            return self._recommend_on_box(self._box)
        table = self._model.table
        radius = self._beta() * np.sqrt(self.lam * table.leverage(self.lam))
        lower, upper = table.mean - radius, table.mean + radius
        best = int(np.argmax(lower))
        return Recommendation(
            id=best,
            point=self._points[best],
            mean=float(table.mean[best]),
            lower=float(lower[best]),
            upper=float(upper[best]),
            gap=max(float(upper.max() - lower[best]), 0.0),
        )

    def _recommend_on_box(self, search: BoxSearch) -> Recommendation:
        """The told point with the largest lower bound, moved uphill; the gap by the same search."""
        surface = Surface(self._model, np.zeros(len(self._model.arms), dtype=np.int64))
        width = self._beta() * math.sqrt(self.lam)
        # A generator of its own: what is recommended does not change what is asked next.
        rng = np.random.default_rng([self.seed, self.t])

        def lower_bound(X: Floats) -> tuple[Floats, Floats]:
            return surface.bound(X, -width)

        def upper_bound(X: Floats) -> tuple[Floats, Floats]:
            return surface.bound(X, width)

        told = self._observations.points[self._observations.told > 0]
        starts = told if len(told) else 0.5 * (search.box.lower + search.box.upper)[None]
        point, lower = search.climb(lower_bound, starts, lower_bound(starts)[0], _ANCHORS)
        mean, leverage = surface.evaluate(point[None])
        anchors = np.concatenate([self._anchors(), point[None]])
        _, highest = search.maximise(upper_bound, lambda X: upper_bound(X)[0], anchors, rng)
        upper = float(mean[0] + width * np.sqrt(leverage[0]))
        return Recommendation(
            id=-1,
            point=point,
            mean=float(mean[0]),
            lower=min(lower, float(mean[0])),
            upper=upper,
            gap=max(highest - lower, upper - lower, 0.0),
        )

    @property
    def dictionary(self) -> Any:
        """The inducing points: ids (m; −1 for a replaced list's), or points of a box (m × d)."""
        if self._box:
            return self.dictionary_points
        self._sync()
        return np.asarray(self._observations.ids[self._model.dictionary])

    @property
    def dictionary_points(self) -> Points:
        """The inducing points (m × d, or m objects)."""
        self._sync()
        return np.asarray(self._observations.points[self._model.dictionary])

    def effective_dimension(self) -> float:
        """Σ leverage over all evaluations, the posterior's degrees of freedom (BKB eq. 5)."""
        self._sync()
        return self._model.effective_dimension()

    def information_gain(self) -> float:
        """½ log det(K_t/λ + I) of the evaluations told, on the dictionary's span."""
        self._sync()
        return 0.5 * self._model.log_det()

    # -- lists and files ---------------------------------------------------------------------

    def _replace(self, points: Points, prior: Floats) -> None:
        self._sync()
        self._model.replace_candidates(points, prior)

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        values = {
            "synced": self._synced,
            "unasked": self._unasked,
            "log_det": [self._log_det[1], self._log_det[3]],
            "surplus": self._sparsifier.surplus,
        }
        return self._model.state(), values

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        self._model.restore(arrays, self._observations.points)
        self._synced = int(values["synced"])
        self._unasked = int(values["unasked"])
        self._log_det = {1: values["log_det"][0], 3: values["log_det"][1]}
        self._sparsifier.surplus = float(values["surplus"])
