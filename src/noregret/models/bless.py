"""BLESS: a dictionary for many evaluations at once, drawn by ridge leverage scores."""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import lower_solve, row_norms, safe_cholesky

#: λ is divided by this at every stage
_STEP = 4.0
#: stages before the last one oversample at least this much
_STAGE_QBAR = 3.0


def bless(
    kernel: Kernel,
    points: Points,
    counts: Ints,
    lam: float,
    qbar: float,
    rng: np.random.Generator,
) -> Ints:
    """Rows of an accurate dictionary for many evaluations at once, in near-linear time.

    BLESS-R of Rudi et al. (2018, Algorithm 2): few points suffice to estimate ridge leverage scores
    for a large λ. Each stage divides λ by four, and thins a uniform subsample by the scores that
    the last stage's dictionary gives. It weights each point it keeps by the inverse of its
    probability. A point evaluated n times stands for n equal rows.

    Parameters
    ----------
    kernel, points, counts, lam
        k, the arms (u × d), their evaluations (u), and λ.
    qbar
        Oversampling of the last stage.
    rng
        Source of randomness.
    """
    rows = np.flatnonzero(counts)
    prior = kernel.diag(points[rows]) * counts[rows]  # the largest possible n·leverage·λ
    chosen = np.empty(0, dtype=np.int64)
    weights = np.empty(0)
    stage = float(prior.sum())
    while True:
        stage = max(stage / _STEP, lam)
        last = stage <= lam
        oversampling = qbar if last else max(qbar, _STAGE_QBAR)
        bound = np.minimum(oversampling * prior / stage, 1.0)
        thinned = np.flatnonzero(rng.random(len(rows)) < bound)
        leverage = _leverage(kernel, points, rows[thinned], chosen, weights, stage)
        chance = np.minimum(oversampling * leverage * counts[rows[thinned]], bound[thinned])
        accepted = rng.random(len(thinned)) * bound[thinned] < chance
        if last:
            kept = rows[thinned[accepted]]
            return kept if len(kept) else rows[:1]
        if accepted.any():
            chosen = rows[thinned[accepted]]
            weights = counts[chosen] / chance[accepted]


def _leverage(
    kernel: Kernel, points: Points, rows: Ints, chosen: Ints, weights: Floats, lam: float
) -> Floats:
    """Ridge leverage scores by a weighted dictionary: (k − k_Jᵀ(K_J + λW⁻¹)⁻¹k_J) / λ."""
    values = kernel.diag(points[rows]) / lam
    if not len(chosen):
        return values
    inducing = points[chosen]
    gram = kernel(inducing, inducing)
    gram[np.diag_indices_from(gram)] += lam / weights
    lower = safe_cholesky(gram)
    for start in range(0, len(rows), 4096):
        piece = slice(start, start + 4096)
        solved = lower_solve(lower, kernel(inducing, points[rows[piece]]))
        values[piece] -= row_norms(solved.T) / lam
    return np.maximum(values, 0.0)
