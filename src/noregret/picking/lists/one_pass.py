"""One pass over a list: the mean of every candidate, and an upper bound on its deviation.

The variance given all evaluations told is at most the variance given some of them. A few inducing
points that lie far apart explain most of the variance that all of them do. Conditioning on them
costs little beside the kernel values, which the means need anyway.
"""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.linalg.factors import lower_solve, safe_cholesky
from noregret.linalg.threads import for_each
from noregret.models.sparse import SparseGP
from noregret.spaces import Candidates

#: deviations are conditioned on at most this many inducing points
_PIVOTS = 128
#: inducing points with a smaller residual than this share of the largest k(x, x) are skipped
_TOO_CLOSE = 1e-8
#: share of k(x, x) that is added to variances against round-off
_SLACK = 1e-9
#: kernel values computed at a time: they stay in the processor's cache
_PIECE = 1 << 18


class OnePass:
    """What one pass over a list finds, while the model stays as it is.

    Parameters
    ----------
    model
        The model.
    space
        The list.

    Attributes
    ----------
    means
        The mean of every candidate (A).
    roots
        An upper bound on √leverage for every candidate (A).
    """

    def __init__(self, model: SparseGP, space: Candidates) -> None:
        self._model, self._version = model, model.version
        self.means: Floats = np.zeros(len(space))
        self.roots: Floats = np.empty(len(space))
        posterior = model.posterior()
        kernel, inducing, lam = posterior.kernel, posterior.inducing, posterior.lam
        weights = lower_solve(posterior.tall, posterior.theta, transposed=True)
        pivots, inverse = _conditioning(model, inducing)
        piece = max(_PIECE // max(posterior.size, 1), 256)

        def work(start: int) -> None:
            part = slice(start, min(start + piece, len(space)))
            points = space.at(np.arange(part.start, part.stop))
            prior = kernel.diag(points)
            variance = (1.0 + _SLACK) * prior
            if posterior.size:
                values = kernel(inducing, points)
                self.means[part] = weights @ values
                explained = inverse @ values[pivots]
                variance -= np.einsum("ij,ij->j", explained, explained)
            self.roots[part] = np.sqrt(np.maximum(variance, _SLACK * prior) / lam)

        for_each(work, range(0, len(space), piece), parallel=True)

    def is_of(self, model: SparseGP) -> bool:
        """Whether a pass with this model, as it is now, would find the same."""
        return self._model is model and self._version == model.version


def _conditioning(model: SparseGP, inducing: Points) -> tuple[Ints, Floats]:
    """Some inducing points S that were told (s), and the inverse of their factor (s × s).

    With k the kernel values of a point with S, its variance given S falls by ‖inverse·k‖².
    """
    told = np.flatnonzero(model.counts[model.dictionary])
    chosen = told[_far_apart(model.kernel, inducing[told])]
    if not len(chosen):
        return chosen, np.empty((0, 0))
    gram = model.kernel(inducing[chosen], inducing[chosen])
    gram[np.diag_indices(len(chosen))] += model.lam / model.counts[model.dictionary[chosen]]
    return chosen, lower_solve(safe_cholesky(gram), np.eye(len(chosen)))


def _far_apart(kernel: Kernel, points: Points) -> Ints:
    """Positions of points, each the one least explained by those before: O(n·_PIVOTS²)."""
    most = min(_PIVOTS, len(points))
    left = kernel.diag(points)
    least = _TOO_CLOSE * float(left.max(initial=0.0))
    rows, chosen = np.empty((most, len(points))), []
    for i in range(most):
        at = int(np.argmax(left))
        if left[at] <= least:
            break
        row = kernel(points[at : at + 1], points)[0] - rows[:i, at] @ rows[:i]
        rows[i] = row / np.sqrt(left[at])
        left = left - np.square(rows[i])
        chosen.append(at)
    return np.array(chosen, dtype=np.int64)
