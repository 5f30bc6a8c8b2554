"""The Tanimoto kernel of fingerprints: packed bits, or counts."""

import numpy as np
from scipy.spatial.distance import cdist

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel

#: rows compared at a time: what is worked on stays in the processor's cache
_ROWS, _COLUMNS = 16, 1024
#: counts up to this are compared level by level, by matrix products
_LEVELS = 64


class Tanimoto(Kernel):
    """variance · Σ min(x, y) / Σ max(x, y): what two fingerprints share, over what either has.

    Points are packed bits (rows of ``uint8``, eight bits each, as :func:`numpy.packbits` makes
    them), or numbers of at least 0: counts, or 0 and 1. For bits this is Tanimoto's (Jaccard's)
    similarity |x ∩ y| / |x ∪ y|, for counts the min-max kernel. Both are positive definite. Two
    empty fingerprints are alike, and unlike all others.

    Parameters
    ----------
    variance
        k(x, x).
    """

    def __init__(self, variance: float = 1.0) -> None:
        self.variance = _checks.positive("variance", variance)

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        if X.ndim != 2 or Y.ndim != 2:
            raise TypeError("Tanimoto needs rows of packed bits (uint8) or of counts, not objects")
        if X.dtype == np.uint8 and Y.dtype == np.uint8:
            shared = shared_bits(X, Y).astype(np.float64)
            sizes = _bits(X), _bits(Y)
        else:
            _refuse_negative(X)
            _refuse_negative(Y)
            shared, sizes = _shared_counts(X, Y), (X.sum(axis=1), Y.sum(axis=1))
        either = np.add.outer(*sizes)
        either -= shared
        empty = either <= 0.0
        shared[empty] = 1.0
        either[empty] = 1.0
        shared /= either
        shared *= self.variance
        return shared

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x) = variance."""
        return np.full(len(X), self.variance)

    @property
    def takes_bits(self) -> bool:
        """Points may be packed bits."""
        return True

    @property
    def constant(self) -> float:
        """k(x, x), the same for every x."""
        return self.variance


def shared_bits(X: Points, Y: Points) -> Points:
    """How many bits the rows of X (n × bytes) and Y (m × bytes) share (n × m, whole numbers)."""
    if len(Y) < len(X) and len(Y) < _COLUMNS:  # long rows run faster
        return shared_bits(Y, X).T
    left, right = _words(X), np.ascontiguousarray(_words(Y).T)
    out = np.zeros((len(X), len(Y)), dtype=np.uint32)
    both = np.empty((_ROWS, _COLUMNS), dtype=np.uint64)
    counts = np.empty((_ROWS, _COLUMNS), dtype=np.uint8)
    for first in range(0, len(X), _ROWS):
        rows = left[first : first + _ROWS]
        for start in range(0, len(Y), _COLUMNS):
            part = out[first : first + _ROWS, start : start + _COLUMNS]
            height, width = part.shape
            for word in range(left.shape[1]):
                columns = right[word, start : start + _COLUMNS]
                np.bitwise_and(rows[:, word, None], columns, out=both[:height, :width])
                np.bitwise_count(both[:height, :width], out=counts[:height, :width])
                part += counts[:height, :width]
    return out


def _words(X: Points) -> Points:
    """Rows of bytes as rows of 64 bits, zeros behind them."""
    missing = -X.shape[1] % 8
    if missing:
        X = np.pad(X, ((0, 0), (0, missing)))
    return np.ascontiguousarray(X).view(np.uint64)


def _bits(X: Points) -> Floats:
    """How many bits each row has (n)."""
    return np.asarray(np.bitwise_count(_words(X)).sum(axis=1, dtype=np.float64))


def _shared_counts(X: Points, Y: Points) -> Floats:
    """Σ min(x, y) for the rows of X (n × d) and Y (m × d)."""
    most = min(X.max(initial=0), Y.max(initial=0))
    whole = bool(np.all(np.rint(X) == X) and np.all(np.rint(Y) == Y))
    if not whole or most > _LEVELS:
        # min(a, b) = (a + b − |a − b|) / 2
        apart = np.asarray(cdist(X, Y, "cityblock"))
        return np.asarray(0.5 * (np.add.outer(X.sum(axis=1), Y.sum(axis=1)) - apart))
    # min(a, b) counts the levels that both reach. Products of 0 and 1 are exact in float32.
    shared = np.zeros((len(X), len(Y)))
    for level in range(1, int(most) + 1):
        used = np.flatnonzero((X.max(axis=0) >= level) & (Y.max(axis=0) >= level))
        left, right = X[:, used] >= level, Y[:, used] >= level
        shared += left.astype(np.float32) @ right.astype(np.float32).T
    return shared


def _refuse_negative(X: Points) -> None:
    if X.min(initial=0) < 0:
        raise ValueError(f"Tanimoto needs counts of at least 0, got {X.min()}")
