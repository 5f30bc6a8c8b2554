"""Leaving out one arm, and what other settings gain."""

import numpy as np
import pytest
from planted import drawn

import noregret as nr
from noregret.reporting.likelihoods import Arms, gains, leave_one_out


def test_leaving_out_an_arm_is_a_fit_without_it():
    X, f, rng = drawn(0, 12)
    counts = rng.integers(1, 4, size=12)
    kernel, lam = nr.RBF(0.3), 0.04
    mean, variance = leave_one_out(kernel, lam, Arms(X, counts, f, 0.0))
    for i in range(12):
        others = np.arange(12) != i
        gram = kernel(X[others], X[others]) + np.diag(lam / counts[others])
        weights = np.linalg.solve(gram, kernel(X[others], X[i : i + 1]))[:, 0]
        assert mean[i] == pytest.approx(weights @ f[others])
        cross = kernel(X[others], X[i : i + 1])[:, 0]
        assert variance[i] == pytest.approx(1.0 - weights @ cross, abs=1e-9)


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
