"""ξ-greedy Thompson sampling and its asynchronous form: the maximiser of a sampled function."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.algorithms.gp import GPOptimizer, Width
from noregret.learning.design import Auto
from noregret.linalg.threads import one_blas_thread
from noregret.models.dictionary import Sparsifier
from noregret.models.features import (
    Features,
    FourierFeatures,
    MercerFeatures,
    NystromFeatures,
    mercer_is_available,
)
from noregret.models.fourier import QuadratureFeatures, quadrature_for
from noregret.models.linear import LinearPosterior
from noregret.models.surface import Surface
from noregret.picking.box import BoxSearch
from noregret.results import BatchInfo, Recommendation
from noregret.spaces import Box
from noregret.widths import gaussian as widths

#: points that carry Nyström features
_NYSTROM_POINTS = 400
#: error of the kernel by quadrature features, as a fraction of k(x, x)
_QUADRATURE_ERROR = 1e-6
#: draws of the maximiser behind recommend() and converged()
_MODE_DRAWS = 64
#: climbs per sampled function on a box
_CLIMBS = 3


class ThompsonSampling(GPOptimizer):
    """ξ-greedy Thompson sampling (Basu & Ghosh, Algorithm 1), on a box or a list.

    A function is drawn from the posterior on features of the kernel, and its maximiser is
    evaluated; with probability ξ a uniform draw is evaluated instead. Hyper-parameters that are
    ``"auto"`` are fitted to the uniform draws only.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        Of the intervals of ``recommend``, from the GP itself: as for :class:`~noregret.Uniform`.
    xi
        ξ, the probability of a uniform draw.
    n_init
        n₀, uniform draws at the start.
    batch_size
        Points of one ``ask()``: all drawn from the posterior, or all uniform (Section 5.1).
    features
        ``"mercer"``: eigenfunctions on the box (RBF, or Matern in one dimension). ``"rff"``: 500
        random Fourier features (RBF, Matern). ``"qff"``: quadrature Fourier features (Mutný &
        Krause 2018), with an error of the kernel of at most 2 · 10⁻⁶ k(x, x) (RBF in up to 4
        dimensions that span few lengthscales). ``"nystrom"``: features of up to 400 points (any
        kernel, objects too). ``None``: Mercer on boxes of at most two dimensions where there are
        any, Nyström on lists and for other kernels, random Fourier otherwise.
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
        width: Width = "practical",
        xi: float = 0.15,
        n_init: int = 30,
        batch_size: int = 1,
        features: str | None = None,
    ) -> None:
        self.xi = _checks.not_negative("xi", xi)
        if self.xi > 1:
            raise ValueError(f"xi must be a probability, got {xi!r}")
        self.n_init = _checks.count("n_init", n_init)
        self.batch_size = _checks.count("batch_size", batch_size)
        if features is not None:
            _checks.one_of("features", features, ("mercer", "nystrom", "qff", "rff"))
        self.features = features
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
            sparsifier=Sparsifier("grow"),
        )
        if self._auto:
            self._auto.n_init = max(self.n_init, 2)  # fewer cannot be fitted to
        self._fresh()
        self._map()  # features that the kernel does not have are refused now

    def _fresh(self) -> None:
        """Forget what was computed for another kernel or another list."""
        self._features: Features | None = None
        self._posterior: LinearPosterior | None = None
        self._posterior_at = -1

    def _leverage_width(self, name: str) -> float:
        shared = (self.noise, self.norm, self.lam, self.delta)
        if name == "practical":
            return widths.practical(*shared, 1.0, self._log_det[1])
        return widths.bbkb(*shared, self._log_det[3])

    # -- the posterior of functions ----------------------------------------------------------

    def _map(self) -> Features:
        """The features of the kernel in use.

        A function of seed, kernel and domain; of quadrature features, also of what was seen before
        the list was replaced.
        """
        if self._features is None:
            rng = np.random.default_rng([self.seed, 1])
            kind, box = self.features, self.domain if isinstance(self.domain, Box) else None
            if kind is None:
                mercer = box and box.dimension <= 2 and mercer_is_available(self.kernel, box)
                stationary = box and hasattr(self.kernel, "slope")
                kind = "mercer" if mercer else "rff" if stationary else "nystrom"
            if kind == "mercer":
                if box is None:
                    raise ValueError("features 'mercer' need a box; on a list use 'nystrom'")
                self._features = MercerFeatures(self.kernel, box)
            elif kind == "qff":
                self._features = self._quadrature(box.bounds.T if box else self._points)
            elif kind == "rff":
                if self.domain.dimension is None:
                    raise ValueError("features 'rff' need points of numbers; use 'nystrom'")
                self._features = FourierFeatures(self.kernel, self.domain.dimension, rng)
            else:
                self._features = NystromFeatures(self.kernel, self._landmarks(rng))
        return self._features

    def _quadrature(self, points: Points) -> Features:
        """Features for points (n × d), those that have been seen, and all between them."""
        points = np.concatenate([points, self._observations.points])
        kernel = quadrature_for(self.kernel, points, None, _QUADRATURE_ERROR)
        return QuadratureFeatures(kernel, points.shape[1], _QUADRATURE_ERROR)

    def _landmarks(self, rng: np.random.Generator) -> Points:
        """Points spread over the domain."""
        if isinstance(self.domain, Box):
            return self.domain.spread(_NYSTROM_POINTS, rng)
        count = min(_NYSTROM_POINTS, len(self._points))
        return np.asarray(self._points[rng.choice(len(self._points), count, replace=False)])

    def _functions(self, n: int, rng: np.random.Generator) -> Floats:
        """θ of n functions drawn from the posterior (m × n)."""
        observations = self._observations
        if self._posterior is None or self._posterior_at != observations.t:
            told = np.flatnonzero(observations.told)
            phi = self._map()(observations.points[told])
            counts, sums = observations.told[told], self._sums()[told]
            self._posterior = LinearPosterior(phi, counts, sums, self.lam)
            self._posterior_at = observations.t
        return self._posterior.draw(n, rng)

    def _maximisers(self, n: int, rng: np.random.Generator) -> Ints | Floats:
        """Draws from F_t, the maximiser's posterior: ids (n) or points (n × d)."""
        thetas = self._functions(n, rng)
        features = self._map()
        if self._box:
            return self._climb(self._box, features, thetas, rng)
        best, ids = np.full(n, -np.inf), np.zeros(n, dtype=np.int64)
        for start in range(0, len(self._points), 4096):
            values = features(self._points[start : start + 4096]) @ thetas
            top = values.argmax(axis=0)
            level = values[top, np.arange(n)]
            ids = np.where(level > best, start + top, ids)
            best = np.maximum(best, level)
        return ids

    def _climb(
        self, search: BoxSearch, features: Features, thetas: Floats, rng: np.random.Generator
    ) -> Floats:
        anchors = self._anchors()
        screen = np.concatenate([anchors, search.box.spread(search.screen_size, rng)])
        values = features(screen) @ thetas
        found = np.empty((thetas.shape[1], search.box.dimension))
        for i, theta in enumerate(thetas.T):

            def objective(X: Floats, theta: Floats = theta) -> tuple[Floats, Floats]:
                return np.asarray(features(X) @ theta), features.gradient(X, theta)

            found[i], _ = search.climb(objective, screen, values[:, i], _CLIMBS)
        return found

    # -- choosing ----------------------------------------------------------------------------

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        self._sync()
        observations = self._observations
        count = n or self.batch_size
        asked = observations.t + int(observations.pending.sum())
        learning = self._auto is not None and not self._auto.fitted
        if learning or asked < self.n_init or not observations.t:
            return self._draw(n or min(max(self.n_init - asked, 1), self.batch_size)), None
        if self._rng.random() < self.xi:
            return self._draw(count), None
        return self._maximisers(count, self._rng), None

    def _refit(self, auto: Auto) -> None:
        super()._refit(auto)
        self._fresh()

    def _replace(self, points: Points, prior: Floats) -> None:
        if self.features == "qff":
            self._quadrature(points)  # refused before anything changes
        super()._replace(points, prior)
        self._fresh()

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        super()._restore(arrays, values)
        self._fresh()  # features made before anything had been seen may be others

    # -- what is known -----------------------------------------------------------------------

    def maximizer_samples(self, n: int) -> Any:
        """n draws from F_t, the posterior of the maximiser: ids (n), or points of a box (n × d).

        The draws are the same until something is told, and leave the run as it is.
        """
        n = _checks.count("n", n)
        with one_blas_thread():
            self._sync()
            return self._maximisers(n, np.random.default_rng([self.seed, 2, self.t]))

    def converged(self, tol: float) -> bool:
        """Whether the spread of F_t is below ``tol``.

        The spread is the root mean square distance of the maximiser's draws from their mean; on a
        list of objects, the share of draws that are not the most frequent one.
        """
        tol = _checks.positive("tol", tol)
        draws = self.maximizer_samples(_MODE_DRAWS)
        if not self._box:
            if self._points.dtype == object:
                return bool(1.0 - np.bincount(draws).max() / len(draws) < tol)
            draws = self._points[draws]
        return bool(np.sqrt(np.square(draws - draws.mean(axis=0)).sum(axis=1).mean()) < tol)

    def _recommend(self) -> Recommendation:
        """The mode of F_t, with its interval from the GP."""
        if not self.t:
            return super()._recommend()
        usual = super()._recommend()  # for the largest upper bound
        draws = self.maximizer_samples(_MODE_DRAWS)
        where: Any
        if self._box:
            span = self._box.box.upper - self._box.box.lower
            unit = draws / span
            apart = np.square(unit[:, None] - unit[None]).sum(axis=2)
            # The draw in the densest place: a Gaussian density with Scott's bandwidth.
            spread = float(unit.var(axis=0).sum())
            bandwidth = max(spread, 1e-12) * len(draws) ** (-2.0 / (self._box.box.dimension + 4))
            where = draws[[int(np.exp(-0.5 * apart / bandwidth).sum(axis=1).argmax())]]
            id_, point = -1, where[0]
        else:
            id_ = int(np.bincount(draws).argmax())
            where, point = np.array([id_]), self._points[id_]
        mean, radius = self._told_interval(where)
        highest = (usual.lower + usual.gap - self._shift) / self._unit
        upper = mean + radius
        return self._recommendation(id_, point, mean, mean - radius, upper, max(highest, upper))

    def _told_interval(self, where: Ints | Floats) -> tuple[float, float]:
        """Mean and half-width of one choice's interval, from what has been told only."""
        model = self._model
        if self._box:
            surface = Surface(model, np.zeros(len(model.arms), dtype=np.int64))
            mean, leverage = surface.evaluate(np.asarray(where, dtype=np.float64))
        else:
            mean, leverage = model.table.mean[where], model.table.leverage(self.lam)[where]
        return float(mean[0]), self._beta() * float(np.sqrt(self.lam * leverage[0]))


class AsyncTS(ThompsonSampling):
    """Asynchronous Thompson sampling (Kandasamy et al. 2018): each worker asks when it is free.

    A draw from the posterior of what has been told so far, one point an ask, no uniform draws
    after the first ``n_init``: draws of workers that wait for the same news differ by chance alone.

    Parameters
    ----------
    domain, kernel, n_init, ...
        As for :class:`~noregret.ThompsonSampling`, with ξ = 0 and ``n_init`` 10.
    """

    def __init__(
        self, domain: Any, kernel: Any, *, xi: float = 0.0, n_init: int = 10, **others: Any
    ) -> None:
        super().__init__(domain, kernel, xi=xi, n_init=n_init, **others)
