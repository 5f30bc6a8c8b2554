"""What the bounds of a list start from, before anything is told."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.spaces import Candidates

#: how many rows of a list a function is computed for at a time
_PIECE = 1 << 16


@dataclass(frozen=True)
class PriorRoot:
    """scale·√(k(x, x)/λ): what the bounds of candidates start from."""

    kernel: Kernel
    scale: float = 1.0
    lam: float = 1.0

    def of(self, space: Candidates, first: int = 0) -> Floats:
        """The values on a list, from the id ``first`` on (A − ``first``).

        No points are read if k(x, x) is the same everywhere.
        """
        same, size = self.kernel.constant, len(space) - first
        if same is not None:
            return np.full(size, self.scale * np.sqrt(same / self.lam))
        diagonal = over_list(self.kernel.diag, lambda ids: space.at(ids + first), size)
        return np.asarray(self.scale * np.sqrt(diagonal / self.lam))


def over_list(
    function: Callable[[Points], Floats], points: Callable[[Ints], Points], size: int
) -> Floats:
    """``function(points)`` → n values, for every candidate of a list, a piece at a time (A)."""
    out = np.empty(size)
    for start in range(0, size, _PIECE):
        ids = np.arange(start, min(start + _PIECE, size))
        out[ids] = function(points(ids))
    return out
