"""Cholesky factors that survive round-off."""

import numpy as np
import pytest

import noregret as nr
from noregret.linalg.factors import lower_solve, pivoted_cholesky, row_norms, safe_cholesky

KERNEL = nr.RBF(0.4)


def test_pivoted_cholesky_drops_dependent_points():
    points = np.array([[0.0], [1.0], [0.0], [1.0], [2.0]])
    lower, kept = pivoted_cholesky(KERNEL(points, points), 1e-10)
    assert sorted(points[kept, 0]) == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(lower @ lower.T, KERNEL(points[kept], points[kept]))


@pytest.mark.parametrize(("value", "kept"), [(2.0, [0]), (1e-12, [])])
def test_pivoted_cholesky_of_one_point(value, kept):
    lower, found = pivoted_cholesky(np.array([[value]]), 1e-10)
    assert found.tolist() == kept
    np.testing.assert_allclose(lower @ lower.T, np.full((len(kept), len(kept)), value))


def test_safe_cholesky_needs_jitter_only_where_round_off_asks_for_it():
    well = np.array([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(safe_cholesky(well) @ safe_cholesky(well).T, well, rtol=1e-15)
    singular = np.ones((5, 5))
    np.testing.assert_allclose(safe_cholesky(singular) @ safe_cholesky(singular).T, 1.0, atol=1e-6)


def test_solves_and_norms():
    lower = np.array([[2.0, 0.0], [1.0, 3.0]])
    right = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(lower @ lower_solve(lower, right), right)
    np.testing.assert_allclose(lower.T @ lower_solve(lower, right, transposed=True), right)
    assert lower_solve(np.empty((0, 0)), np.empty((0, 3))).shape == (0, 3)
    room = np.full((5, 5), 7.0)  # what lies beyond the two columns and rows means nothing
    room[:2, :2] = lower.T
    for transposed in (False, True):
        expected = lower_solve(lower, right, transposed=transposed)
        found = lower_solve(room[:2].T, right, transposed=transposed)
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_allclose(row_norms(right), [5.0, 25.0])
