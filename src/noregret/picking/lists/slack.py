"""Room for round-off in bounds that are compared with bounds computed another way."""

import numpy as np

from noregret._types import Floats


def with_slack(stale: Floats, root: Floats) -> Floats:
    """Bounds (n), a little enlarged: round-off must not put one below the current bound.

    ``root`` are the √leverages in these bounds (n).
    """
    return np.asarray(stale + 1e-9 * (np.abs(stale) + root))
