"""Parameters that are numbers: columns against a list of all values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr


@st.composite
def short_ints(draw):
    """A parameter with at most 40 values, and these."""
    log, step = draw(st.booleans()), draw(st.integers(1, 9))
    low = draw(st.integers(1 if log else -50, 50))
    values = np.arange(low, low + step * draw(st.integers(0, 39)) + 1, step)
    return nr.Int(low, int(values[-1]), log=log, step=step), values


@settings(max_examples=100, deadline=None)
@given(short_ints(), st.data())
def test_whole_numbers_between_two_are_those_of_the_list(drawn, data):
    parameter, values = drawn
    column = np.log(values) if parameter.log else values.astype(float)
    np.testing.assert_array_equal([parameter.encode(int(value)) for value in values], column)
    assert parameter.decode(column) == values.tolist()
    assert parameter.ends == (column[0], column[-1])
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(values) - 1)] * 2)))
    low, high = column[first], column[last]
    np.testing.assert_array_equal(parameter.entries(low, high), column[first : last + 1])
    assert parameter.how_many(low, high) == last - first + 1
    assert parameter.inner_ends(low, high) == (low, high)
    # Neighbours are 1, 2, 4, … values away.
    at = data.draw(st.integers(first, last))
    found = np.searchsorted(column, parameter.neighbours(column[at], low, high)) - at
    reach = max(at - first, last - at)
    wanted = [s * 2**k for k in range(8) for s in (-1, 1) if 2**k <= reach]
    assert sorted(found) == sorted(one for one in wanted if first <= at + one <= last)
    # Every value has the same share of uniform draws, or that of its steps' logarithms.
    drawn = parameter.place((np.arange(4000) + 0.5) / 4000, low, high)
    shares = np.array([np.mean(drawn == one) for one in column[first : last + 1]])
    inside = values[first : last + 1].astype(float)
    edges = np.append(inside - 0.5 * parameter.step, inside[-1] + 0.5 * parameter.step)
    if parameter.log:
        edges[0] = max(edges[0], inside[0] / 3.0)
        edges = np.log(edges)
    np.testing.assert_allclose(shares, np.diff(edges) / (edges[-1] - edges[0]), atol=6e-4)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-9, 1e3), st.floats(1.0, 1e6), st.booleans(), st.floats(0, 1))
def test_real_numbers_stay_between_their_ends(low, ratio, log, unit):
    parameter = nr.Float(low, low * ratio, log=log)
    ends = parameter.ends
    entry = parameter.place(np.array([unit]), *ends)
    (value,) = parameter.decode(entry)
    assert parameter.low <= value <= parameter.high
    assert parameter.encode(value) == entry[0]
    exact = low * ratio**unit if log else low + (low * ratio - low) * unit
    assert value == pytest.approx(exact, rel=1e-11)
    near = parameter.neighbours(entry[0], *ends)
    assert np.all((near >= ends[0]) & (near <= ends[1]) & (near != entry[0]))
    assert len(near) <= 8
    assert parameter.how_many(*ends) == (math.inf if ends[1] > ends[0] else 1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nr.Float(1, 0), "low must be at most high"),
        (lambda: nr.Float(0, 1, log=True), "low must be above 0"),
        (lambda: nr.Float(0, 1, log=1), "log must be True or False"),
        (lambda: nr.Int(0, 10, step=3), "step must divide high"),
        (lambda: nr.Int(0, 1.5), "high must be a whole number"),
        (lambda: nr.Int(0, 1 << 60), "at most"),
        (lambda: nr.Int(0, 10, step=2).encode(3), "in steps of 2, got 3"),
        (lambda: nr.Float(0, 1).encode(1.1), r"must lie in \[0.0, 1.0\], got 1.1"),
        (lambda: nr.Int(0, 3).parse("1.5"), "must be a whole number"),
    ],
)
def test_what_is_no_range_or_lies_outside_is_refused(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()
