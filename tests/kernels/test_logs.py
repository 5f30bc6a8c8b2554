"""Kernels of columns and of the logarithms of some of them."""

import numpy as np
import pytest

import noregret as nr
from noregret.kernels import WithLogs
from noregret.kernels.logs import names_seen_by, seen_by

X = np.array([[1e-4, 2.0, 0.0], [1e-2, 3.0, 5.0], [0.0, 1.0, -1.0]])


def test_the_kernel_inside_sees_columns_and_logarithms():
    inner = nr.Matern([1.0, 2.0, 3.0, 0.5, 0.7])
    kernel = WithLogs(inner, [1, 0], [0.5, 1e-5])
    both = np.column_stack([X, np.log(X[:, 1]), np.log([1e-4, 1e-2, 1e-5])])
    np.testing.assert_array_equal(kernel.of(X), both)
    np.testing.assert_array_equal(kernel(X, X[:2]), inner(both, both[:2]))
    np.testing.assert_array_equal(kernel.diag(X), inner.diag(both))
    assert kernel.constant == inner.constant
    np.testing.assert_array_equal(seen_by(kernel, X), both)
    assert names_seen_by(kernel, "abc") == ["a", "b", "c", "log b", "log a"]
    assert seen_by(inner, X) is X
    assert names_seen_by(inner, "abc") == ["a", "b", "c"]


def test_values_below_the_floor_are_alike():
    kernel = WithLogs(nr.RBF([1e9, 1.0]), [0], [0.01])
    x = np.array([[0.0], [-3.0], [0.01], [0.1]])
    np.testing.assert_allclose(kernel(x, x[:3]), kernel(x[2:3], x).T @ np.ones((1, 3)))
    assert kernel.gradient(x[1:2], x) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("floors", [[0.1], [0.1, 0.0], [0.1, -1.0], [0.1, float("nan")]])
def test_floors_that_have_no_logarithm_are_refused(floors):
    with pytest.raises(ValueError, match="floors"):
        WithLogs(nr.RBF(1.0), [0, 1], floors)
