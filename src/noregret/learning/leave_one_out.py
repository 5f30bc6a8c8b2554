"""What a GP says of arms whose own rewards it has not seen, in closed form."""

import numpy as np
from scipy.linalg import cho_solve

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.linalg.factors import safe_cholesky


def leave_one_out(
    kernel: Kernel, lam: float, points: Points, counts: Ints, means: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of every arm's value given all other arms (u each).

    With A = K + diag(λ/n) for counts n, and means ȳ: ȳ_i − mean_{−i} = (A⁻¹ȳ)_i / (A⁻¹)_ii, and
    the variance is 1/(A⁻¹)_ii less λ/n_i (Rasmussen & Williams 2006, section 5.4.2).
    """
    gram = kernel(points, points)
    own = lam / counts
    gram[np.diag_indices_from(gram)] += own
    inverse = cho_solve((safe_cholesky(gram), True), np.eye(len(gram)), check_finite=False)
    precision = inverse.diagonal()
    mean = means - (inverse @ means) / precision
    return mean, np.maximum(1.0 / precision - own, 0.0)
