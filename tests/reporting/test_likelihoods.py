"""What other settings gain."""

import numpy as np
import pytest
from planted import drawn

import noregret as nr
from noregret.reporting.likelihoods import Arms, gains


def test_gains_are_differences_of_likelihoods():
    X, f, rng = drawn(1, 40)
    y = 3.0 + f + 0.1 * rng.standard_normal(40)
    found = gains(nr.RBF(0.3), 0.01, Arms(X, np.ones(40, dtype=int), y, 0.0))
    gram = found.amplitude * nr.RBF(0.3)(X, X) + 0.01 * np.eye(40)
    away = y - found.mean
    level = -0.5 * (np.linalg.slogdet(gram)[1] + away @ np.linalg.solve(gram, away))
    plain = nr.RBF(0.3)(X, X) + 0.01 * np.eye(40)
    asis = -0.5 * (np.linalg.slogdet(plain)[1] + y @ np.linalg.solve(plain, y))
    assert found.level == pytest.approx(level - asis)
    assert found.both >= max(found.lengthscale, found.noise) >= 0
