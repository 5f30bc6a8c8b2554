"""Empty arrays, as defaults of what an estimate remembers."""

import numpy as np

from noregret._types import Floats, Ints


def no_numbers() -> Floats:
    """No numbers (0)."""
    return np.empty(0)


def no_rows() -> Ints:
    """No rows (0)."""
    return np.empty(0, dtype=np.int64)
