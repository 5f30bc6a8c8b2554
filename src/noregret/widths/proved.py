"""The tightest widths that we can prove, one function for each theorem. Proofs: the Proofs page.

All widths multiply the square root of the *leverage*, variance/λ. They hold with probability 1 − δ
for all candidates and all times at once, for a known kernel, ‖f‖ ≤ F, ξ-sub-Gaussian noise, and
choices that depend only on what was told before them.

Write K for the kernel matrix of all evaluations (t × t), Q for the same projected on the span of
the dictionary, and R = K − Q. ``trace`` is tr R: the sum over all evaluations of k(x, x) − ‖z‖². It
is zero where the dictionary spans every arm told. Sums over evaluations are sums over unique arms,
each times its count.

:func:`sparse` holds on another event of probability 1 − δ than the other functions. A run that uses
both needs δ/2 for each.
"""

import math

import numpy as np

from noregret._types import Floats

#: the largest rounding error of sums of squares of rewards, as a share of them
_ROUND_OFF = 1e-9


def exact(noise: float, norm: float, lam: float, delta: float, log_det: float) -> float:
    """√(λF² + ξ²(log det(I + K/λ) + 2 log 1/δ)), for R = 0.  Flynn & Reeb (2024), arXiv 2403.12732.

    :func:`for_each_lambda` with this one λ gives the same, and allows for R ≠ 0.
    """
    return math.sqrt(lam * norm**2 + _noise_part(noise, delta, log_det))


def sparse(
    noise: float, norm: float, lam: float, delta: float, log_det: float, trace: float
) -> float:
    """√(n² + 2nF√(λ + ρ) + cλF²), n² = ξ²(log det(I + K/λ) + 2 log 1/δ), for any dictionary.

    ρ is ``trace`` and c is :func:`leverage_ratio`. It is at most √λF + √ρF + n. For ρ = 0 it is
    √λF + n, up to √2 times :func:`exact`.
    """
    spread = math.sqrt(_noise_part(noise, delta, log_det))
    bias = leverage_ratio(trace, lam) * lam * norm**2
    return math.sqrt(spread**2 + 2.0 * spread * norm * math.sqrt(lam + trace) + bias)


def leverage_ratio(trace: float, lam: float) -> float:
    """c = 1 + η/2 + √(η + η²/4), η = tr(R)/λ: leverage/c ≤ sparse leverage ≤ c · leverage.

    This holds for any dictionary and all points. Also, when a dictionary with this ``trace`` grows
    and evaluations are added, no leverage becomes larger than c times its old value.
    """
    share = trace / lam
    return 1.0 + 0.5 * share + math.sqrt(share + 0.25 * share**2)


def log_det_bounds(
    on_span: Floats, counts: Floats, priors: Floats, residuals: Floats, lams: Floats
) -> Floats:
    """Upper bounds on log det(I + K/λ) for every λ (g), from what a sparse model has.

    The smaller of log det(I + Q/λ) + Σ log(1 + n r/λ), and Σ log(1 + n k(x, x)/λ). Both sums run
    over unique arms.

    Parameters
    ----------
    on_span
        log det(I + Q/λ) for every λ (g).
    counts, priors, residuals
        n, k(x, x) and r = k(x, x) − ‖z‖² of each unique arm told (u each).
    lams
        Every λ (g).
    """
    outside = np.log1p(counts * residuals / lams[:, None]).sum(axis=1)
    independent = np.log1p(counts * priors / lams[:, None]).sum(axis=1)
    return np.asarray(np.minimum(on_span + outside, independent))


def squared_radius(noise: float, delta: float, log_dets: Floats, ridges: Floats) -> float:
    """S² with ‖y − f‖² ≤ S²; it contains no norm.

    S² = −2ξ² log average_j exp(−½ log det(I + K/λ_j) − ridge_j/2ξ²) + 2ξ² log 1/δ, over a grid of
    λ_j that is fixed before the first evaluation. Without noise it is the smallest ridge.

    Parameters
    ----------
    noise, delta
        ξ and δ.
    log_dets
        log det(I + K/λ_j), or upper bounds (G).
    ridges
        λ_j yᵀ(K + λ_j I)⁻¹y, or upper bounds such as λ_j yᵀ(Q + λ_j I)⁻¹y (G).
    """
    scale = 2.0 * noise**2
    costs = ridges + 0.5 * scale * log_dets
    least = float(costs.min())
    if scale == 0.0:
        return least
    with np.errstate(over="ignore"):  # exp(−∞) is the right limit
        shares = np.exp(-(costs - least) / scale)
    return least + scale * (math.log(1.0 / delta) - math.log(float(shares.mean())))


def for_each_lambda(
    noise: float,
    norm: float,
    delta: float,
    lams: Floats,
    log_dets: Floats,
    ridges: Floats,
    trace: float = 0.0,
) -> tuple[Floats, bool]:
    """√((S + F√ρ)² + λF² − ridge) for each λ: all widths hold at once, so intersect the intervals.

    S² is :func:`squared_radius` and ρ is ``trace``. The same data refute the assumptions (norm,
    noise, kernel) at level δ where the square is negative for some λ.

    Parameters
    ----------
    noise, norm, delta
        ξ, F and δ.
    lams, log_dets, ridges
        The grid, and for each λ an upper bound on log det(I + K/λ), and λyᵀ(Q + λI)⁻¹y (G each);
        the ridges to a relative precision of 10⁻⁹.
    trace
        tr R.

    Returns
    -------
    Floats
        The widths (G), zero where the square is negative.
    bool
        Whether the assumptions are refuted.
    """
    square = squared_radius(noise, delta, log_dets, ridges)
    allowed = _allowed(square, norm, lams, trace)
    return np.sqrt(np.maximum(allowed - ridges, 0.0)), _exceeds(ridges, allowed)


def smallest_norm(square: float, lams: Floats, ridges: Floats, trace: float = 0.0) -> float:
    """The smallest norm that the rewards allow, at level δ: every smaller one is refuted.

    ridge ≤ (S + F√ρ)² + λF² for every λ, whether it is on the grid behind S or not; solved for F.

    Parameters
    ----------
    square
        S², see :func:`squared_radius`.
    lams, ridges
        Any λ, and λyᵀ(Q + λI)⁻¹y for each (G each).
    trace
        ρ = tr R.
    """
    radius = math.sqrt(max(square, 0.0))
    excess = np.maximum(ridges * (1.0 - _ROUND_OFF) - square, 0.0)
    total = trace + lams
    roots = np.sqrt(square * trace + total * excess) - radius * math.sqrt(trace)
    return float(np.max(roots / total, initial=0.0))


def squared_noise(noise: float, delta: float, evaluations: int) -> float:
    """A bound on ‖y − f‖², the sum of the squared noise, for all t at once, on an event of its own.

    With :func:`smallest_norm` it finds a ``noise`` that is too small.
    min_j (2ξ²/a)(log(j(j + 1)/δ) − ½t log(1 − a)), a = 2⁻ʲ, j = 1 … 40.
    """
    j = np.arange(1, 41)
    share = 0.5**j
    logs = np.log(j * (j + 1) / delta) - 0.5 * evaluations * np.log1p(-share)
    return 2.0 * noise**2 * float(np.min(logs / share))


def _noise_part(noise: float, delta: float, log_det: float) -> float:
    """ξ²(log det(I + K/λ) + 2 log 1/δ)."""
    return noise**2 * (log_det + 2.0 * math.log(1.0 / delta))


def _allowed(square: float, norm: float, lams: Floats, trace: float) -> Floats:
    """(√square + F√ρ)² + λF²: what ‖y − Pf‖² + λ‖f‖² can be, P the projection (G)."""
    return (math.sqrt(max(square, 0.0)) + norm * math.sqrt(trace)) ** 2 + lams * norm**2


def _exceeds(ridges: Floats, allowed: Floats) -> bool:
    """Whether some ridge is larger than allowed, by more than round-off."""
    return bool(np.any(ridges - allowed > _ROUND_OFF * allowed))
