"""The width for rewards that are clipped at cuts known beforehand (the Proofs page, Theorem 8).

Of the noise only a moment of order p = 1 + α in (1, 2] is known. A reward y of an arm x counts as m
+ clip(y − m, ±c), where m and c were known before y was seen, and E|y − m|^p ≤ v. For every number
h, ℓ(h) = κ_p(|h|c)|h|^p v bounds log E exp(h(ỹ − f)), where ỹ is the clipped reward. The width is
that of sub-Gaussian noise of constant ς plus the prices: the amounts by which ℓ(h) exceeds ς²h²/2.
"""

import math
from functools import lru_cache

import numpy as np

from noregret._types import Floats

#: P(G) of the proof: the probability that a drawn function stays within z deviations everywhere
PROBABILITY = 0.8
#: the values of h at which a price is computed, as fractions of the largest h
_PARTS = np.geomspace(4e-3, 1.0, 128)
#: rewards whose prices are computed at a time
_CHUNK = 4096
#: η = v q^(p−2)/ς² that good cuts are tabulated for
_TABLE = np.geomspace(0.02, 50.0, 80)


def moment_factor(u: Floats, order: float) -> Floats:
    """κ_p(u): e^(clip(w, ±u)) ≤ 1 + w + κ|w|^p for all real w, for u > 0 (n).

    The larger of (e^u − 1 − u)/u^p, for w ≥ −u, and (p−1)^(p−1) p^(−p) (1 − e^(−u))^(1−p), for
    w < −u.
    """
    p = order
    with np.errstate(over="ignore"):
        right = (np.expm1(u) - u) / u**p
    left = (p - 1.0) ** (p - 1.0) / p**p * (-np.expm1(-u)) ** (1.0 - p)
    return np.asarray(np.maximum(right, left))


def prices(largest: Floats, cuts: Floats, moments: Floats, scale: float, order: float) -> Floats:
    """Upper bounds on max over 0 ≤ h ≤ q of ℓ(h) − ς²h²/2 (n), at least 0.

    ℓ grows with h, so between two values of h it is at most what it is at the larger one.

    Parameters
    ----------
    largest, cuts, moments
        q, c and v of every reward (n each).
    scale, order
        ς and p.
    """
    found = np.empty(len(largest))
    before = np.concatenate([[0.0], _PARTS[:-1]])
    for first in range(0, len(largest), _CHUNK):
        part = slice(first, first + _CHUNK)
        h = largest[part, None] * _PARTS
        with np.errstate(over="ignore"):
            loss = moment_factor(h * cuts[part, None], order) * h**order * moments[part, None]
        loss -= 0.5 * scale**2 * np.square(largest[part, None] * before)
        found[part] = np.maximum(loss.max(axis=1), 0.0)
    return found


def good_cuts(largest: Floats, moments: Floats, scale: float, order: float) -> Floats:
    """Cuts (n) with about the smallest price for these q and v (n each); any cuts are allowed."""
    table = _good_parts(order)
    eta = moments * largest ** (order - 2.0) / scale**2
    return np.asarray(np.interp(np.log(eta), np.log(_TABLE), table) / largest)


@lru_cache(maxsize=8)
def _good_parts(order: float) -> Floats:
    """u = qc of the smallest price, for every η of the table."""
    u = np.geomspace(0.05, 8.0, 120)
    ones = np.ones(len(u))
    found = [u[prices(ones, u, eta * ones, 1.0, order).argmin()] for eta in _TABLE]
    return np.array(found)


def deviations(arms: int) -> float:
    """z such that this many Gaussian variables all lie within z deviations with probability 0.8.

    By Šidák's inequality, whatever their correlations.
    """
    from scipy.special import ndtri  # not needed to import the package

    return float(ndtri(0.5 + 0.5 * PROBABILITY ** (1.0 / max(arms, 1))))


def squared(
    scale: float, norm: float, lam: float, delta: float, log_det: float, price: float
) -> float:
    """β² = λF² + ς²(log det(I + K/λ) + 2 log(1/0.8δ) + 2·price), times the leverage."""
    logs = log_det + 2.0 * math.log(1.0 / (PROBABILITY * delta))
    return lam * norm**2 + scale**2 * (logs + 2.0 * price)


def usual_scale(noise: float, reach: float, order: float, horizon: int) -> float:
    """ς for noise with (E|ε|^p)^(1/p) ≤ ``noise`` and |f| ≤ ``reach``; any ς > 0 is allowed.

    ς^p = 1.6 v (√T/22)^(2−p), v the largest moment about a centre; for p = 2 no T is needed. Prices
    stay small with it, in the problems it was tried on.
    """
    growth = max(math.sqrt(horizon) / 22.0, 1.0) ** (2.0 - order)
    least = 2.0 * noise**order
    moment = float(moment_about(np.array([reach]), noise, order)[0])
    return float((max(1.6 * moment, least) * growth) ** (1.0 / order))


def moment_about(distances: Floats, noise: float, order: float) -> Floats:
    """Bounds on E|y − m|^p (n) for centres at most so far (n) from f: exact for p = 2."""
    if order == 2.0:
        return noise**2 + np.square(distances)
    return np.asarray((noise + distances) ** order)
