"""What is believed of one cell of a cover, and how a cover is kept."""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints
from noregret.learning.beliefs import log_det_bounds
from noregret.models.cover import Key
from noregret.models.dictionary import Sparsifier
from noregret.models.sparse import SparseGP
from noregret.observations import Observations

#: up to this many rows are looked up one by one
_FEW = 8


@dataclass(frozen=True)
class Covering:
    """How a cover is kept.

    Attributes
    ----------
    horizon
        T, as far as it is known before the first evaluation.
    planned
        Whether T was given.
    growth
        q: a cover for a larger T has at least T^q cells; ``None`` if the first cover was given.
    split
        ``"count"``: a cell splits when ρ^(−1/b) < n + 1. ``"gain"``: when its information gain is
        large as well (Section 7).
    dictionary
        Mode of the cells' dictionaries: ``"complete"`` or ``"grow"``.
    lam_follows
        Whether λ = 1 + 2/T.
    by_time
        Whether the share of δ of a cell depends on the time, as the paper prints it, instead of on
        the cell's depth.
    """

    horizon: int
    planned: bool
    growth: float | None
    split: str
    dictionary: str
    lam_follows: bool
    by_time: bool


@dataclass(frozen=True)
class CellBeliefs:
    """What is believed of one cell, from the evaluations told inside it.

    Attributes
    ----------
    key
        The key of the cell in the cover.
    rows
        The arms told inside it, faces included (rows of the observations), in the model's order.
    model
        The sparse GP.
    sparsifier
        Draws the model's dictionary.
    scatter
        Σ (reward − mean of its arm)² of those arms.
    widths
        Factors of √leverage for every λ (g); none if they are fixed or depend on the time.
    refuted
        Whether the rewards told here refute the assumptions.
    stamp
        When it last changed: counts the times that rewards were taken in.
    """

    key: Key
    rows: Ints
    model: SparseGP
    sparsifier: Sparsifier
    scatter: float = 0.0
    widths: Floats | None = None
    refuted: bool = False
    stamp: int = 0

    @property
    def count(self) -> int:
        """n, the evaluations told inside it."""
        return int(self.model.counts.sum())

    @property
    def log_det(self) -> float:
        """An upper bound on log det(I + K/λ); equal to it for a complete dictionary."""
        return float(log_det_bounds(self.model)[0])

    @property
    def gain(self) -> float:
        """γ = ½ log det(I + K/λ)."""
        return 0.5 * self.log_det


def seen_before(
    old: CellBeliefs, cell: CellBeliefs, observations: Observations
) -> tuple[Ints, Floats, Floats]:
    """The arms of a cell with new evaluations (k of its rows), their old means and √leverages."""
    more = cell.model.counts.copy()
    more[: len(old.rows)] -= old.model.counts
    rows = np.flatnonzero(more)
    if rows.max(initial=-1) < len(old.rows):
        return rows, old.model.mean(rows), np.sqrt(old.model.leverage(rows))
    mean, leverage = old.model.posterior().evaluate(observations.points[cell.rows[rows]])
    return rows, mean, np.sqrt(leverage)


def joined(known: Ints, rows: Ints) -> Ints:
    """Known rows, followed by those of ``rows`` that are not known yet."""
    if len(rows) <= _FEW:
        old = known.tolist()
        fresh = [row not in old for row in rows.tolist()]
        return np.concatenate([known, rows[fresh]]) if any(fresh) else known
    return np.concatenate([known, rows[np.isin(rows, known, invert=True)]])
