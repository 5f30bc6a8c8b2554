"""Kernel parameters and noise from data: the maximum of the posterior."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel, as_kernel
from noregret.kernels.logs import seen_by
from noregret.kernels.parameters import Parameter, parameters, with_derivatives, with_parameters
from noregret.linalg.factors import inverse_from, safe_cholesky
from noregret.linalg.threads import one_blas_thread

#: the noise is kept between these fractions of the rewards' root mean square
_NOISE_RANGE = (1e-3, 3.0)
#: lengthscales between these fractions of the data's span, variances of the mean square
LENGTHSCALE_RANGE = (1e-2, 1e1)
_VARIANCE_RANGE = (1e-3, 1e3)
#: the most probable weight of a category: two points that differ in it have similarity e^(−1/2)
_MIDDLE_WEIGHT = 0.5
#: range of the weights: from "does not matter" to "nothing in common"
_WEIGHT_RANGE = (1e-3, 1e1)
_RANGES = {
    "lengthscale": LENGTHSCALE_RANGE,
    "weight": _WEIGHT_RANGE,
    "variance": _VARIANCE_RANGE,
}
#: a start that explains rewards by noise: lengthscales times this, variance and noise as below
_SMOOTHER, _LITTLE, _LOUD = 2.0, 0.5, 0.7
#: prior precision of a fitted mean, in units of 1 / (mean square of the rewards)
_MEAN_PRECISION = 0.01


@dataclass(frozen=True)
class Priors:
    """Densities of the parameters, free of units.

    Log-normals are given by their most probable value and the deviation of the logarithm.

    Attributes
    ----------
    lengthscale
        A log-normal, for lengthscales divided by √d times the data's span: points in many
        dimensions are far apart.
    variance
        A log-normal, for the variance divided by the rewards' mean square.
    weight
        A log-normal, for weights of categories.
    noise
        Shape and rate of a Gamma, for the noise's variance divided by the rewards' mean square.
    """

    lengthscale: tuple[float, float] = (math.exp(math.sqrt(2.0) - 3.0), math.sqrt(3.0))
    variance: tuple[float, float] = (math.exp(-0.5), 1.0)
    weight: tuple[float, float] = (_MIDDLE_WEIGHT, 1.0)
    noise: tuple[float, float] = (1.1, 1.0)


#: Priors for rewards that a function explains in good part.
PRIORS = Priors()
#: Priors for rewards that may be almost all noise. The default prior of the variance takes it for
#: granted that the function explains about half of the rewards' mean square. If it explains a
#: hundredth, fits put the rest into lengthscales so short, or so long, that the fitted function is
#: noise or a constant. Here the variance may be a thousandth, and lengthscales stay within a factor
#: of four of 0.2√d spans unless the data say more.
NOISY_PRIORS = Priors(lengthscale=(0.2, 0.75), variance=(0.5, 3.0))
#: The noise's prior if many choices had exactly the same reward, such as clicks, counts and
#: latencies of zero. Such rewards are mostly noise.
TIED_NOISE = (3.0, 2.0)


@dataclass(frozen=True, eq=False)
class Fit:
    """What :func:`fit_kernel` found.

    Attributes
    ----------
    kernel, noise
        The fitted kernel and standard deviation of the noise.
    norm
        The posterior mean's norm in the kernel's RKHS.
    log_likelihood, log_posterior
        Log likelihood of the data (ξ-greedy TS eq. 2), and with the priors (up to a constant).
    rows
        The rows of X used, at most ``max_points``.
    deviations
        Standard deviations of the logarithms of the kernel's parameters and then the noise, from
        the curvature at the maximum; ``None`` if not asked for.
    mean
        The constant mean of the GP if it was fitted; else 0.
    """

    kernel: Kernel
    noise: float
    norm: float
    log_likelihood: float
    log_posterior: float
    rows: Ints
    deviations: Floats | None = None
    mean: float = 0.0


def fit_kernel(
    kernel: Any,
    X: Any,
    y: Any,
    noise: float | None = None,
    priors: Priors | None = PRIORS,
    *,
    only_noise: bool = False,
    fit_mean: bool = False,
    deviations: bool = False,
    restarts: int = 3,
    max_points: int = 1000,
    seed: int = 0,
) -> Fit:
    """A kernel's parameters and the noise that make the data most probable (MAP, L-BFGS-B).

    Parameters
    ----------
    kernel
        RBF, Matern, Linear, Hamming, or sums, products and multiples of them. Its parameters are
        one start. One lengthscale per dimension is fitted if it has one per dimension. ν and
        offsets stay.
    X, y
        Points (n × d, n ≥ 2; objects with ``only_noise``) and rewards (n), of a GP with mean 0:
        subtract a mean first.
    noise
        The noise's standard deviation if it is known; ``None``: fitted.
    priors
        ``None``: the maximum of the likelihood alone.
    only_noise
        Keep the kernel as it is.
    fit_mean
        Fit a constant mean too, by generalised least squares, instead of a mean of 0.
    deviations
        Whether to compute the parameters' uncertainty too.
    restarts
        Starts of the search: the kernel as given, the prior's mode, then random ones. A smooth
        function with much noise is one more, if that explains the rewards better than the kernel as
        given does with little noise.
    max_points
        More points than this are thinned to a uniform sample (``seed``), as a fit costs O(n³);
        ``fit.rows`` says which.
    """
    if isinstance(kernel, str):
        raise TypeError(f"kernel must be a kernel to start from, such as nr.RBF(), got {kernel!r}")
    kernel, points = as_kernel(kernel), _points(X)
    kernel(points[:1], points[:1])  # refuses points of other dimensions
    rewards = _checks.rewards(y, len(points))
    if noise is not None:
        noise = _checks.not_negative("noise", noise)
    restarts, most = _checks.count("restarts", restarts), _checks.count("max_points", max_points)
    rng = np.random.default_rng(seed)
    rows = np.arange(len(points))
    if len(points) > most:
        rows = np.sort(rng.choice(len(points), size=max(most, 2), replace=False))
    with one_blas_thread():
        problem = _Problem(kernel, points[rows], rewards[rows], noise, priors, only_noise, fit_mean)
        best = problem.search(restarts, rng)
        likelihood, posterior = problem.values(best)
        found, level = problem.unpack(best)
        curvature = problem.deviations(best) if deviations else None
        norm, mean = problem.norm(best), problem.mean(best)
    return Fit(found, level, norm, likelihood, posterior, rows, curvature, mean)


def _points(X: Any) -> Points:
    """The points, checked: at least two rows of numbers; packed bits and objects as they are."""
    if isinstance(X, np.ndarray) and X.dtype in (object, np.uint8):
        points, fine = X, True
    else:
        points = np.array(X, dtype=np.float64)
        points = points[:, None] if points.ndim == 1 else points
        fine = points.ndim == 2 and bool(np.all(np.isfinite(points)))
    if not fine or len(points) < 2:
        raise ValueError(
            f"X must be at least 2 rows of finite numbers to fit a kernel, got shape {points.shape}"
        )
    return points


class _Problem:
    """The negative log posterior of the parameters' logarithms."""

    def __init__(
        self,
        kernel: Kernel,
        X: Points,
        y: Floats,
        noise: float | None,
        priors: Priors | None,
        only_noise: bool,
        fit_mean: bool = False,
    ) -> None:
        self.kernel, self.X, self.y, self.priors = kernel, X, y, priors
        self.fit_mean = fit_mean
        mean_square = float(np.mean(np.square(y)))
        self.unit = math.sqrt(mean_square) if mean_square > 0 else 1.0
        self._mean_precision = _MEAN_PRECISION / self.unit**2
        span = np.ones(1) if X.dtype in (object, np.uint8) else np.ptp(seen_by(kernel, X), axis=0)
        self.span: Floats = np.where(span > 0, span, 1.0)
        self.fixed_noise = None if noise is None else max(noise, 1e-6 * self.unit)
        self.list: list[Parameter] = [] if only_noise else parameters(kernel)
        # Parameters are divided by these units, so that priors and bounds are free of units.
        self.offsets = np.array([self._unit_of(p) for p in self.list] + [math.log(self.unit)])
        ranges = [_RANGES[p.kind] for p in self.list]
        if noise is None:
            ranges.append(_NOISE_RANGE)
        self.bounds = np.log(np.array(ranges).reshape(-1, 2))
        self._spectrum: tuple[Floats, Floats, Floats] | None = None
        if all(p.kind == "variance" for p in self.list) and len(self.list) <= 1:
            # The kernel matrix keeps its eigenvectors: each value costs O(n) from here on.
            values, vectors = np.linalg.eigh(kernel(X, X))
            if self.list:
                values = values / math.exp(self.list[0].log)
            self._spectrum = np.maximum(values, 0.0), vectors.T @ y, vectors.sum(axis=0)

    def _unit_of(self, parameter: Parameter) -> float:
        if parameter.kind == "weight":
            return 0.0
        if parameter.kind == "variance":
            return 2.0 * math.log(self.unit)
        logs = np.log(self.span)
        return float(logs.mean() if parameter.axis is None else logs[parameter.axis])

    def unpack(self, u: Floats) -> tuple[Kernel, float]:
        """The kernel and noise at a point of the search."""
        k = len(self.list)
        kernel = with_parameters(self.kernel, u[:k] + self.offsets[:k]) if k else self.kernel
        if self.fixed_noise is not None:
            return kernel, self.fixed_noise
        return kernel, math.exp(u[k] + self.offsets[k])

    def search(self, restarts: int, rng: np.random.Generator) -> Floats:
        """The best of several climbs."""
        if not len(self.bounds):
            return np.empty(0)
        from scipy.optimize import minimize  # slow to import, and not needed for tell

        low, high = self.bounds.T
        given = np.array([p.log for p in self.list]) - self.offsets[:-1]
        middle = self._modes()
        noise = middle[len(given) :]
        starts = [np.concatenate([given, noise]), middle]
        while len(starts) < restarts:
            starts.append(middle + rng.normal(size=len(middle)))
        starts = [np.clip(start, low, high) for start in starts[:restarts]]
        noisy = self._noisy_start(middle)
        # Climbs from little noise end at short lengthscales, which explain noise as well as noise
        # does, and miss this maximum.
        if noisy is not None and self.negative(noisy)[0] < self.negative(starts[0])[0]:
            starts.append(noisy)
        results = [
            minimize(
                self.negative,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=self.bounds,
                options={"maxiter": 100},
            )
            for start in starts
        ]
        return np.asarray(min(results, key=lambda result: float(result.fun)).x)

    def _modes(self) -> Floats:
        d = len(self.span)
        middle = {
            "lengthscale": math.log(0.2 * math.sqrt(d)),
            "weight": math.log(_MIDDLE_WEIGHT),
            "variance": 0.0,
        }
        logs = [middle[p.kind] for p in self.list]
        return np.array(logs + [math.log(0.1)] * (len(self.bounds) - len(logs)))

    def _noisy_start(self, middle: Floats) -> Floats | None:
        """A smooth function with much noise, if noise and lengthscales are both fitted."""
        kinds = [p.kind for p in self.list]
        if self.fixed_noise is not None or "lengthscale" not in kinds:
            return None
        more = {"lengthscale": math.log(_SMOOTHER), "variance": math.log(_LITTLE), "weight": 0.0}
        logs = [*(middle[:-1] + [more[kind] for kind in kinds]), math.log(_LOUD)]
        return np.asarray(np.clip(logs, *self.bounds.T))

    def negative(self, u: Floats) -> tuple[float, Floats]:
        """−log posterior and its gradient."""
        kernel, noise = self.unpack(u)
        if self._spectrum is not None:
            return self._by_spectrum(u, noise, *self._spectrum)
        gram, contract = with_derivatives(kernel, self.X)
        lower, mean, alpha = self._solve(gram, noise)
        # At the best mean its own derivative is zero, so d log p = tr(W dK) with W = (ααᵀ − K⁻¹)/2.
        weights = np.outer(alpha, alpha)
        weights -= inverse_from(lower)
        weights *= 0.5
        gradient = contract(weights)
        if self.fixed_noise is None:
            gradient.append(2.0 * noise**2 * float(np.trace(weights)))
        prior, prior_gradient = self._prior(u)
        value = self._likelihood(lower, mean, alpha) + prior
        return -value, -(np.array(gradient) + prior_gradient)

    def _by_spectrum(
        self, u: Floats, noise: float, values: Floats, y: Floats, ones: Floats
    ) -> tuple[float, Floats]:
        """−log posterior and its gradient, from the eigenvalues of the kernel matrix.

        ``y`` and ``ones`` are the rewards and a vector of ones in its eigenbasis (n each).
        """
        signal = values * math.exp(u[0] + self.offsets[0]) if self.list else values
        total = signal + max(noise**2, 1e-12 * float(signal.max()))
        mean = 0.0
        if self.fit_mean:
            scaled = ones / total
            mean = float(scaled @ y) / (float(scaled @ ones) + self._mean_precision)
        squares = np.square(y - mean * ones)
        constant = 0.5 * (len(total) * math.log(2.0 * math.pi) + self._mean_precision * mean**2)
        likelihood = -0.5 * float(np.sum(squares / total + np.log(total))) - constant
        slope = 0.5 * (squares / total - 1.0) / total
        gradient = [float(slope @ signal)] if self.list else []
        if self.fixed_noise is None:
            gradient.append(2.0 * noise**2 * float(slope.sum()))
        prior, prior_gradient = self._prior(u)
        return -(likelihood + prior), -(np.array(gradient) + prior_gradient)

    def values(self, u: Floats) -> tuple[float, float]:
        """log likelihood and log posterior."""
        likelihood = self._likelihood(*self._solved(*self.unpack(u)))
        return likelihood, likelihood + self._prior(u)[0]

    def norm(self, u: Floats) -> float:
        """‖μ‖² = αᵀKα = yᵀα − ξ²αᵀα."""
        kernel, noise = self.unpack(u)
        _, mean, alpha = self._solved(kernel, noise)
        return math.sqrt(max(float((self.y - mean) @ alpha - noise**2 * (alpha @ alpha)), 0.0))

    def mean(self, u: Floats) -> float:
        """The constant mean; 0 if it is not fitted."""
        return self._solved(*self.unpack(u))[1]

    def deviations(self, u: Floats) -> Floats:
        """1/√ of the curvature, by differences of the gradient."""
        step = 1e-4
        hessian = np.array(
            [
                (self.negative(u + step * e)[1] - self.negative(u - step * e)[1]) / (2 * step)
                for e in np.eye(len(u))
            ]
        )
        values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
        inverse = (np.square(vectors) / np.maximum(values, 1e-8)).sum(axis=1)
        return np.asarray(np.sqrt(inverse))

    def _solved(self, kernel: Kernel, noise: float) -> tuple[Floats, float, Floats]:
        return self._solve(kernel(self.X, self.X), noise)

    def _solve(self, gram: Floats, noise: float) -> tuple[Floats, float, Floats]:
        """L with LLᵀ = K + ξ²I (n × n), the constant mean, and α = (K + ξ²I)⁻¹(y − mean) (n)."""
        gram = gram.copy()
        gram[np.diag_indices_from(gram)] += noise**2
        lower = safe_cholesky(gram)
        alpha = cho_solve((lower, True), self.y, check_finite=False)
        if not self.fit_mean:
            return lower, 0.0, np.asarray(alpha)
        ones = cho_solve((lower, True), np.ones(len(self.y)), check_finite=False)
        mean = float(alpha.sum()) / (float(ones.sum()) + self._mean_precision)
        return lower, mean, np.asarray(alpha - mean * ones)

    def _likelihood(self, lower: Floats, mean: float, alpha: Floats) -> float:
        """The log likelihood of the rewards, with the prior of a fitted mean."""
        constant = 0.5 * len(alpha) * math.log(2.0 * math.pi) + np.log(lower.diagonal()).sum()
        misfit = (self.y - mean) @ alpha + self._mean_precision * mean**2
        return float(-0.5 * misfit - constant)

    def _prior(self, u: Floats) -> tuple[float, Floats]:
        """log density of the parameters in their units, and its gradient in their logarithms."""
        gradient = np.zeros(len(u))
        if self.priors is None:
            return 0.0, gradient
        total = 0.0
        for i, parameter in enumerate(self.list):
            mode, scale = getattr(self.priors, parameter.kind)
            middle = math.log(mode)
            if parameter.kind == "lengthscale":
                middle += 0.5 * math.log(len(self.span))
            away = (u[i] - middle) / scale
            total -= 0.5 * away**2
            gradient[i] = -away / scale
        if self.fixed_noise is None:
            shape, rate = self.priors.noise
            variance = math.exp(2.0 * u[-1])
            total += (shape - 1.0) * 2.0 * u[-1] - rate * variance
            gradient[-1] = 2.0 * ((shape - 1.0) - rate * variance)
        return float(total), gradient
