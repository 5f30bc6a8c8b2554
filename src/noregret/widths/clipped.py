"""The width for softly clipped rewards (the Proofs page, Theorem 8).

Noise has a finite moment of order p = 1 + α in (1, 2], nothing else: E|ε|^p ≤ σ^p. A soft clip
ψ(w) ≤ log(1 + w + C|w|^p) makes exp(ψ(hε) − ℓ(h)) with ℓ(h) = log(1 + C|h|^p σ^p) have a mean of at
most 1 for every h, whatever the noise. ψ is nearly w for small w, so the width is nearly that of
Gaussian noise, plus a *price*: how much Σ ψ(hε) − ℓ(h) falls short of the Gaussian Σ hε − ς²h²/2.

ψ is the sum of an odd function (:func:`odd`) and an even one (:func:`even`). Functions h are drawn
around a centre with deviation s = √leverage/ς at each arm, so expectations over z·(c + ξ) are
needed, with ξ a standard Gaussian, z = s·(reward − mean) and c the centre in units of s. They are
tabulated.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from noregret._types import Floats, Ints

#: the second derivatives of :func:`odd` and :func:`even` sum to at most this, also times w
CURVATURE = 2.0
#: values of h between 0 and the largest one, at which prices are computed
_STEPS = 48
#: sums are chosen for every sixth of them and a usual μ, with so many halvings of an interval
_EVERY, _USUAL_PART, _HALVINGS = 6, 0.02, 30
#: the table: smallest z, the ratio of one z to the one before, and how many there are
_FIRST, _RATIO, _LENGTH = 1e-4, 1.03, 1600
#: where the density of c + ξ is evaluated
_SPACING, _REACH = 0.1, 7.0
#: tables of many levels share values of ψ, computed for so many u at a time
_PIECE = 64
#: how many values are looked up at a time
_BLOCK = 500_000
#: levels are powers of this
_LEVEL_STEP = 1.05
#: fractions of the Gaussian part that may make up for prices
_PARTS = np.array([0.0, 0.005, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6])


def odd(w: Floats) -> Floats:
    """½ log((1 + w + w²/2)/(1 − w + w²/2)) for |w| ≤ 1, ±(½ log 5 + 0.4 log|w|) beyond: rises."""
    size = np.abs(w)
    inner = np.minimum(size, 1.0)
    square = 0.5 * np.square(inner)
    near = 0.5 * (np.log1p(inner + square) - np.log1p(square - inner))
    return np.asarray(np.sign(w) * (near + 0.4 * np.log(np.maximum(size, 1.0))))


def even(w: Floats) -> Floats:
    """½ log(1 + w⁴/4) for |w| ≤ 1, ½ log 1.25 + 0.4 log|w| beyond: rises with |w|."""
    size = np.abs(w)
    near = 0.5 * np.log1p(0.25 * np.minimum(size, 1.0) ** 4)
    return np.asarray(near + 0.4 * np.log(np.maximum(size, 1.0)))


@lru_cache(maxsize=16)
def moment_constant(order: float) -> float:
    """C: the smallest number with exp ψ(w) ≤ 1 + w + C|w|^p for all w; 1/2 for p = 2.

    For −1 < w < 1 any C ≥ 1/2 will do. exp ψ(w) is 2.5 w^0.8 for w ≥ 1 and 1/2 for w ≤ −1.
    """
    x = np.geomspace(1.0, 1e4, 200_001)
    above = (2.5 * x**0.8 - 1.0 - x) / x**order
    below = (x - 0.5) / x**order
    found = max(float(above.max()), float(below.max()))
    return found if order == 2.0 else found * (1.0 + 1e-6)  # for values between the x


def log_moment(h: Floats, noise: float, order: float) -> Floats:
    """ℓ(h) = log(1 + C|h|^p σ^p): a bound on log E exp ψ(hε)."""
    return np.asarray(np.log1p(moment_constant(order) * np.abs(h * noise) ** order))


def usual_scale(noise: float, order: float, horizon: int) -> float:
    """ς for noise with (E|ε|^p)^(1/p) ≤ ``noise``; any ς > 0 is allowed. For p = 2 it is σ."""
    growth = max(math.sqrt(horizon) / 22.0, 1.0) ** (2.0 - order)
    return float((2.0 * moment_constant(order) * noise**order * growth) ** (1.0 / order))


def level_above(value: float) -> float:
    """The smallest level that is at least ``value``: levels are powers of 1.05."""
    return float(_LEVEL_STEP ** math.ceil(math.log(value) / math.log(_LEVEL_STEP) - 1e-9))


@dataclass(frozen=True)
class Sample:
    """Rewards of n arms, sorted by arm.

    Attributes
    ----------
    rewards, arms
        The rewards, and the arm of each, in rising order from 0 (t each).
    starts
        Where each arm's rewards begin (n).
    counts
        Rewards of each arm (n).
    """

    rewards: Floats
    arms: Ints
    starts: Ints
    counts: Floats

    @classmethod
    def of(cls, rewards: Floats, rows: Ints) -> "Sample":
        """From rewards and their rows (t each); arms are the rows that occur."""
        order = np.argsort(rows, kind="stable")
        starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        counts = np.diff([*starts, len(rows)])
        arms = np.repeat(np.arange(len(starts)), counts)
        return cls(rewards[order], arms, starts, counts.astype(np.float64))

    def sums(self, values: Floats) -> Floats:
        """Sums of values of the rewards (t, or t × k) by arm (n, or n × k)."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))


@dataclass(frozen=True)
class Setting:
    """What prices are computed for.

    Attributes
    ----------
    scale, noise, order
        ς, σ and p.
    level
        The value that β/ς must not exceed.
    part
        θ in (0, 1]: h goes up to θ·level deviations s.
    """

    scale: float
    noise: float
    order: float
    level: float
    part: float

    @property
    def centres(self) -> Floats:
        """c of the values of h, from 0 to θ·level (49)."""
        return np.linspace(0.0, self.part * self.level, _STEPS + 1)

    @property
    def shift(self) -> float:
        """ς²/θ: just outside the ellipsoid, f lies this times h below the mean."""
        return self.scale**2 / self.part


@dataclass(frozen=True)
class Case:
    """What is known of the rewards when a width is computed.

    Attributes
    ----------
    sample
        All rewards, by arm.
    sums, mean
        The sums S that the mean was computed from, and the mean (n each).
    deviations
        s = √leverage/ς (n).
    reach
        Bounds on |f| at the arms (n).
    base
        λF²/ς² + log det(I + K/λ) + 2 log 1/δ; of every arm by itself (n) for
        :func:`squared_apart`.
    """

    sample: Sample
    sums: Floats
    mean: Floats
    deviations: Floats
    reach: Floats
    base: float | Floats

    @property
    def z(self) -> Floats:
        """s·(reward − mean) of every reward (t)."""
        arms = self.sample.arms
        return np.asarray(self.deviations[arms] * (self.sample.rewards - self.mean[arms]))


def soft_sums(sample: Sample, mean: Floats, deviations: Floats, setting: Setting) -> Floats:
    """Sums S of rewards by arm (n), softly clipped about a mean of each arm (n).

    Any S are valid. These make the largest shortfalls of h and of −h equal for every arm, so that
    the larger of the two is small.
    """
    columns = np.arange(_EVERY, _STEPS + 1, _EVERY)
    anywhere = np.full(len(mean), np.inf)
    case = Case(sample, sample.counts * mean, mean, deviations, anywhere, 0.0)
    lost, gauss = _shortfalls(case, setting, columns)
    lost -= _USUAL_PART * gauss
    h = deviations[:, None] * setting.centres[columns]
    # Where S − n·mean makes both equal for one h; what makes the largest equal lies in between.
    equal = (lost[1] - lost[0]) / (2.0 * h)
    low, high = equal.min(axis=1), equal.max(axis=1)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = (lost[0] + h * middle[:, None]).max(axis=1)
        below = (lost[1] - h * middle[:, None]).max(axis=1)
        low, high = np.where(above < below, middle, low), np.where(above < below, high, middle)
    return np.asarray(sample.counts * mean + 0.5 * (low + high))


def squared(case: Case, setting: Setting) -> float:
    """(β/ς)² of Theorem 8, for the best μ; valid if it is at most ``setting.level``²."""
    totals = _prices(case, setting).sum(axis=1)
    theta = setting.part
    found = float(((case.base + 2.0 * totals) / (1.0 - _PARTS)).min())
    return max(found, 0.0) / (2.0 * theta - theta**2)


def squared_apart(case: Case, setting: Setting) -> Floats:
    """(β/ς)² of Theorem 8 for every arm by itself (n); valid where at most ``setting.level``²."""
    theta = setting.part
    found = (case.base + 2.0 * _prices(case, setting)) / (1.0 - _PARTS)[:, None]
    return np.asarray(np.maximum(found.min(axis=0), 0.0) / (2.0 * theta - theta**2))


def _prices(case: Case, setting: Setting) -> Floats:
    """Bounds on the prices of all arms for every μ (13 × n)."""
    sample, theta = case.sample, setting.part
    lost, gauss = _shortfalls(case, setting, np.arange(_STEPS + 1))
    bend, error = _bend(case, setting), _table_errors(case, setting)
    # Between two values of h the shortfall exceeds the larger of theirs by at most step²/8 · bend.
    step = np.square(theta * setting.level * case.deviations / _STEPS) / 8.0
    found = np.empty((len(_PARTS), len(sample.counts)))
    for i, part in enumerate(_PARTS.tolist()):
        highest = (lost - part * gauss).max(axis=(0, 2))
        more = bend + 2.0 * part * (1.0 / theta - 0.5) * setting.scale**2 * sample.counts
        found[i] = error + highest + step * np.maximum(more, 0.0)
    return found


def for_other_lambdas(
    square: float, norm: float, lams: Floats, weights: Floats, gram: Floats, known: int
) -> Floats:
    """Squared widths for every λ (g) from that of one of them, λ₁.

    β² + (λ − λ₁)(N² − ‖mean_λ‖²) − ‖mean_λ − mean₁‖² in the norm of V₁, with N = F for λ > λ₁ and
    N = 0 for λ < λ₁.

    Parameters
    ----------
    square
        β² for λ₁.
    norm
        F.
    lams, weights
        Every λ (g), and the weights of the mean for each (g × m).
    gram
        V − λI (m × m).
    known
        The number of λ₁.
    """
    off, more = weights - weights[known], lams - lams[known]
    apart = np.einsum("gm,mk,gk->g", off, gram, off) + lams[known] * np.square(off).sum(axis=1)
    norms = np.square(weights).sum(axis=1)
    return np.asarray(square + more * (np.where(more > 0.0, norm**2, 0.0) - norms) - apart)


def _shortfalls(case: Case, setting: Setting, columns: Ints) -> tuple[Floats, Floats]:
    """By how much ψ falls short of the Gaussian h(y − f) − ς²h²/2, for ±h (2 × n × k).

    Returns also (1/θ − ½)ς²nh² (n × k). ``columns`` are the numbers of the h (k).
    """
    sample, s, mean, z = case.sample, case.deviations, case.mean, case.z
    n, shift, c = sample.counts, setting.shift, setting.centres[columns]
    table = _table(setting.centres.tobytes())
    slope = case.sums - n * mean
    h = s[:, None] * c
    gauss = (1.0 / setting.part - 0.5) * setting.scale**2 * n[:, None] * np.square(h)
    common = gauss - 0.5 * (n * np.square(s * setting.scale))[:, None]
    common += n[:, None] * _smoothed_log_moment(s, setting, c)
    lost = np.empty((2, *h.shape))
    for side, sign in enumerate((1.0, -1.0)):
        # f = mean ∓ v with v between (ς²/θ)h and this
        room = np.maximum(case.reach + sign * mean, 0.0)
        signed = sign * z
        for block in np.array_split(np.arange(len(c)), -(-len(z) * len(c) // _BLOCK)):
            x = signed[:, None] + (shift * np.square(s))[sample.arms, None] * c[block]
            value = _looked_up(table, x, columns[block])
            lost[side][:, block] = sign * h[:, block] * slope[:, None] - sample.sums(value)
        step = s[:, None] * setting.centres[1]
        lost[side][shift * (h - step) > room[:, None]] = -np.inf
    return lost + common, gauss


def _bend(case: Case, setting: Setting) -> Floats:
    """A bound (n) on minus the second derivative of the shortfalls by h."""
    kappa, largest, size = setting.shift, setting.part * setting.level, _largest_z(case, setting)
    s, sample = case.deviations, case.sample
    by_reward = np.minimum(
        CURVATURE * np.square(size), 1.42 + 0.8 * np.log((1.0 + size) * (1.0 + largest))
    )
    rest = CURVATURE * kappa**2 * np.square(s) * (largest**2 + 1.0) + 2.0 * kappa * (
        1.0 + CURVATURE
    )
    rest += setting.noise**2 - (2.0 / setting.part - 1.0) * setting.scale**2
    return np.asarray(sample.sums(by_reward) / np.square(s) + sample.counts * rest)


def _table_errors(case: Case, setting: Setting) -> Floats:
    """Bounds (n) on the sums of the errors of values interpolated in the table, by arm.

    Over a step from z to 1.03z a function is off its chord by (0.03z)²/8 times its second
    derivative, which is at most CURVATURE·(1 + c²), and at most CURVATURE/z².
    """
    largest = setting.part * setting.level
    size = np.maximum(_largest_z(case, setting), _FIRST / (_RATIO - 1.0))
    each = np.minimum((1.0 + largest**2) * np.square(size), 1.0)
    return np.asarray((_RATIO - 1.0) ** 2 / 8.0 * CURVATURE * case.sample.sums(each))


def _largest_z(case: Case, setting: Setting) -> Floats:
    """The largest s·|reward − f| of every reward, over all f that are considered (t)."""
    shifts = setting.shift * setting.part * setting.level * np.square(case.deviations)
    return np.asarray(np.abs(case.z) + shifts[case.sample.arms])


def _smoothed_log_moment(s: Floats, setting: Setting, c: Floats) -> Floats:
    """E ℓ(s(c + ξ)) for every arm and c (n × k)."""
    nodes, weights = _quadrature()
    h = s[:, None, None] * (c[:, None] + nodes)
    values = log_moment(h, setting.noise, setting.order)
    return np.asarray(values @ weights)


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss–Hermite quadrature for a standard Gaussian."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    return nodes, weights / weights.sum()


# -- the table of E ψ(z(c + ξ)) ---------------------------------------------


@lru_cache(maxsize=96)
def _table(centres: bytes) -> Floats:
    """What is counted for z from the lowest to the highest of the table, and some c (3199 × k).

    For z > 0 it is E ψ(z(c + ξ)), which rises with z. For z ≤ 0 it is the smallest E ψ(z'(c + ξ))
    for z' from z to 0.
    """
    c = np.frombuffer(centres)
    least, last = (math.ceil(x / _SPACING) for x in (_REACH, float(c[-1]) + _REACH))
    u = _SPACING * np.arange(-least, last + 1)
    weights = np.exp(-0.5 * np.square(u[:, None] - c))
    weights /= weights.sum(axis=0)
    odd_part, even_part = _parts(_PIECE * math.ceil(last / _PIECE))
    # for u ≥ 0, and for −u with u > 0
    up, down = weights[least:], weights[:least][::-1]
    odds = odd_part[:, : len(up)] @ up - odd_part[:, 1 : least + 1] @ down
    evens = even_part[:, : len(up)] @ up + even_part[:, 1 : least + 1] @ down
    below = np.minimum.accumulate(evens - odds, axis=0)
    return np.concatenate([below[:0:-1], odds + evens])


@lru_cache(maxsize=16)
def _parts(last: int) -> tuple[Floats, Floats]:
    """odd(zu) and even(zu) for the z ≥ 0 of the table and u = 0 … 0.1·``last`` (1600 × u each)."""
    products = _grid()[:, None] * (_SPACING * np.arange(last + 1))
    return odd(products), even(products)


@lru_cache(maxsize=1)
def _grid() -> Floats:
    """The z ≥ 0 of the table: 0, and then a geometric progression."""
    return np.concatenate([[0.0], _FIRST * _RATIO ** np.arange(_LENGTH - 1)])


def _looked_up(table: Floats, z: Floats, columns: Ints) -> Floats:
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
