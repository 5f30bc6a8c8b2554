"""BKB and BBKB: UCB on a dictionary drawn by leverage scores."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.algorithms.gp import UNLIMITED, GPOptimizer, Width
from noregret.batching import BatchRule, GlobalRatio, LocalRatio, SpectralRatio
from noregret.linalg.threads import one_blas_thread
from noregret.models.dictionary import Sparsifier, inclusion_probability
from noregret.models.surface import Surface
from noregret.models.view import PosteriorView
from noregret.picking.box import box_batch
from noregret.picking.draws import thompson_batch, thompson_box_batch
from noregret.picking.lists import lazy_batch
from noregret.results import BatchInfo
from noregret.widths import gaussian as widths

#: points of uncertainty sampling that one ask gives on a box
_EXPLORATION_PIECE = 64


class _Sparse(GPOptimizer):
    """What BKB and BBKB share: q̄ and the dictionary."""

    def __init__(
        self, domain: Any, kernel: Any, *, qbar: float | str, dictionary: str, **others: Any
    ) -> None:
        mode = _checks.one_of("dictionary", dictionary, ("grow", "resample"))
        self.qbar = self._check_qbar(qbar)
        super().__init__(domain, kernel, sparsifier=Sparsifier(mode), **others)

    @staticmethod
    def _check_qbar(qbar: Any) -> float | str:
        if isinstance(qbar, str):
            return _checks.one_of("qbar", qbar, ("theory",))
        return _checks.positive("qbar", qbar)

    def _qbar(self) -> float:
        if isinstance(self.qbar, str):
            return widths.theory_qbar(self.ratio, self.t, self.delta)
        return self.qbar

    def resparsify(self, qbar: float | str | None = None) -> None:
        """Redraw the dictionary from all evaluations told, with a new q̄ if one is given.

        To go on past the horizon q̄ was chosen for (BKB, "Tuning q̄"), raise it here.
        """
        if qbar is not None:
            self.qbar = self._check_qbar(qbar)
        with one_blas_thread():
            self._sync()
            observations, model = self._observations, self._model
            if not observations.t:
                return
            counts = observations.told + observations.pending
            chance = inclusion_probability(model.arms.leverage(self.lam), counts, self._qbar())
            fresh = np.flatnonzero(self._rng.random(len(chance)) < chance)
            if not len(fresh):
                fresh = np.array([int(np.argmax(chance))])
            before = model.size
            model.rebuild(observations.told, self._sums(), fresh)
        self._log("resparsify", before=before, after=model.size)

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "qbar": self.qbar}


class BKB(_Sparse):
    """BKB (Calandriello et al., COLT 2019): GP-UCB on a dictionary, one point at a time.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        ``"theory"``: β̃ of Theorem 2 at ε = 1/2, valid with probability 1 − δ for
        ``qbar="theory"``. ``"practical"``: √λF + ξ√(Σ log(1+σ̃²) + log 1/δ).
        A number β: mean ± β·std.
    qbar
        Oversampling q̄: larger is more accurate and slower. ``"theory"``: 72 log(4t/δ).
    dictionary
        ``"grow"``: keep old inducing points beside a fresh draw, compact when it pays (the proof
        needs only that the fresh draw is contained). ``"resample"``: the paper to the letter.
    """

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        noise: float | str = 0.1,
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        seed: int | None = None,
        search: str = "gradients",
        width: Width = "theory",
        qbar: float | str = 2.0,
        dictionary: str = "grow",
    ) -> None:
        super().__init__(
            domain,
            kernel,
            noise=noise,
            norm=norm,
            delta=delta,
            lam=lam,
            seed=seed,
            search=search,
            width=width,
            ratio=1.0,
            qbar=qbar,
            dictionary=dictionary,
        )

    def _leverage_width(self, name: str) -> float:
        shared = (self.noise, self.norm, self.lam, self.delta)
        if name == "practical":
            return widths.practical(*shared, 1.0, self._log_det[1])
        dimension = self._model.effective_dimension()
        return widths.bkb(*shared, dimension, self.t, self.kappa_squared)


class BBKB(_Sparse):
    """BBKB (Calandriello et al., ICML 2020): adaptive batches on a dictionary, near-linear time.

    Dictionary and feedback are frozen within a batch; the batch ends when the posterior deviations
    may have shrunk by more than C̃ since its start. Batches grow as the run goes on.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        ``"theory"``: C̃·β̃ of Theorem 2, valid with probability 1 − δ for ``qbar="theory"``.
        ``"practical"``: √λF + ξ√(C̃ Σ log(1+σ̃²) + log 1/δ), what the authors run.
        A number β: mean ± β·std.
    qbar
        Oversampling q̄: larger is more accurate and slower. ``"theory"``: 72 C̃ log(4t/δ).
    ratio
        C̃ ≥ 1; 1 gives batches of one.
    batch_rule
        ``"global"``: Lemma 1. ``"local"``: Lemma 3 where Lemma 1 would end the batch; longer
        batches for more computation. On a box Lemma 3 is bounded for all points at once, by the
        largest eigenvalue of the picks' posterior covariance matrix.
    min_batch
        P: first sample where the variance is largest until every leverage is at most 1/P
        (Algorithm 3), after which batches have at least P(C̃ − 1)/3 points (A.5).
    dictionary
        ``"grow"``: keep old inducing points beside a fresh draw, compact when it pays.
        ``"resample"``: the paper to the letter.
    acquisition
        ``"ucb"``: the largest upper bound. ``"thompson"``: each pick is the maximiser of a
        function drawn from the posterior at the batch start (Section 6); on a box, the best of
        fresh Sobol points and the best points told, moved uphill by gradients. The batch rule
        stays.
    """

    adaptive = True
    frozen = True

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        noise: float | str = 0.1,
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        seed: int | None = None,
        search: str = "gradients",
        width: Width = "theory",
        qbar: float | str = 2.0,
        ratio: float = 2.0,
        batch_rule: str = "global",
        min_batch: int | None = None,
        dictionary: str = "grow",
        acquisition: str = "ucb",
    ) -> None:
        self.acquisition = _checks.one_of("acquisition", acquisition, ("ucb", "thompson"))
        self.batch_rule = _checks.one_of("batch_rule", batch_rule, ("global", "local"))
        self.min_batch = None if min_batch is None else _checks.count("min_batch", min_batch)
        self._exploration: Ints | Floats | None = None  # still to be sampled for min_batch
        super().__init__(
            domain,
            kernel,
            noise=noise,
            norm=norm,
            delta=delta,
            lam=lam,
            seed=seed,
            search=search,
            width=width,
            ratio=ratio,
            qbar=qbar,
            dictionary=dictionary,
        )

    def _leverage_width(self, name: str) -> float:
        shared = (self.noise, self.norm, self.lam, self.delta)
        if name == "practical":
            return widths.practical(*shared, self.ratio, self._log_det[1])
        return widths.bbkb(*shared, self._log_det[3])

    def _rule(self, view: PosteriorView, pending: float) -> BatchRule:
        if self.batch_rule == "local" and isinstance(view, Surface):
            return SpectralRatio(self.ratio, view.told_covariance, pending)
        if self.batch_rule == "local":
            return LocalRatio(self.ratio, view.told, view.told_covariance, pending)
        return GlobalRatio(self.ratio, pending)

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        if self.min_batch is None or (self._auto and not self._auto.fitted):
            return super()._choose(n)
        picks = self._explore(self.min_batch, n)
        if not len(picks):
            return super()._choose(n)
        beta = self._beta()
        mean, variance = self._predict(picks)
        upper = mean + beta * np.sqrt(variance)
        return picks, BatchInfo(upper, beta, 1.0, self._model.size)

    def _picks(
        self, rule: BatchRule, view: PosteriorView, width: float, limit: int
    ) -> tuple[Ints | Floats, Floats]:
        if self.acquisition == "ucb":
            return super()._picks(rule, view, width, limit)
        if isinstance(view, Surface) and self._box:
            anchors = self._anchors()
            points = thompson_box_batch(self._box, view, rule, limit, anchors, self._rng)
            mean, leverage = view.evaluate(points)
            return points, np.asarray(mean + width * np.sqrt(leverage))
        ids = thompson_batch(view, rule, limit, self._rng)
        upper = self._model.table.mean[ids] + width * np.sqrt(view.leverage[ids])
        return ids, np.asarray(upper)

    def _explore(self, least: int, n: int | None) -> Ints | Floats:
        """The next ids or points of uncertainty sampling; none once it is done."""
        self._sync()
        if self._exploration is None and self._box:
            # A box is explored piece by piece: how many points it takes is not known beforehand.
            surface = Surface(self._model, self._observations.pending)
            goal = _Uncertainty(1.0 / least)
            limit = min(n or _EXPLORATION_PIECE, _EXPLORATION_PIECE)
            anchors = self._anchors()
            points, _ = box_batch(
                self._box, surface, 1.0, goal, limit, anchors, self._rng, mean=0.0
            )
            if goal.useful < len(points):
                self._exploration = points[:0]
                self._log("uncertainty sampling done")
            return points[: goal.useful]
        if self._exploration is None:
            self._exploration = self._plan_exploration(least)
            self._log("uncertainty sampling", points=len(self._exploration))
        picks = self._exploration[:n]
        self._exploration = self._exploration[len(picks) :]
        return picks

    def _plan_exploration(self, least: int) -> Ints:
        """Algorithm 3 (BBKB): the largest leverage again and again, until it is at most 1/P.

        No feedback is needed, so the whole set is planned at once, on a model of its own whose
        dictionary takes in every arm that lies outside its span.
        """
        observations = self._observations
        model = self._new_model()
        model.adopt(self._model.arms)
        counts = observations.told + observations.pending
        model.rebuild(counts, np.zeros(len(counts)), self._model.dictionary)
        rows = observations.known_rows(np.arange(len(self._points)))
        plan: list[Ints] = []
        nothing = np.zeros(len(self._points))
        while True:
            view = PosteriorView(model, np.zeros(len(counts), dtype=np.int64))
            rule = _Uncertainty(1.0 / least, model.table.residual / self.lam)
            ids, _ = lazy_batch(view, nothing, 1.0, rule, UNLIMITED)
            ids = ids[: rule.useful]
            if not len(ids):
                break
            plan.append(ids)
            unseen = np.unique(ids[rows[ids] < 0])
            rows[unseen] = np.arange(len(counts), len(counts) + len(unseen))
            model.see(unseen)
            counts = np.concatenate([counts, np.zeros(len(unseen), dtype=np.int64)])
            np.add.at(counts, rows[ids], 1)
            model.advance(counts, np.zeros(len(counts)), np.unique(rows[ids]))
        return np.concatenate(plan) if plan else np.empty(0, dtype=np.int64)

    def _replace(self, points: Points, prior: Floats) -> None:
        super()._replace(points, prior)
        self._exploration = None  # its ids were the old list's: what is new is explored too

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        arrays, values = super()._state()
        values["explored"] = self._exploration is not None
        if self._exploration is not None:
            arrays["exploration"] = self._exploration
        return arrays, values

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        super()._restore(arrays, values)
        self._exploration = arrays["exploration"] if values["explored"] else None


class _Uncertainty:
    """Ends a run of uncertainty sampling at the goal, or at an arm the dictionary must take in."""

    def __init__(self, goal: float, residual: Floats | None = None) -> None:
        self.ratio = 1.0
        self.goal = goal
        self.residual = residual
        self.useful = 0  # picks whose leverage was above the goal

    def add(self, id_: int, start: float, now: float) -> bool:
        """Whether to stop here."""
        if now <= self.goal:
            return True
        self.useful += 1
        return self.residual is not None and bool(self.residual[id_] > 0.01 * self.goal)
