"""The Tanimoto kernel of fingerprints: packed bits, or counts."""

from collections.abc import Iterator

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.kernels.base import Kernel, check_rows

#: rows compared at a time, few enough to stay in the processor's cache
_STRIP = 256
#: from this many rows on a sparse matrix product is faster than counting bits word by word,
_FEW = 128
#: if at most this share of the bits is set
_SPARSE = 1 / 6
#: how far integers of 16 bits can count
_SHORT = 32767
#: counts up to this are compared level by level, by matrix products
_LEVELS = 64


class Tanimoto(Kernel):
    """variance · Σ min(x, y) / Σ max(x, y): the share of bits that two fingerprints have in common.

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
        check_rows("Tanimoto needs", X, Y, "packed bits (uint8) or counts")
        if X.dtype != np.uint8 or Y.dtype != np.uint8:
            _refuse_negative(X)
            _refuse_negative(Y)
            return self.variance * _alike(_shared_counts(X, Y), X.sum(axis=1), Y.sum(axis=1))
        if len(Y) > len(X):
            return self(Y, X).T
        out = np.empty((len(X), len(Y)))
        sizes = _bits(Y)
        for rows, shared in shared_bits(X, Y):
            out[rows] = _alike(shared.astype(np.float64), _bits(X[rows]), sizes)
        out *= self.variance
        return out

    @property
    def takes_bits(self) -> bool:
        """Points may be packed bits."""
        return True

    @property
    def constant(self) -> float:
        """k(x, x), the same for every x."""
        return self.variance


def _alike(shared: Floats, left: Floats, right: Floats) -> Floats:
    """The similarities (n × m), from what rows share (n × m) and the rows' sizes (n and m)."""
    either = np.add.outer(left, right)
    either -= shared
    empty = either <= 0.0
    if empty.any():
        shared[empty] = either[empty] = 1.0
    shared /= either
    return shared


def shared_bits(X: Points, Y: Points) -> Iterator[tuple[slice, Points]]:
    """How many bits the rows of X (n × bytes) and Y (m × bytes) share, a few rows at a time.

    Fingerprints have few of their bits set, so that a sparse matrix product is fastest; where
    there are few rows to compare with, or many bits set, the bits are counted word by word.
    """
    width = 8 * Y.shape[1]
    few_set = len(Y) >= _FEW and float(_bits(Y).mean()) <= _SPARSE * width
    yield from _by_products(X, Y) if few_set and width <= _SHORT else _by_words(X, Y)


def _by_products(X: Points, Y: Points) -> Iterator[tuple[slice, Points]]:
    from scipy.sparse import csr_array

    width = 8 * X.shape[1]
    right = np.ascontiguousarray(np.unpackbits(Y, axis=1).T).astype(np.int16)
    for first in range(0, len(X), _STRIP):
        rows = slice(first, min(first + _STRIP, len(X)))
        bits = np.unpackbits(X[rows], axis=1)
        places = np.flatnonzero(bits)
        starts = np.searchsorted(places, width * np.arange(len(bits) + 1))
        ones = np.ones(len(places), dtype=np.int16)
        yield rows, csr_array((ones, places % width, starts), shape=bits.shape) @ right


def _by_words(X: Points, Y: Points) -> Iterator[tuple[slice, Points]]:
    left, right = _words(X), np.ascontiguousarray(_words(Y).T)
    for first in range(0, len(X), _STRIP):
        rows = slice(first, min(first + _STRIP, len(X)))
        own = left[rows]
        out = np.zeros((len(own), len(Y)), dtype=np.uint32)
        for word in range(left.shape[1]):
            out += np.bitwise_count(own[:, word, None] & right[word])
        yield rows, out


def _words(X: Points) -> Points:
    """Rows of bytes as rows of 64-bit words, filled up with zeros."""
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
        from scipy.spatial.distance import cdist  # slow to import, and telling does not need it

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
