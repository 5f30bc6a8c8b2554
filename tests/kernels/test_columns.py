"""Kernels of some of the columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr

SOME = np.random.default_rng(0).uniform(size=(7, 4))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True))
def test_they_see_these_columns_in_this_order(columns):
    own = nr.RBF(np.arange(1.0, 1.0 + len(columns)), variance=2.0) + nr.Linear(offset=0.5)
    kernel, X, Y = nr.Columns(own, columns), SOME[:3], SOME[3:]
    np.testing.assert_array_equal(kernel(X, Y), own(X[:, columns], Y[:, columns]))
    np.testing.assert_array_equal(kernel.diag(X), own.diag(X[:, columns]))


@pytest.mark.parametrize("own", [nr.RBF(0.3, variance=2.0), nr.Linear()])
def test_they_are_constant_where_the_kernel_is(own):
    assert nr.Columns(own, [1]).constant == own.constant


@pytest.mark.parametrize("X", [SOME, SOME[:, :3], SOME[0]])
def test_columns_that_the_points_lack_are_refused(X):
    kernel = nr.Columns(nr.RBF(1.0), [0, 4])
    with pytest.raises(ValueError, match=r"columns are up to 4, but points have shape"):
        kernel.diag(X)


def test_only_kernels_have_columns():
    with pytest.raises(TypeError, match="kernel must be a kernel, got 'rbf'"):
        nr.Columns("rbf", [0])


@pytest.mark.parametrize("columns", [[], [0, 0], [-1], [0.5], 3])
def test_bad_columns_are_refused(columns):
    with pytest.raises(ValueError, match="columns"):
        nr.Columns(nr.RBF(1.0), columns)
