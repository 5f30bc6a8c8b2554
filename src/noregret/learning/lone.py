"""Rewards that are far too bad for where they stand: a stall, or a slip of the hand."""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.learning.leave_one_out import leave_one_out

#: with fewer arms nobody can tell an outlier from a hole of f; of many arms the last ones are seen
_FEWEST, _MOST = 20, 1000
#: how far an outlier lies below the prediction, and how far a low reward does, in medians of such
#: distances
_FAR, _LOW = 20.0, 4.5
#: how many neighbours an outlier must not resemble
_BESIDE = 2
#: the largest share of outliers: if there are more, f is low there
_FEW = 0.2


def lone_outliers(
    kernel: Kernel, lam: float, points: Points, rows: Ints, drawn_in: Floats, raw: Floats
) -> Ints:
    """Positions of rewards far below what the other arms predict, where their neighbours are not.

    Only an arm that was told once can have one: a second bad reward says that f is bad there. A
    reward that is far too good is none of them, as it may be the best choice.

    Parameters
    ----------
    kernel, lam
        The prior covariance, and the variance of the noise.
    points
        The arms (u × d).
    rows
        The arm of every reward (n).
    drawn_in, raw
        The rewards from which others are predicted, and as they are, less the prior mean (n each).
    """
    arms, first, which, counts = np.unique(
        rows, return_index=True, return_inverse=True, return_counts=True
    )
    if len(arms) < _FEWEST:
        return np.empty(0, dtype=np.int64)
    means, real = np.bincount(which, drawn_in) / counts, np.bincount(which, raw) / counts
    seen = np.sort(np.argsort(first)[-_MOST:])
    arms, first, counts = arms[seen], first[seen], counts[seen]
    means, real = means[seen], real[seen]

    def distances(kept: Ints) -> Floats:
        """How far arms lie from what other arms among them predict, in deviations."""
        mean, variance = leave_one_out(kernel, lam, points[arms[kept]], counts[kept], means[kept])
        off = (real[kept] - mean) / np.sqrt(variance + lam / counts[kept])
        return np.asarray(off - np.median(off))

    off = distances(np.arange(len(arms)))
    median = float(np.median(np.abs(off)))
    far = (off < -_FAR * median) & (counts == 1)
    if not far.any() or far.mean() > _FEW:
        return np.empty(0, dtype=np.int64)
    # Neighbours are judged without the outliers, which draw the predictions down.
    low, others = far.copy(), np.flatnonzero(~far)
    low[others] = distances(others) < -_LOW * median
    likeness = kernel(points[arms], points[arms])
    np.fill_diagonal(likeness, -np.inf)
    beside = np.argpartition(-likeness, _BESIDE, axis=1)[:, :_BESIDE]
    return np.asarray(first[far & ~low[beside].any(axis=1)])
