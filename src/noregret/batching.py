"""When is a batch full? Each rule is told of every pick and answers whether it was the last.

A pick that crosses the threshold still belongs to its batch (BBKB Algorithm 1, line 5), so a
threshold of 1 gives batches of one. ``ratio`` is the bound reached so far on the ratio of posterior
deviations at the batch start and now.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from noregret._types import Floats


class BatchRule(Protocol):
    """Decides when a batch ends."""

    ratio: float

    def add(self, id_: int, start: float, now: float) -> bool:
        """Whether the batch ends with this pick, its leverage at the batch start and now given."""


class FixedSize:
    """No bound: the caller's limit ends the batch."""

    def __init__(self) -> None:
        self.ratio = 1.0

    def add(self, id_: int, start: float, now: float) -> bool:
        """Never full."""
        return False


class ProductRule:
    """∏(1 + σ²_{s−1}(x_s)) ≤ C.  GP-BUCB (BBKB Algorithm 2, Proposition 1)."""

    def __init__(self, threshold: float, pending: float = 0.0) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending

    def add(self, id_: int, start: float, now: float) -> bool:
        """Full once the product passes the threshold."""
        self.ratio *= 1.0 + now
        return self.ratio > self.threshold or now <= _NOTHING_LEFT


class GlobalRatio:
    """1 + Σσ̃²_fb(x_s) ≤ C̃.  BBKB Lemma 1.

    ``pending`` is the sum over points handed out earlier and not told yet.
    """

    def __init__(self, threshold: float, pending: float = 0.0) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending

    def add(self, id_: int, start: float, now: float) -> bool:
        """Full once the sum passes the threshold."""
        self.ratio += start
        return self.ratio > self.threshold or now <= _NOTHING_LEFT


class LocalRatio:
    """Lemma 1 first, then BBKB Lemma 3 where that would end the batch (Section 4).

    1 + Σ_s k̃_fb(x, x_s)² / σ̃²_fb(x) ≤ C̃ for every candidate x. Each new arm costs a pass over Z.

    Parameters
    ----------
    threshold
        C̃.
    leverage
        σ̃²_fb of every candidate (A).
    covariance
        The candidate's k̃_fb with all others (A), by id.
    pending
        Σσ̃²_fb over points handed out earlier, which bounds their share everywhere.
    """

    def __init__(
        self,
        threshold: float,
        leverage: Floats,
        covariance: Callable[[int], Floats],
        pending: float = 0.0,
    ) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending
        self._covariance = covariance
        self._leverage = np.maximum(leverage, np.finfo(float).tiny)
        self._picks: dict[int, int] | None = {}
        self._shares: dict[int, Floats] = {}
        self._local: Floats = np.full(len(leverage), 1.0 + pending)

    def add(self, id_: int, start: float, now: float) -> bool:
        """Full once neither bound holds for all candidates."""
        if now <= _NOTHING_LEFT:
            return True
        if self._picks is not None:
            self.ratio += start
            self._picks[id_] = self._picks.get(id_, 0) + 1
            if self.ratio <= self.threshold:
                return False
            for pick, times in self._picks.items():  # the switch
                self._local += times * self._share(pick)
            self._picks = None
        else:
            self._local += self._share(id_)
        self.ratio = float(self._local.max())
        return self.ratio > self.threshold

    def _share(self, id_: int) -> Floats:
        """k̃_fb(x, x_s)² / σ̃²_fb(x) (A), kept because late batches repeat their arms."""
        if id_ not in self._shares:
            if len(self._shares) >= 64:
                self._shares.clear()
            self._shares[id_] = np.square(self._covariance(id_)) / self._leverage
        return self._shares[id_]


class SpectralRatio:
    """Lemma 1 first, then BBKB Lemma 3 for all points of a box at once.

    k̃_fb is a kernel, so the matrix K̃ of the picks dominates ccᵀ/σ̃²_fb(x), c = k̃_fb(picks, x), for
    every x (a Schur complement). So Σ_s k̃_fb(x, x_s)² / σ̃²_fb(x), the sum of Lemma 3, is at most
    the largest eigenvalue of K̃, which is at most its trace, the sum of Lemma 1.

    Parameters
    ----------
    threshold
        C̃.
    covariance
        k̃_fb of pick i with the picks 0 … i (i + 1), by i.
    pending
        Σσ̃²_fb over points handed out earlier, which bounds their share everywhere.
    """

    def __init__(
        self, threshold: float, covariance: Callable[[int], Floats], pending: float = 0.0
    ) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending
        self._pending = pending
        self._covariance = covariance
        self._trace = 0.0
        self._matrix: Floats = np.empty((0, 0))
        self._largest = 0.0  # a bound on its largest eigenvalue

    def add(self, id_: int, start: float, now: float) -> bool:
        """Full once the eigenvalue passes the threshold; ``id_`` is the pick's number."""
        self._trace += start
        self.ratio = 1.0 + self._pending + self._trace
        if now <= _NOTHING_LEFT:
            return True
        if self.ratio <= self.threshold:
            return False
        for i in range(len(self._matrix), id_ + 1):
            self._border(self._covariance(i))
        if 1.0 + self._pending + self._largest > self.threshold:
            self._largest = float(np.linalg.eigvalsh(self._matrix)[-1])
        self.ratio = 1.0 + self._pending + min(self._largest, self._trace)
        return self.ratio > self.threshold

    def _border(self, column: Floats) -> None:
        """One more pick; the eigenvalue is at most that of [[largest, ‖c‖], [‖c‖, d]]."""
        k = len(self._matrix)
        grown = np.empty((k + 1, k + 1))
        grown[:k, :k] = self._matrix
        grown[k] = grown[:, k] = column
        self._matrix = grown
        half, c = 0.5 * (self._largest - column[k]), float(np.linalg.norm(column[:k]))
        self._largest = 0.5 * (self._largest + float(column[k])) + float(np.hypot(half, c))


#: a pick with no leverage left cannot end a batch by any sum: end it
_NOTHING_LEFT = 1e-12
