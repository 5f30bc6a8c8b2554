"""Which arms become inducing points: posterior-variance sampling and BLESS."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.linalg.root import safe_cholesky
from noregret.models.sparse import SparseGP

#: BLESS halves λ at every stage
_STEP = 2.0
#: and oversamples at least this much on the way
_STAGE_QBAR = 5.0


def inclusion_probability(leverage: Floats, counts: Ints, qbar: float) -> Floats:
    """The chance that an arm enters a fresh dictionary (u).

    Every evaluation is drawn with probability p = q̄·leverage (BBKB Algorithm 1, lines 12 to 15); an
    arm evaluated n times is in with probability 1 − (1 − p)ⁿ.
    """
    p = np.minimum(qbar * leverage, 1.0)
    with np.errstate(divide="ignore"):
        chance = -np.expm1(np.maximum(counts, 1) * np.log1p(-p))
    return np.where(counts > 0, chance, 0.0)  # none left once a pending arm is cancelled


@dataclass(frozen=True)
class Plan:
    """What to do with the dictionary: ``rows`` to add, or to put in its place."""

    rows: Ints
    replace: bool = False
    reason: str = ""


class Sparsifier:
    """Decides at every batch start how the dictionary changes.

    Parameters
    ----------
    mode
        ``"resample"``: a fresh draw each time, as in the papers. ``"grow"``: the union of the old
        dictionary and a fresh draw; it is compacted to a fresh draw alone once carrying the
        surplus has cost as much as that would. ``"complete"``: every arm, the exact GP.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.surplus = 0.0  # column passes spent on more columns than a fresh draw would have

    def plan(
        self,
        model: SparseGP,
        counts: Ints,
        qbar: float,
        rng: np.random.Generator,
        unasked: int = 0,
    ) -> Plan:
        """The change for arms evaluated ``counts`` times (u), judged by the model's leverages.

        The leverages are those of the last batch start (BBKB Algorithm 1, line 13): the model has
        not taken in the new evaluations yet. ``unasked`` of those are old data: where they are so
        many that the old leverages say nothing of them, the dictionary is drawn by BLESS.
        """
        if self.mode == "complete":
            return Plan(np.flatnonzero(counts))
        chance = inclusion_probability(model.arms.leverage(model.lam), counts, qbar)
        expected = float(chance.sum())
        if unasked and expected > 2 * model.size + 256:
            rows = bless(model.kernel, model.arms.points, counts, model.lam, qbar, rng)
            return Plan(rows, replace=True, reason="warm start")
        fresh = np.flatnonzero(rng.random(len(chance)) < chance)
        if not len(fresh) and not model.size:  # BKB starts from S₁ = {x₁}
            fresh = np.flatnonzero(counts)[:1]
        if self.mode == "resample":
            return Plan(fresh if len(fresh) else model.dictionary, replace=True, reason="resample")
        if self._compaction_pays(model.size, expected, int((counts > model.counts).sum())):
            self.surplus = 0.0
            return Plan(fresh, replace=True, reason="compact")
        return Plan(np.setdiff1d(fresh, model.dictionary))

    def _compaction_pays(self, size: int, expected: float, moved: int) -> bool:
        """Rent or buy: compact when the surplus has cost as much as a rebuild, 2·m²."""
        if size < 1.5 * expected + 32:
            return False
        self.surplus += (size - expected) * (moved + 1)
        return self.surplus > 2.0 * expected**2 + 32.0 * size


def bless(
    kernel: Kernel,
    points: Points,
    counts: Ints,
    lam: float,
    qbar: float,
    rng: np.random.Generator,
) -> Ints:
    """Rows of an accurate dictionary for many evaluations at once, in near-linear time.

    BLESS-R of Rudi et al. (2018, Algorithm 2): ridge leverage scores for a large λ need few points
    to estimate; each stage halves λ, thins a uniform subsample by the scores the last stage's
    dictionary gives, and weights what it keeps by the inverse of its chance. ``counts`` are the
    evaluations of each point: a point evaluated n times stands for n equal rows.

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
    prior = kernel.diag(points[rows]) * counts[rows]  # the largest n·leverage·λ can be
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
        cross = kernel(inducing, points[rows[piece]])
        solved = solve_triangular(lower, cross, lower=True, check_finite=False)
        values[piece] -= np.einsum("ij,ij->j", solved, solved) / lam
    return np.maximum(values, 0.0)
