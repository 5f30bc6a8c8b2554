"""Multiples, sums and products of kernels, entry by entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr

PARTS = [nr.RBF([0.5, 1.0, 2.0], variance=3.0), nr.Matern(0.7), nr.Linear(offset=0.5)]
parts, factors = st.sampled_from(PARTS), st.floats(0.01, 100)


@given(parts, parts, parts, factors)
def test_values_are_those_of_the_parts(one, two, three, factor):
    rng = np.random.default_rng(0)
    X, Y, composed = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), one + factor * two * three
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            each = [float(kernel(x[None], y[None])[0, 0]) for kernel in (one, two, three)]
            expected = each[0] + factor * each[1] * each[2]
            assert composed(X, Y)[i, j] == pytest.approx(expected, rel=1e-12)
    each = [kernel.diag(X) for kernel in (one, two, three)]
    np.testing.assert_allclose(composed.diag(X), each[0] + factor * each[1] * each[2], rtol=1e-12)


def test_packed_bits_are_taken_if_all_parts_take_them():
    bits, numbers = nr.Tanimoto(), nr.RBF()
    for kernel in (2.0 * bits, bits + bits, bits * bits):
        assert kernel.takes_bits
    for kernel in (2.0 * numbers, bits + numbers, numbers + bits, bits * numbers, numbers * bits):
        assert not kernel.takes_bits


@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, np.inf])
def test_multiples_that_are_no_kernels_are_refused(factor):
    with pytest.raises(ValueError, match="variance"):
        factor * nr.RBF()


def test_kernels_that_are_the_same_on_the_whole_diagonal_say_so():
    X = np.random.default_rng(0).normal(size=(4, 3))
    for kernel in (nr.RBF(0.7, variance=3.0), 0.5 * nr.Matern(0.7) + nr.RBF(2.0) * nr.RBF(1.0)):
        assert kernel.constant is not None
        np.testing.assert_array_equal(kernel.diag(X), kernel.constant)
    for kernel in (nr.Linear(), nr.RBF(0.7) + nr.Linear(), nr.Linear() * nr.RBF(0.7)):
        assert kernel.constant is None
