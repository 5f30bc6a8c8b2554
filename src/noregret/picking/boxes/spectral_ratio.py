"""When is a batch on a box full? By the largest eigenvalue of its posterior covariance matrix."""

import numpy as np

from noregret._types import Floats, Points
from noregret.batching import NOTHING_LEFT, BatchRule
from noregret.models.fantasy import Block
from noregret.models.posterior import Posterior


class SpectralRatio(BatchRule):
    """BBKB Lemma 1 first, then Lemma 3 for all points of a box at once.

    k̃_fb is a kernel, so the matrix K̃ of the picks dominates ccᵀ/σ̃²_fb(x), c = k̃_fb(picks, x), for
    every x (a Schur complement). So Σ_s k̃_fb(x, x_s)² / σ̃²_fb(x), the sum of Lemma 3, is at most
    the largest eigenvalue of K̃, which is at most its trace, the sum of Lemma 1.

    Parameters
    ----------
    threshold
        C̃.
    posterior
        The posterior at the batch start.
    pending
        Σσ̃²_fb over points handed out earlier, which bounds their share everywhere.
    """

    def __init__(self, threshold: float, posterior: Posterior, pending: float = 0.0) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending
        self._posterior = posterior
        self._pending = pending
        self._trace = 0.0
        self._picks: list[Points] = []
        self._matrix: Floats = np.empty((0, 0))
        self._largest = 0.0  # an upper bound on the largest eigenvalue of K̃

    def add(self, block: Block, position: int) -> bool:
        """Full once the eigenvalue passes the threshold."""
        self._trace += float(block.told[position])
        self._picks.append(block.points[position])
        self.ratio = 1.0 + self._pending + self._trace
        if float(block.told[position]) <= NOTHING_LEFT:
            return True
        if self.ratio <= self.threshold:
            return False
        points = np.array(self._picks)
        for i in range(len(self._matrix), len(points)):
            self._border(self._posterior.covariance(points[: i + 1], points[i : i + 1])[:, 0])
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
