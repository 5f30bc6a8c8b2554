"""Columns that span decades, and those that do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noregret.spaces.decades import log_floor

rng = np.random.default_rng(0)

DECADES = {
    "four decades": 10.0 ** rng.uniform(-4, 0, 300),
    "a dilution series": np.repeat(10.0 ** np.arange(-6, 1), 10),
    "a series with controls": np.repeat([0.0, *10.0 ** np.arange(-6, 1)], 10),
    "a long tail": np.exp(1.5 * rng.normal(size=300)),
    "counts": rng.negative_binomial(0.4, 0.01, 300).astype(float),
}
PLAIN = {
    "uniform": rng.uniform(size=300),
    "normal": rng.normal(50.0, 10.0, size=300),
    "below zero": np.append(10.0 ** rng.uniform(-4, 0, 300), -1e-9),
    "one tail": rng.gamma(3.0, size=300),
    "small counts": rng.poisson(1.0, 300).astype(float),
    "flags": np.arange(300) % 50 == 0,
    "grid": np.arange(1.0, 101.0),
    "constant": np.full(9, 1e-6),
    "zeros": np.zeros(9),
}


@pytest.mark.parametrize("name", DECADES)
def test_decades_are_found(name):
    values = DECADES[name]
    assert log_floor(values) == pytest.approx(0.5 * values[values > 0].min())


@pytest.mark.parametrize("name", PLAIN)
def test_other_columns_are_left_alone(name):
    assert log_floor(PLAIN[name].astype(float)) is None


@given(st.floats(-90, 90), st.sampled_from(sorted(DECADES) + sorted(PLAIN)), st.integers(0, 99))
def test_units_and_order_do_not_matter(exponent, name, seed):
    values = (DECADES | PLAIN)[name].astype(float)
    unit = 2.0 ** np.round(exponent)
    shuffled = np.random.default_rng(seed).permutation(values)
    floor, other = log_floor(values), log_floor(shuffled * unit)
    assert (floor is None) == (other is None)
    if floor is not None:
        assert other == pytest.approx(floor * unit)


@pytest.mark.parametrize(("deviation", "found"), [(0.5, False), (0.7, False), (0.9, True)])
def test_the_logarithms_must_be_far_more_likely(deviation, found):
    """The fitted normal densities of values and of logarithms, by SciPy."""
    values = np.exp(deviation * stats.norm.ppf((np.arange(2000) + 0.5) / 2000))
    plain = stats.norm(values.mean(), values.std()).logpdf(values).mean()
    logs = np.log(values)
    with_logs = (stats.norm(logs.mean(), logs.std()).logpdf(logs) - logs).mean()
    assert (with_logs - plain > np.log(1.5)) == found
    assert (log_floor(values) is not None) == found
