"""Truncation levels and widths for heavy-tailed rewards, E|y|^(1+α) ≤ v.

All from Ray Chowdhury & Gopalan (2019), "Bayesian optimization under heavy-tailed payoffs", except
:func:`robust_ucb`. As in :mod:`noregret.widths` the widths multiply the square root of the
*leverage*, variance/λ; the paper's own multiply the deviation, they are these divided by √λ. ``t``
is the number of evaluations told: the width after t evaluations is the paper's β_{t+1}.
"""

import math
from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints

#: the first horizon where none is given
_FIRST_HORIZON = 1024


@dataclass(frozen=True)
class Horizon:
    """T: as given, or 1,024 at first; it doubles until it holds all evaluations told.

    δ halves with every doubling, which keeps the probability of any failure below 2δ; it is halved
    once more where no horizon is given, for δ in all.
    """

    given: int | None

    def after(self, t: int) -> int:
        """T after t evaluations."""
        return self._first << self._doublings(t)

    def delta(self, delta: float, t: int) -> float:
        """δ after t evaluations."""
        return delta / 2.0 ** (self._doublings(t) + (self.given is None))

    @property
    def _first(self) -> int:
        return self.given or _FIRST_HORIZON

    def _doublings(self, t: int) -> int:
        return max(-(-max(t, 1) // self._first) - 1, 0).bit_length()


def tgp_levels(alpha: float, v: float, times: Ints) -> Floats:
    """b_t = v^(1/(1+α)) t^(1/(2(1+α))) for every t (n).  TGP-UCB Theorem 1."""
    return np.asarray((v * np.sqrt(times)) ** (1.0 / (1.0 + alpha)))


def tgp_level(alpha: float, v: float, t: int) -> float:
    """b_t for one t."""
    return float(tgp_levels(alpha, v, np.array([t]))[0])


def tgp(
    alpha: float,
    v: float,
    norm: float,
    lam: float,
    delta: float,
    log_det: float,
    t: int,
    bias: float = 1.0,
) -> float:
    """bias·√λB + 3 b_t √(log det(K/λ + I) + 2 log 1/δ).  TGP-UCB Theorem 1 for ``bias`` = 1.

    Its proof has √2(1 + 2√x) with x = ½ log det + log 1/δ and puts 3√2·√x in its place, which
    needs x ≥ 1; where that fails (δ near 1), the former is used.
    """
    root = math.sqrt(0.5 * log_det + math.log(1.0 / delta))
    spread = math.sqrt(2.0) * max(3.0 * root, 1.0 + 2.0 * root)
    return bias * math.sqrt(lam) * norm + _at(t) * tgp_level(alpha, v, t) * spread


def tgp_practical(alpha: float, v: float, norm: float, lam: float, t: int) -> float:
    """√λB + b_t √log t: of the order of Theorem 1, as the paper's experiments have it."""
    spread = tgp_level(alpha, v, t) * math.sqrt(math.log(max(t, 1)))
    return math.sqrt(lam) * norm + _at(t) * spread


def ata_log(features: int, horizon: int, delta: float, union: int = 2) -> float:
    """log(2mT/δ) of ATA-GP-UCB Lemma 1 (QFF), log(4mT/δ) of Theorem 4 (Nyström, ``union`` = 4)."""
    return math.log(union * max(features, 1) * horizon / delta)


def ata_practical_log(features: int, horizon: int) -> float:
    """log((m + 1)T), of the same order."""
    return math.log((features + 1) * horizon)


def ata_level(alpha: float, v: float, t: int, log: float) -> float:
    """b_t = (v/L)^(1/(1+α)) t^((1−α)/(2(1+α))).  ATA-GP-UCB Lemma 1 and Theorem 4."""
    return float((v / log * t ** ((1.0 - alpha) / 2.0)) ** (1.0 / (1.0 + alpha)))


def ata(
    alpha: float,
    v: float,
    norm: float,
    lam: float,
    features: int,
    t: int,
    log: float,
    factor: float = 4.0,
    bias: float = 1.0,
) -> float:
    """bias·√λB + factor·√m v^(1/(1+α)) L^(α/(1+α)) t^((1−α)/(2(1+α))).

    ATA-GP-UCB Lemma 1 (QFF: factor 4, bias 1) and Theorem 4 (Nyström: factor 4, bias
    1 + 1/√(1−ε)); the practical width has factor 1 and bias 1.
    """
    # L·b_t is v^(1/(1+α)) L^(α/(1+α)) t^((1−α)/(2(1+α))).
    spread = factor * math.sqrt(features) * log * ata_level(alpha, v, t, log)
    return bias * math.sqrt(lam) * norm + _at(t) * spread


def nystrom_bias(epsilon: float) -> float:
    """1 + 1/√(1−ε): what a dictionary of accuracy ε adds to the bias (ATA-GP-UCB Theorem 4)."""
    return 1.0 + 1.0 / math.sqrt(1.0 - epsilon)


def nystrom_practical_q(epsilon: float, horizon: int) -> float:
    """q = log(T)/ε², of the same order."""
    return math.log(max(horizon, 2)) / epsilon**2


def nystrom_q(epsilon: float, horizon: int, delta: float) -> float:
    """q = 6ρ log(4T/δ)/ε² with ρ = (1+ε)/(1−ε).  ATA-GP-UCB Theorem 4."""
    rho = (1.0 + epsilon) / (1.0 - epsilon)
    return 6.0 * rho * math.log(4.0 * horizon / delta) / epsilon**2


def robust_ucb(alpha: float, v: float, t: int, factor: float = 4.0) -> float:
    """4 v^(1/(1+α)) (log t²)^(α/(1+α)); times n^(−α/(1+α)) it bounds the truncated mean's error.

    Bubeck, Cesa-Bianchi & Lugosi (2013), "Bandits with heavy tail", Lemma 1 with δ = t⁻².
    """
    return factor * float((v * log_squared(t) ** alpha) ** (1.0 / (1.0 + alpha)))


def median_of_means(alpha: float, v: float, t: int) -> float:
    """(12·2^(1−α)v)^(1/(1+α)) (16 log(e^(1/8) t²))^(α/(1+α)), times n^(−α/(1+α)) an error bound.

    Bubeck, Cesa-Bianchi & Lugosi (2013), Lemma 2 with δ = t⁻². The lemma has E|y − E y|^(1+α) in
    place of v: that is at most 2^(1−α) E|y|^(1+α), as y ↦ y − E y has a norm of at most 2 in L¹ and
    of 1 in L² (Riesz–Thorin).
    """
    log = 16.0 * (0.125 + log_squared(t))
    return float((12.0 * 2.0 ** (1.0 - alpha) * v * log**alpha) ** (1.0 / (1.0 + alpha)))


def catoni(v: float, t: int) -> float:
    """2√(v log t²); times n^(−1/2) it bounds the error of Catoni's mean where n > 4 log t².

    Bubeck, Cesa-Bianchi & Lugosi (2013), Lemma 3 with δ = t⁻².
    """
    return 2.0 * math.sqrt(v * log_squared(t))


def log_squared(t: int) -> float:
    """log t² with t at least 2: the log 1/δ of Robust UCB."""
    return 2.0 * math.log(max(t, 2))


def _at(t: int) -> float:
    """The width; B before the first evaluation, without any noise (proofs of both lemmas)."""
    return 1.0 if t else 0.0
