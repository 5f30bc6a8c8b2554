"""The soft clip ψ of Theorem 8 (the Proofs page), and its expectations over a Gaussian.

ψ is the sum of an odd function (:func:`odd`) and an even one (:func:`even`). It is nearly w for
small w, and exp ψ(w) ≤ 1 + w + C|w|^p for all w. Functions h are drawn around a centre with a
deviation s at each arm, so expectations of ψ(z(c + ξ)) are needed, with ξ a standard Gaussian, z =
s·(reward − mean) and c the centre in units of s. They are tabulated.
"""

import math
from functools import lru_cache

import numpy as np

from noregret._types import Floats, Ints

#: the second derivatives of :func:`odd` and :func:`even` sum to at most this, also times w or w²
CURVATURE = 2.0
#: the table: smallest z, the ratio of one z to the one before, and how many there are
_FIRST, _RATIO, _LENGTH = 1e-4, 1.03, 1600
#: where the density of c + ξ is evaluated
_SPACING, _REACH = 0.1, 7.0
#: tables of many levels share values of ψ, computed for so many u at a time
_PIECE = 64


def odd(w: Floats, order: float) -> Floats:
    """½ log((1 + w + w²/2)/(1 − w + w²/2)) for |w| ≤ 1; rises beyond, see the Proofs page."""
    size = np.abs(w)
    inner = np.minimum(size, 1.0)
    square = 0.5 * np.square(inner)
    near = 0.5 * (np.log1p(inner + square) - np.log1p(square - inner))
    return np.asarray(np.sign(w) * (near + _beyond(size, order)))


def even(w: Floats, order: float) -> Floats:
    """½ log(1 + w⁴/4) for |w| ≤ 1; rises with |w| beyond, see the Proofs page."""
    size = np.abs(w)
    near = 0.5 * np.log1p(0.25 * np.minimum(size, 1.0) ** 4)
    return np.asarray(near + _beyond(size, order))


def _beyond(size: Floats, order: float) -> Floats:
    """By how much both parts of ψ grow from |w| = 1 on: half as much as ψ(|w|) itself."""
    far = np.maximum(size, 1.0)
    if order == 2.0:
        return np.asarray(0.5 * np.log((1.0 + far + 0.5 * np.square(far)) / 2.5))
    return np.asarray(0.4 * np.log(far))


@lru_cache(maxsize=16)
def moment_constant(order: float) -> float:
    """C: the smallest number with exp ψ(w) ≤ 1 + w + C|w|^p for all w; 1/2 for p = 2.

    For −1 < w < 1 any C ≥ 1/2 will do. For p < 2, exp ψ(w) is 2.5 w^0.8 for w ≥ 1 and 1/2 for
    w ≤ −1.
    """
    if order == 2.0:
        return 0.5
    x = np.geomspace(1.0, 1e4, 200_001)
    above = (2.5 * x**0.8 - 1.0 - x) / x**order
    below = (x - 0.5) / x**order
    return max(float(above.max()), float(below.max())) * (1.0 + 1e-6)  # for values between the x


def log_moment(h: Floats, noise: float, order: float) -> Floats:
    """ℓ(h) = log(1 + C|h|^p σ^p): a bound on log E exp ψ(hε)."""
    return np.asarray(np.log1p(moment_constant(order) * np.abs(h * noise) ** order))


def mean_log_moment(s: Floats, c: Floats, noise: float, order: float) -> Floats:
    """E ℓ(s(c + ξ)) for every s (n) and c (k): n × k."""
    nodes, weights = _quadrature()
    h = s[:, None, None] * (c[:, None] + nodes)
    return np.asarray(log_moment(h, noise, order) @ weights)


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss–Hermite quadrature for a standard Gaussian."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    return nodes, weights / weights.sum()


def second_derivatives(z: Floats, largest: float, order: float) -> Floats:
    """Bounds on the second derivative of E ψ(z(c + ξ)) by c (n), for c up to ``largest``.

    Either inside the expectation, or by parts: E|ψ(z(c + ξ))(ξ² − 1)| with |ψ(w)| ≤ 2 log(1 + |w|)
    for p = 2, and |ψ(w)| ≤ log 2.5 + 0.8 log(1 + |w|) for p < 2.
    """
    first, growth = (1.33, 1.94) if order == 2.0 else (1.42, 0.8)
    by_parts = first + growth * np.log((1.0 + z) * (1.0 + largest))
    return np.asarray(np.minimum(CURVATURE * np.square(z), by_parts))


# -- the table of E ψ(z(c + ξ)) ---------------------------------------------


@lru_cache(maxsize=96)
def table_of(centres: bytes, order: float) -> Floats:
    """What is counted for z from the lowest to the highest of the table, and some c (3199 × k).

    For z > 0 it is E ψ(z(c + ξ)), which rises with z. For z ≤ 0 it is the smallest E ψ(z'(c + ξ))
    for z' from z to 0.
    """
    c = np.frombuffer(centres)
    least, last = (math.ceil(x / _SPACING) for x in (_REACH, float(c[-1]) + _REACH))
    u = _SPACING * np.arange(-least, last + 1)
    weights = np.exp(-0.5 * np.square(u[:, None] - c))
    weights /= weights.sum(axis=0)
    odd_part, even_part = _parts(_PIECE * math.ceil(last / _PIECE), order)
    # for u ≥ 0, and for −u with u > 0
    up, down = weights[least:], weights[:least][::-1]
    odds = odd_part[:, : len(up)] @ up - odd_part[:, 1 : least + 1] @ down
    evens = even_part[:, : len(up)] @ up + even_part[:, 1 : least + 1] @ down
    below = np.minimum.accumulate(evens - odds, axis=0)
    return np.concatenate([below[:0:-1], odds + evens])


@lru_cache(maxsize=16)
def _parts(last: int, order: float) -> tuple[Floats, Floats]:
    """odd(zu) and even(zu) for the z ≥ 0 of the table and u = 0 … 0.1·``last`` (1600 × u each)."""
    products = _grid()[:, None] * (_SPACING * np.arange(last + 1))
    return odd(products, order), even(products, order)


@lru_cache(maxsize=1)
def _grid() -> Floats:
    """The z ≥ 0 of the table: 0, and then a geometric progression."""
    return np.concatenate([[0.0], _FIRST * _RATIO ** np.arange(_LENGTH - 1)])


def looked_up(table: Floats, z: Floats, columns: Ints) -> Floats:
    """Values of some columns of the table (k) at z (t × k), linear in between."""
    grid, size = _grid(), np.abs(z)
    with np.errstate(divide="ignore"):
        steps = np.log(size / _FIRST) / math.log(_RATIO)
    inner = np.clip(steps + 1.0, 0, _LENGTH - 2).astype(np.int64)
    start = grid[inner]
    part = np.minimum((size - start) / (grid[inner + 1] - start), 1.0)
    side = np.where(z > 0.0, 1, -1)
    # rows of the table as positions in one long array
    at = (_LENGTH - 1 + side * inner) * table.shape[1] + columns
    near, far = table.take(at), table.take(at + side * table.shape[1])
    return np.asarray(near + part * (far - near))


def interpolation_errors(z: Floats, largest: float) -> Floats:
    """Bounds on the errors of values that are interpolated in the table, for c up to ``largest``.

    Over a step from z to 1.03z a function is off its chord by (0.03z)²/8 times its second
    derivative, which is at most CURVATURE·(1 + c²), and at most CURVATURE/z².
    """
    size = np.maximum(z, _FIRST / (_RATIO - 1.0))
    each = np.minimum((1.0 + largest**2) * np.square(size), 1.0)
    return np.asarray((_RATIO - 1.0) ** 2 / 8.0 * CURVATURE * each)
