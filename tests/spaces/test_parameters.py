"""The laws that parameters of every kind keep."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.spaces.description import parameter_of
from noregret.spaces.parameters import Parameter

PARAMETERS = [
    nr.Float(-2.0, 3.0),
    nr.Float(1e-4, 10.0, log=True),
    nr.Float(0.5, 0.5),
    nr.Int(-4, 11, step=3),
    nr.Int(1, 1000, log=True),
    nr.Int(7, 7),
    nr.Choice(["a", 3, 0.5, True, None]),
    nr.Choice(["only"]),
    nr.Bool(),
]
every = pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)


def drawn(parameter, units):
    """Entries between the ends for numbers from 0 to 1."""
    return parameter.place(np.array(units), *parameter.ends)


units = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=5)


@every
@given(units)
def test_entries_are_values_and_values_are_entries(parameter, units):
    entries = drawn(parameter, units)
    low, high = parameter.ends
    assert np.all((entries >= low) & (entries <= high))
    np.testing.assert_array_equal(parameter.snap(entries), entries)
    values = parameter.decode(entries)
    assert [parameter.encode(value) for value in values] == entries.tolist()
    for value in values:
        assert parameter.encode(parameter.parse(str(value))) == parameter.encode(value)
        assert json.loads(json.dumps(value)) == value


@every
@given(st.floats(-1, 2))
def test_the_nearest_entry_is_snapped_to(parameter, part):
    low, high = parameter.ends
    where = low + part * (high - low)
    (found,) = parameter.snap(np.array([where]))
    assert low <= found <= high
    if parameter.is_number:
        nearest = min(max(where, low), high)
        assert found == pytest.approx(nearest, abs=1e-11)
        return
    values = parameter.entries(low, high)
    apart = np.abs(np.exp(values) - np.exp(where)) if parameter.log else np.abs(values - where)
    assert apart[values.tolist().index(found)] == pytest.approx(apart.min())


@every
@given(units, st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_neighbours_and_draws_stay_between_two_entries(parameter, units, ends):
    low, high = np.sort(parameter.snap(np.interp(ends, [0, 1], parameter.ends)))
    assert parameter.inner_ends(low, high) == (low, high)
    for entry in parameter.place(np.array(units), low, high):
        near = parameter.neighbours(entry, low, high)
        assert low <= entry <= high
        assert np.all((near >= low) & (near <= high) & (near != entry))
    count = parameter.how_many(low, high)
    if not parameter.is_number:
        inside = parameter.entries(low, high)
        assert count == len(inside) == len(np.unique(inside))
        np.testing.assert_array_equal(parameter.snap(inside), inside)
    else:
        assert count == (np.inf if high > low else 1)


@every
def test_a_parameter_is_described_in_json(parameter):
    assert isinstance(parameter, Parameter)
    assert parameter_of(json.loads(json.dumps(parameter.spec()))) == parameter


@every
def test_nothing_lies_between_two_entries_that_follow_each_other(parameter):
    if parameter.is_number or parameter.ends[0] == parameter.ends[1]:
        return
    entries = parameter.entries(*parameter.ends)
    low, high = entries[0] + 0.3 * np.diff(entries)[0], entries[0] + 0.6 * np.diff(entries)[0]
    first, last = parameter.inner_ends(low, high)
    assert last < first
    assert parameter.how_many(first, last) == 0
