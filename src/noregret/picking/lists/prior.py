"""What the bounds of a list start from, before anything is told."""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats
from noregret.kernels import Kernel
from noregret.spaces import Candidates

#: for how many candidates k(x, x) is computed at a time
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
        diagonal = np.empty(size)
        for start in range(0, size, _PIECE):
            ids = np.arange(start, min(start + _PIECE, size))
            diagonal[ids] = self.kernel.diag(space.at(ids + first))
        return np.asarray(self.scale * np.sqrt(diagonal / self.lam))
