"""The width for softly clipped rewards (the Proofs page, Theorem 8).

Noise has a finite moment of order p = 1 + α in (1, 2], nothing else: E|ε|^p ≤ σ^p. A soft clip
ψ(w) ≤ log(1 + w + C|w|^p) makes exp(ψ(hε) − ℓ(h)) with ℓ(h) = log(1 + C|h|^p σ^p) have a mean of at
most 1 for every h, whatever the noise. ψ is nearly w for small w, so the width is nearly that of
Gaussian noise, plus a *price*: how much Σ ψ(hε) − ℓ(h) falls short of the Gaussian Σ hε − ς²h²/2.

Functions h are drawn around a centre with the deviation s = √leverage/ς at each arm.
:mod:`noregret.widths.soft_clip` has ψ and its expectations.
"""

import math
from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints
from noregret.widths.soft_clip import (
    CURVATURE,
    interpolation_errors,
    looked_up,
    mean_log_moment,
    moment_constant,
    second_derivatives,
    table_of,
)

#: values of h between 0 and the largest one, at which prices are computed
_STEPS = 48
#: sums are chosen for every sixth of them and a usual μ, with so many halvings of an interval
_EVERY, _USUAL_PART, _HALVINGS = 6, 0.2, 30
#: how many values are looked up at a time
_BLOCK = 500_000
#: levels are powers of this
_LEVEL_STEP = 1.05
#: fractions μ of the Gaussian part of an arm that may make up for its price
_PARTS = np.array([0.0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
#: what a fraction μ of an arm is taken to cost, in units of μ·n·leverage, when fractions are chosen
_RATES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: beyond so many arms and features, eigenvalues are bounded by simpler means
_MOST = 400


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
    coordinates
        Rows b with ⟨b_i, b_j⟩ = ⟨φ(x_i), V⁻¹φ(x_j)⟩ (n × m); :func:`squared` is larger without.
    """

    sample: Sample
    sums: Floats
    mean: Floats
    deviations: Floats
    reach: Floats
    base: float | Floats
    coordinates: Floats | None = None

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
    """(β/ς)² of Theorem 8, for good μ_i; valid if it is at most ``setting.level``²."""
    prices, n, theta = _prices(case, setting), case.sample.counts, setting.part
    arms, costs = np.arange(len(n)), n * np.square(case.deviations * setting.scale)
    found = math.inf
    for rate in _RATES:
        chosen = np.argmin(prices + rate * np.outer(_PARTS, costs), axis=0)
        loss = _largest_loss(case, setting, _PARTS[chosen])
        if loss < 1.0:
            total = float(prices[chosen, arms].sum())
            found = min(found, float(case.base + 2.0 * total) / (1.0 - loss))
    return max(found, 0.0) / (2.0 * theta - theta**2)


def _largest_loss(case: Case, setting: Setting, parts: Floats) -> float:
    """An upper bound on Σ μ_i n_i h(x_i)² for functions h with norm 1 in V, for some μ (n)."""
    weights = parts * case.sample.counts
    leverage = np.square(case.deviations * setting.scale)
    simple = min(float(parts.max()), float(weights @ leverage))
    if case.coordinates is None or min(case.coordinates.shape) > _MOST:
        return simple
    rows = case.coordinates * np.sqrt(weights)[:, None]
    gram = rows.T @ rows if rows.shape[0] > rows.shape[1] else rows @ rows.T
    # Leverage outside the span of the features is round-off.
    outside = float(weights @ np.maximum(leverage - np.square(case.coordinates).sum(axis=1), 0.0))
    return min(simple, float(np.linalg.eigvalsh(gram)[-1]) + outside)


def squared_apart(case: Case, setting: Setting) -> Floats:
    """(β/ς)² of Theorem 8 for every arm by itself (n); valid where at most ``setting.level``²."""
    theta = setting.part
    shares = case.sample.counts * np.square(case.deviations * setting.scale)  # n·leverage
    found = (case.base + 2.0 * _prices(case, setting)) / (1.0 - np.outer(_PARTS, shares))
    return np.asarray(np.maximum(found.min(axis=0), 0.0) / (2.0 * theta - theta**2))


def _prices(case: Case, setting: Setting) -> Floats:
    """Bounds on the prices of all arms for every μ (15 × n)."""
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

    β² + (λ − λ₁)(F² − ‖mean_λ‖²) − ‖mean_λ − mean₁‖² in the norm of V₁.

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
    return np.asarray(square + more * (norm**2 - norms) - apart)


def _shortfalls(case: Case, setting: Setting, columns: Ints) -> tuple[Floats, Floats]:
    """By how much ψ falls short of the Gaussian h(y − f) − ς²h²/2, for ±h (2 × n × k).

    Returns also (1/θ − ½)ς²nh² (n × k). ``columns`` are the numbers of the h (k).
    """
    sample, s, mean, z = case.sample, case.deviations, case.mean, case.z
    n, shift, c = sample.counts, setting.shift, setting.centres[columns]
    table = table_of(setting.centres.tobytes(), setting.order)
    slope = case.sums - n * mean
    h = s[:, None] * c
    gauss = (1.0 / setting.part - 0.5) * setting.scale**2 * n[:, None] * np.square(h)
    common = gauss - 0.5 * (n * np.square(s * setting.scale))[:, None]
    common += n[:, None] * mean_log_moment(s, c, setting.noise, setting.order)
    lost = np.empty((2, *h.shape))
    for side, sign in enumerate((1.0, -1.0)):
        # f = mean ∓ v with v between (ς²/θ)h and this
        room = np.maximum(case.reach + sign * mean, 0.0)
        signed = sign * z
        for block in np.array_split(np.arange(len(c)), -(-len(z) * len(c) // _BLOCK)):
            x = signed[:, None] + (shift * np.square(s))[sample.arms, None] * c[block]
            value = looked_up(table, x, columns[block])
            lost[side][:, block] = sign * h[:, block] * slope[:, None] - sample.sums(value)
        step = s[:, None] * setting.centres[1]
        lost[side][shift * (h - step) > room[:, None]] = -np.inf
    return lost + common, gauss


def _bend(case: Case, setting: Setting) -> Floats:
    """A bound (n) on minus the second derivative of the shortfalls by h."""
    kappa, largest, size = setting.shift, setting.part * setting.level, _largest_z(case, setting)
    s, sample = case.deviations, case.sample
    by_reward = second_derivatives(size, largest, setting.order)
    rest = CURVATURE * kappa**2 * np.square(s) * (largest**2 + 1.0) + 2.0 * kappa * (
        1.0 + CURVATURE
    )
    rest += setting.noise**2 - (2.0 / setting.part - 1.0) * setting.scale**2
    return np.asarray(sample.sums(by_reward) / np.square(s) + sample.counts * rest)


def _table_errors(case: Case, setting: Setting) -> Floats:
    """Bounds (n) on the sums of the errors of values interpolated in the table, by arm."""
    errors = interpolation_errors(_largest_z(case, setting), setting.part * setting.level)
    return case.sample.sums(errors)


def _largest_z(case: Case, setting: Setting) -> Floats:
    """The largest s·|reward − f| of every reward, over all f that are considered (t)."""
    shifts = setting.shift * setting.part * setting.level * np.square(case.deviations)
    return np.asarray(np.abs(case.z) + shifts[case.sample.arms])
