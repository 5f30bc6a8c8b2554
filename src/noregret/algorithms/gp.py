"""Algorithms on one GP over the list: following the observations, widths, choosing batches."""

import math
from typing import Any

import numpy as np

from noregret import _checks
from noregret._threads import one_blas_thread
from noregret._types import Floats, Ints, Points
from noregret.acquisition import lazy_batch
from noregret.algorithms.base import Optimizer
from noregret.batching import BatchRule, FixedSize
from noregret.models.dictionary import Plan, Sparsifier
from noregret.models.sparse import SparseGP
from noregret.models.view import PosteriorView
from noregret.results import BatchInfo, Recommendation

Width = str | float

#: the limit of a batch that only its rule ends
UNLIMITED = 1 << 62


class GPOptimizer(Optimizer):
    """Keeps a GP model of a list and picks by upper confidence bounds.

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
        **shared: Any,
    ) -> None:
        super().__init__(domain, kernel, **shared)
        self.width = self._check_width(width)
        self.ratio = _checks.at_least_one("ratio", ratio)
        self._sparsifier = sparsifier
        self._model = SparseGP(self.kernel, self.lam, self._points, self._prior)
        self._synced = 0  # evaluations the model holds
        self._counted = 0  # evaluations that the bounds below count
        self._unasked = 0  # of them, those that nobody had asked for
        # Bounds on log det(K_t/λ + I), from leverages at batch starts times 1 and 3.
        self._log_det = {1: 0.0, 3: 0.0}

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
        if self._observations.t != self._synced or len(self._observations) != len(self._model.arms):
            with one_blas_thread():
                self._take_in()

    def _take_in(self) -> None:
        observations, model = self._observations, self._model
        model.see(observations.ids[len(model.arms) :])
        if observations.t == self._synced:
            return
        if self._counted < observations.t:  # not again where the last attempt was interrupted
            self._count_information()
            self._counted = observations.t
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

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        self._sync()
        model, observations = self._model, self._observations
        limit = (n or UNLIMITED) if self.adaptive else (n or 1)
        beta = self._beta()
        if not observations.t and not observations.pending.any():
            # Nothing is known: uniformly at random (BKB 3.1, BBKB Algorithm 1, line 1).
            ids = self._rng.integers(len(self._points), size=1 if self.adaptive else limit)
            return ids, BatchInfo(beta * np.sqrt(self._prior[ids]), beta, 1.0, 0)
        view = PosteriorView(model, observations.pending, self.frozen)
        pending = float(observations.pending @ model.arms.leverage(self.lam))
        rule = self._rule(view, pending)
        # Inside a batch the theorems multiply β by C̃ (α̃ of BBKB Theorem 2).
        inflation = self.ratio if self.width == "theory" else 1.0
        width = inflation * beta * math.sqrt(self.lam)
        ids, upper = lazy_batch(view, model.table.mean, width, rule, limit)
        return ids, BatchInfo(upper, beta, rule.ratio, model.size)

    # -- what is known -----------------------------------------------------------------------

    def _predict(self, where: Ints | Floats) -> tuple[Floats, Floats]:
        self._sync()
        ids = np.asarray(where, dtype=np.int64)
        leverage = PosteriorView(self._model, self._observations.pending).leverage
        return self._model.table.mean[ids], self.lam * leverage[ids]

    def _recommend(self) -> Recommendation:
        self._sync()
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

    @property
    def dictionary(self) -> Ints:
        """Ids of the inducing points (m); −1 for points of a replaced list."""
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
        return self._model.state(), values

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        self._model.restore(arrays, self._observations.points)
        self._synced = int(values["synced"])
        self._counted = int(values["counted"])
        self._unasked = int(values["unasked"])
        self._log_det = {1: values["log_det"][0], 3: values["log_det"][1]}
        self._sparsifier.surplus = float(values["surplus"])
