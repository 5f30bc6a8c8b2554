"""How wrong may we be? One function for each theorem.

Widths here multiply the square root of the *leverage* (the papers' σ of BKB and BBKB), except
:func:`srinivas` and :func:`igp_ucb`, which multiply the plain posterior deviation; divide the
former by √λ to get one that multiplies the deviation.
"""

import math
from typing import TypeVar

import numpy as np

from noregret._types import Floats

Number = TypeVar("Number", float, Floats)


def gp_ucb(noise: float, norm: float, lam: float, delta: float, log_det: float) -> float:
    """√λ F + ξ √(2(log det(K/λ + I) + log 1/δ)).  BKB eq. 7 (Chowdhury & Gopalan, 2017)."""
    return math.sqrt(lam) * norm + noise * math.sqrt(2.0 * (log_det + math.log(1.0 / delta)))


def srinivas(size: int, t: int, delta: float) -> float:
    """√(2 log(|A| t² π² / 6δ)), times the *deviation*.  Srinivas et al. (2010), Theorem 1.

    For f drawn from the GP itself and λ = ξ².
    """
    return math.sqrt(2.0 * math.log(size * max(t, 1) ** 2 * math.pi**2 / (6.0 * delta)))


def igp_ucb(noise: float, norm: float, lam: float, delta: float, gain: Number) -> Number:
    """B + L √(2(γ + 1 + log 1/δ)), times the *deviation*.  π-GP-UCB eq. 2; γ may be an array.

    The theorem (Chowdhury & Gopalan 2017, Theorem 2) asks for λ = 1 + 2/T. Any larger λ is safe; a
    λ below 1 needs L/√λ in the place of L (Abbasi-Yadkori et al. 2011), which is used there.
    """
    scale = noise / math.sqrt(min(lam, 1.0))
    root: Number = np.sqrt(2.0 * (gain + 1.0 + math.log(1.0 / delta)))
    return norm + scale * root


def bkb(
    noise: float,
    norm: float,
    lam: float,
    delta: float,
    effective_dimension: float,
    trace: float,
    epsilon: float = 0.5,
) -> float:
    """β̃ of BKB Theorem 2, with Σσ̃² over the evaluations as ``effective_dimension``.

    The theorem bounds log det(K/λ + I) by 2 log(κ²t) Σσ², from (1 + log(κ²t/λ + 1)) Σσ²; where t or
    λ is so small that the last step fails, the one before it is used. ``trace`` is Σ k(x, x) over
    the evaluations, which is at most κ²t.
    """
    alpha = (1.0 + epsilon) / (1.0 - epsilon)
    growth = max(math.log(trace) if trace > 1 else 0.0, 0.5 * (1.0 + math.log1p(trace / lam)))
    spread = alpha * growth * effective_dimension + math.log(1.0 / delta)
    bias = 1.0 + 1.0 / math.sqrt(1.0 - epsilon)
    return 2.0 * noise * math.sqrt(spread) + bias * math.sqrt(lam) * norm


def bbkb(noise: float, norm: float, lam: float, delta: float, log_det: float) -> float:
    """β̃ of BBKB Theorem 2, with Σ log(1 + 3σ̃²) at batch starts as ``log_det``."""
    spread = log_det + math.log(1.0 / delta)
    return 2.0 * noise * math.sqrt(spread) + (1.0 + math.sqrt(2.0)) * math.sqrt(lam) * norm


def practical(
    noise: float, norm: float, lam: float, delta: float, ratio: float, log_det: float
) -> float:
    """√λ F + ξ √(C̃ Σ log(1 + σ̃²) + log 1/δ): what the authors of BBKB run."""
    return math.sqrt(lam) * norm + noise * math.sqrt(ratio * log_det + math.log(1.0 / delta))


def bkb_qbar(epsilon: float, t: int, delta: float) -> float:
    """q̄ = 6α log(4t/δ)/ε² with α = (1 + ε)/(1 − ε).  BKB Theorem 2."""
    alpha = (1.0 + epsilon) / (1.0 - epsilon)
    return 6.0 * alpha * math.log(4.0 * max(t, 1) / delta) / epsilon**2


def bbkb_qbar(ratio: float, t: int, delta: float) -> float:
    """q̄ = 72 C̃ log(4t/δ).  BBKB Theorem 2."""
    return 72.0 * ratio * math.log(4.0 * max(t, 1) / delta)
