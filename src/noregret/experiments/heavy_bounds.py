"""Regret bounds of the heavy-tails paper's theorems, as curves beside measured regret.

The theorems print orders, O(·). The curves are what their proofs give with every constant:

    R_T ≤ 2 β_T √(2(1 + λ) T γ_T)    (Theorems 1 and 3),    ρ times as much    (Theorem 4),

with the width β_T of each theorem and an upper bound on the largest information gain γ_T. The
m of Theorem 4 is the number of arms, which bounds the number of independent features. Theorem 3's
term for the error of the features, whose constant is not printed, is left out. The lower bound of
Theorem 2 is drawn with the constant 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.widths import heavy

#: δ and ε of the experiments: the default of all algorithms, and the paper's
_DELTA, _EPSILON = 0.1, 0.1
#: steps towards the weights of the largest information gain
_STEPS = 60


@dataclass(frozen=True)
class Case:
    """What the theorems are told of a problem.

    Attributes
    ----------
    gram
        The kernel matrix of the arms (A × A).
    alpha, v, norm, lam
        α, v, B and λ.
    features
        The number of quadrature features, and the kernel matrix that they approximate; None
        without them.
    lower
        The order of Theorem 2's lower bound on R_T for rounds T (n), for kernels that it covers.
    """

    gram: Floats
    alpha: float
    v: float
    norm: float
    lam: float
    features: tuple[int, Floats] | None = None
    lower: Callable[[Floats], Floats] | None = None


def curves(case: Case, rounds: Ints) -> pl.DataFrame:
    """Bounds on the average regret R_T/T: a row per number of rounds T and theorem.

    Columns: ``t``, ``bound``, ``theorem`` (1 to 4) and ``algorithm``, which is null for the lower
    bound.
    """
    root, alpha, v, norm, lam = math.sqrt(case.lam), case.alpha, case.v, case.norm, case.lam
    rho = (1.0 + _EPSILON) / (1.0 - _EPSILON)
    bias = heavy.nystrom_bias(_EPSILON)
    rows: list[tuple[int, float, int, str | None]] = []
    for t, gain in zip(rounds.tolist(), largest_gains(case.gram, lam, rounds), strict=True):
        # Widths multiply √(variance/λ) here and the deviation in the paper.
        per_width = 2.0 * math.sqrt(2.0 * (1.0 + lam) * gain / t) / root
        first = heavy.tgp(alpha, v, norm, lam, _DELTA, 2.0 * gain, t)
        rows.append((t, per_width * first, 1, "tgp"))
        arms = len(case.gram)
        log = heavy.ata_log(arms, t, _DELTA, union=4)
        fourth = heavy.ata(alpha, v, norm, lam, arms, t, log, bias=bias)
        rows.append((t, rho * per_width * fourth, 4, "nystrom"))
    if case.features is not None:
        count, gram = case.features
        for t, gain in zip(rounds.tolist(), largest_gains(gram, lam, rounds), strict=True):
            per_width = 2.0 * math.sqrt(2.0 * (1.0 + lam) * gain / t) / root
            log = heavy.ata_log(count, t, _DELTA)
            third = heavy.ata(alpha, v, norm, lam, count, t, log)
            rows.append((t, per_width * third, 3, "qff"))
    if case.lower is not None:
        lowest = case.lower(rounds.astype(np.float64)) / rounds
        rows += [(t, low, 2, None) for t, low in zip(rounds.tolist(), lowest.tolist(), strict=True)]
    return pl.DataFrame(rows, schema=["t", "bound", "theorem", "algorithm"], orient="row")


def largest_gains(gram: Floats, lam: float, rounds: Ints) -> Floats:
    """Upper bounds on γ_T, the largest ½ log det(I + K/λ) of T evaluations, for every T (n).

    γ_T is at most the maximum over weights w of ½ log det(I + (T/λ) K^½ diag(w) K^½). That is
    concave in w, so value + largest slope − average slope bounds it at any w.
    """
    values, vectors = np.linalg.eigh(gram)
    # Directions without weight are left out, what they could add is below rounding.
    kept = values > 1e-12 * values[-1]
    features = vectors[:, kept] * np.sqrt(values[kept])
    weights = np.full(len(gram), 1.0 / len(gram))
    found = []
    for t in rounds.tolist():
        best = math.inf
        for _ in range(_STEPS):
            information = (t / lam) * (features.T * weights) @ features
            information += np.eye(features.shape[1])
            factor = np.linalg.cholesky(information)
            slopes = 0.5 * (t / lam) * np.square(np.linalg.solve(factor, features.T)).sum(axis=0)
            gain, average = float(np.log(np.diag(factor)).sum()), float(weights @ slopes)
            best = min(best, gain + float(slopes.max()) - average)
            weights = weights * slopes / average
        found.append(best)
    return np.array(found)


def smooth_lower(alpha: float, v: float, norm: float) -> Callable[[Floats], Floats]:
    """Theorem 2 for the squared exponential kernel in one dimension, with the constant 1."""
    power = 1.0 / (1.0 + alpha)

    def order(rounds: Floats) -> Floats:
        logs = np.log(v ** (-1.0 / alpha) * norm ** ((1.0 + alpha) / alpha) * rounds)
        return np.asarray((v * rounds) ** power * np.maximum(logs, 0.0) ** (alpha * power / 2.0))

    return order


def rough_lower(alpha: float, v: float, norm: float, nu: float) -> Callable[[Floats], Floats]:
    """Theorem 2 for a Matérn kernel in one dimension, with the constant 1."""
    whole = nu * (1.0 + alpha) + alpha

    def order(rounds: Floats) -> Floats:
        factor = v ** (nu / whole) * norm ** (alpha / whole)
        return np.asarray(factor * rounds ** ((nu + alpha) / whole))

    return order
