"""The level that k values are expected to exceed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from noregret.picking.lists.plates import level_exceeded

numbers = st.floats(-5.0, 5.0)


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(st.tuples(numbers, st.floats(0.01, 3.0), st.integers(1, 9)), min_size=2),
    share=st.floats(0.05, 0.95),
)
def test_so_many_are_expected_above_the_level(values, share):
    means, deviations, weights = np.array(values, dtype=float).T
    count = share * weights.sum()
    level = level_exceeded(means, deviations, weights, count)
    assert np.isclose(weights @ ndtr((means - level) / deviations), count, rtol=1e-6)


def test_values_without_doubt_are_counted():
    level = level_exceeded(np.array([3.0, 2.0, 1.0]), np.zeros(3), np.ones(3), 1)
    assert 2.0 <= level < 3.0


def test_where_there_are_too_few_all_exceed_the_level():
    means = np.array([1.0, 2.0])
    assert level_exceeded(means, np.ones(2), np.ones(2), 5) < means.min()
