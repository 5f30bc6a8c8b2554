"""What a dictionary leaves out of the prior, and how much of it proved bounds can bear."""

import math
from dataclasses import replace

import numpy as np

from noregret._types import Points
from noregret.models.sparse import SparseGP
from noregret.widths import proved
from noregret.widths.evidence import Evidence, theory

#: how many arms are taken in at a time to lower the trace of the residual
_PIECE = 32
#: what the dictionary leaves out may widen proved bounds by this share
_WIDENING = 0.1


def trace_limit(found: Evidence) -> float:
    """The trace ρ at which 2SF√ρ is a small part of the squared width (the Proofs page, Theorem 2).

    The width is √((S + F√ρ)² + λF² − ridge), with S the bound on ‖y − f‖.
    """
    square = proved.squared_radius(found.noise, found.delta, found.log_dets, found.ridges)
    width = float(theory(replace(found, trace=0.0))[0][0])
    root = _WIDENING * width**2 / max(math.sqrt(max(square, 0.0)) * found.norm, 1e-300)
    return float(root * root)  # infinite if no trace matters


def lower_trace(model: SparseGP, points: Points, limit: float) -> None:
    """Take arms into the dictionary until tr R is at most ``limit``.

    The arms with the most evaluations times residual come first. O(u m) for every arm taken in.
    """
    while True:
        weights = model.counts * model.residual
        # Below the tolerance there is nothing left to take in.
        able = np.flatnonzero((model.counts > 0) & (model.residual > model.tolerance))
        if float(weights.sum()) <= limit or not len(able):
            return
        order = able[np.argsort(-weights[able], kind="stable")[:_PIECE]]
        before = model.size
        # As many as would bring the trace below the limit if the arms were uncorrelated.
        rest = float(weights.sum()) - np.cumsum(weights[order])
        needed = int(np.searchsorted(-rest, -limit)) + 1
        counts = model.counts.astype(np.int64)
        model.advance(points, counts, model.sums, order[:needed])
        if model.size == before:
            return
