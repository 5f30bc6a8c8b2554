"""Functions that tests of runs evaluate."""

import numpy as np


def bowl(x):
    """Minimum 0 at (0.3, 0.3)."""
    return float(np.square(np.asarray(x) - 0.3).sum())


def fails_right_of(edge):
    """A function of a point that fails where its first coordinate is above the edge."""

    def f(x):
        if x[0] > edge:
            raise MemoryError("too large")
        return float(x[0])

    return f
