"""Distances between points, exact and in strips."""

import numpy as np
import pytest

import noregret as nr
from noregret.kernels.distances import squared_distances


@pytest.mark.parametrize("dimension", [1, 3, 17, 200])
def test_squared_distances_are_exact_for_equal_rows_in_any_dimension(dimension):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, dimension)) + 1e3
    Y = np.vstack([X[:4], X[:4] + 1e-5])
    expected = ((X[:, None] - Y[None]) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distances(X, Y), expected, rtol=1e-6, atol=1e-12)
    assert np.all(squared_distances(X, Y)[range(4), range(4)] == 0)


@pytest.mark.parametrize(
    "kernel", [nr.RBF(0.4, 2.0), *(nr.Matern(0.4, nu) for nu in (0.5, 1.5, 2.5))]
)
def test_a_long_matrix_is_that_of_its_rows(kernel):
    """Long matrices are computed in strips, whichever side is the longer one."""
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(130, 3)), rng.uniform(size=(90, 3))
    for left, right in ((X, Y), (Y, X)):
        rows = np.concatenate([kernel(one[None], right) for one in left])
        np.testing.assert_allclose(kernel(left, right), rows, rtol=1e-14)
    squared = rng.uniform(size=(200, 200))
    every_second = squared[:, ::2].copy()
    np.testing.assert_array_equal(
        kernel.of_squared(squared[:, ::2]), kernel.of_squared(every_second)
    )
