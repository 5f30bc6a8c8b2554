"""The kernel of categories."""

import numpy as np
import pytest

import noregret as nr
from noregret.kernels.spec import from_spec, to_spec

X = np.array([[0.1, 0, 1, 2], [0.5, 2, 1, 0], [0.9, 0, 0, 2], [0.5, 1, 1, 1]], dtype=float)


def test_a_column_that_differs_costs_its_weight():
    kernel = nr.Hamming([0.5, 2.0, 1.0])
    expected = [[np.exp(-0.5 - 1.0), np.exp(-2.0)]]
    np.testing.assert_allclose(kernel(X[:1, 1:], X[1:3, 1:]), expected)
    np.testing.assert_allclose(nr.Hamming(0.7)(X[:1, 1:], X[1:2, 1:]), [[np.exp(-1.4)]])
    np.testing.assert_array_equal(kernel.diag(X[:, 1:]), np.diag(kernel(X[:, 1:], X[:, 1:])))


def test_kernels_of_categories_are_stored():
    kernel = nr.Columns(nr.RBF(0.3), [0]) * nr.Columns(nr.Hamming([0.4, 0.9]), [1, 2])
    again = from_spec(to_spec(kernel, {}), {})
    np.testing.assert_array_equal(again(X, X), kernel(X, X))


def test_a_fit_finds_which_category_matters():
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(size=60), rng.integers(3, size=(60, 2))])
    y = np.sin(3 * points[:, 0]) + 2.0 * (points[:, 1] == 1) + 0.1 * rng.standard_normal(60)
    kernel = nr.Columns(nr.Matern([0.3]), [0]) * nr.Columns(nr.Hamming([0.5, 0.5]), [1, 2])
    fit = nr.fit_kernel(kernel, points, y - y.mean())
    matters, does_not = fit.kernel.right.kernel.weight
    assert matters > 5 * does_not
    assert fit.noise == pytest.approx(0.1, abs=0.05)


@pytest.mark.parametrize("weight", [0.0, -1.0, [1.0, np.nan], [[1.0]]])
def test_bad_weights_are_refused(weight):
    with pytest.raises(ValueError, match="weight"):
        nr.Hamming(weight)


def test_points_of_another_length_are_refused():
    with pytest.raises(ValueError, match="3 entries but points have 4"):
        nr.Hamming([1.0, 1.0, 1.0])(X, X)
