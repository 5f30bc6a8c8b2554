"""Algorithms on one GP, over a list or a box: following the observations, choosing batches."""

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.algorithms.learning import LearningOptimizer
from noregret.batching import BatchRule, FixedSize
from noregret.learning.design import Auto, surprises
from noregret.linalg.threads import one_blas_thread
from noregret.models.dictionary import Plan, Sparsifier
from noregret.models.sparse import SparseGP
from noregret.models.surface import Surface
from noregret.models.view import PosteriorView
from noregret.picking.box import SEARCHES, BoxSearch, box_batch, safest_point
from noregret.picking.lists import lazy_batch
from noregret.results import BatchInfo, Recommendation
from noregret.spaces import Box

Width = str | float

#: the limit of a batch that only its rule ends
UNLIMITED = 1 << 62
#: points known to be good from which a search of a box starts too
_ANCHORS = 5


class GPOptimizer(LearningOptimizer):
    """Keeps a GP model of a list or a box and picks by upper confidence bounds.

    Subclasses say which dictionary, which width and which batch rule.
    """

    #: widths this algorithm knows by name
    widths: tuple[str, ...] = ("theory", "practical")
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
        search: str = "gradients",
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
        self._counted = 0  # evaluations that the bounds below count
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

    @abstractmethod
    def _leverage_width(self, name: str) -> float:
        """The named width, as a factor of √leverage."""

    # -- following the observations ----------------------------------------------------------

    def _sync(self) -> None:
        """Let the model take in what has been told since the last batch start."""
        if self._observations.t != self._synced or len(self._observations) != len(self._model.arms):
            with one_blas_thread():
                self._take_in()

    def _take_in(self) -> None:
        observations, model = self._observations, self._model
        if self._box:
            points = observations.points[len(model.arms) :]
            model.see_points(points, self.kernel.diag(points))
        else:
            model.see(observations.ids[len(model.arms) :])
        if observations.t == self._synced:
            return
        if self._auto and self._auto.due(observations.t):
            self._refit(self._auto)
            model = self._model
        elif self._auto and self._auto.norm and self._auto.fitted:
            self._double_norm()
        if self._counted < observations.t:  # not again where the last attempt was interrupted
            self._count_information()
            self._counted = observations.t
        unasked = observations.unasked - self._unasked
        counts = observations.told + observations.pending
        plan = self._sparsifier.plan(model, counts, self._qbar(), self._rng, unasked)
        self._carry_out(plan)
        if unasked:
            # Old data came in bulk: the sum over its points, all judged at once, is a poor bound.
            for factor in self._log_det:
                self._log_det[factor] = min(self._log_det[factor], model.log_det_bound())
            self._unasked = observations.unasked
        self._synced = observations.t

    def _refit(self, auto: Auto) -> None:
        """Fit what is learnt to the uniform draws, and start the model anew."""
        self._fit(auto)
        observations = self._observations
        self._model = self._new_model()
        self._model.see_points(observations.points, self.kernel.diag(observations.points))
        self._log_det = {1: 0.0, 3: 0.0}
        self._counted, self._unasked = 0, observations.unasked - observations.t  # all is new to it

    def _double_norm(self) -> None:
        """More norm while new rewards, not taken in yet, contradict the bounds."""
        if isinstance(self.width, str):
            told, sums, model = self._observations.told, self._sums(), self._model
            rows = np.flatnonzero(told > model.counts)
            more = told[rows] - model.counts[rows]
            means = (sums[rows] - model.sums[rows]) / more
            off = surprises(means - model.arms.mean[rows], more, self.t, self.noise, self.delta)
            deviation = np.sqrt(model.lam * model.arms.leverage(model.lam)[rows])
            self._double_norm_while(lambda: bool(np.any(off > self._beta() * deviation + 1e-12)))

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
            model.rebuild(observations.told, self._sums(), plan.rows)
        else:
            model.advance(observations.told, self._sums(), plan.rows)
        if plan.reason in ("compact", "warm start"):
            self._log(plan.reason, before=before, after=model.size)

    def _qbar(self) -> float:
        """q̄ for the next draw of the dictionary."""
        return 2.0

    # -- choosing ----------------------------------------------------------------------------

    def _rule(self, view: PosteriorView, pending: float) -> BatchRule:
        """The batch rule for a batch that starts here."""
        return FixedSize()

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        self._sync()
        model, observations = self._model, self._observations
        limit = (n or UNLIMITED) if self.adaptive else (n or 1)
        beta = self._beta()
        # Nothing is known: uniformly at random (BKB 3.1, BBKB Algorithm 1, line 1).
        first = 0 if self.t + self.pending else (1 if self.adaptive else limit)
        draws = self._uniform_draws(limit) or first
        if draws:
            drawn = self._draw(draws)
            mean, variance = self._predict(drawn)
            return drawn, BatchInfo(mean + beta * np.sqrt(variance), beta, 1.0, model.size)
        pending = float(observations.pending @ model.arms.leverage(self.lam))
        # Inside a batch the theorems multiply β by C̃ (α̃ of BBKB Theorem 2).
        inflation = self.ratio if self.width == "theory" else 1.0
        width = inflation * beta * math.sqrt(self.lam)
        view = (Surface if self._box else PosteriorView)(model, observations.pending, self.frozen)
        rule = self._rule(view, pending)
        picks, upper = self._picks(rule, view, width, limit)
        upper = self._shift + self._unit * upper
        return picks, BatchInfo(upper, beta, rule.ratio, model.size)

    def _picks(
        self, rule: BatchRule, view: PosteriorView, width: float, limit: int
    ) -> tuple[Ints | Floats, Floats]:
        """The picks of a batch that starts here, and the bound of each."""
        if self._box and isinstance(view, Surface):
            return box_batch(self._box, view, width, rule, limit, self._anchors(), self._rng)
        return lazy_batch(view, self._model.table.mean, width, rule, limit)

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
        else:
            ids = np.asarray(where, dtype=np.int64)
            leverage = PosteriorView(self._model, self._observations.pending).leverage[ids]
            mean = self._model.table.mean[ids]
        return self._shift + self._unit * mean, self._unit**2 * self.lam * leverage

    def _recommend(self) -> Recommendation:
        self._sync()
        if self._box:
            surface = Surface(self._model, np.zeros(len(self._model.arms), dtype=np.int64))
            told = self._observations.points[self._observations.told > 0]
            width = self._beta() * math.sqrt(self.lam)
            # A generator of its own: what is recommended does not change what is asked next.
            rng = np.random.default_rng([self.seed, self.t])
            found = safest_point(self._box, surface, width, told, self._anchors(), rng)
            return self._recommendation(-1, *found)
        table = self._model.table
        radius = self._beta() * np.sqrt(self.lam * table.leverage(self.lam))
        lower, upper = table.mean - radius, table.mean + radius
        best = int(np.argmax(lower))
        mean = float(table.mean[best])
        return self._recommendation(
            best, self._points[best], mean, lower[best], upper[best], upper.max()
        )

    def _recommendation(
        self, id_: int, point: Any, mean: float, lower: float, upper: float, highest: float
    ) -> Recommendation:
        """In the rewards' units; ``highest`` is the largest upper bound of all."""
        shift, scale = self._shift, self._unit
        return Recommendation(
            id=id_,
            point=point,
            mean=shift + scale * mean,
            lower=shift + scale * float(lower),
            upper=shift + scale * float(upper),
            gap=scale * max(float(highest - lower), 0.0),
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
            "counted": self._counted,
            "unasked": self._unasked,
            "log_det": [self._log_det[1], self._log_det[3]],
            "surplus": self._sparsifier.surplus,
        }
        return self._model.state(), values | self._learnt_state()

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        self._model.restore(arrays, self._observations.points)
        self._synced = int(values["synced"])
        self._counted = int(values["counted"])
        self._unasked = int(values["unasked"])
        self._log_det = {1: values["log_det"][0], 3: values["log_det"][1]}
        self._sparsifier.surplus = float(values["surplus"])
        self._restore_learnt(values)
