"""What a GP says of an arm without its own rewards."""

import numpy as np
import pytest

import noregret as nr
from noregret.learning.leave_one_out import leave_one_out


def test_leaving_out_an_arm_is_a_fit_without_it():
    rng = np.random.default_rng(0)
    X, f = rng.random((12, 1)), rng.standard_normal(12)
    counts = rng.integers(1, 4, size=12)
    kernel, lam = nr.RBF(0.3), 0.04
    mean, variance = leave_one_out(kernel, lam, X, counts, f)
    for i in range(12):
        others = np.arange(12) != i
        gram = kernel(X[others], X[others]) + np.diag(lam / counts[others])
        cross = kernel(X[others], X[i : i + 1])[:, 0]
        weights = np.linalg.solve(gram, cross)
        assert mean[i] == pytest.approx(weights @ f[others])
        assert variance[i] == pytest.approx(1.0 - weights @ cross, abs=1e-9)
