"""Parameters without an order: positions of values, and values that are written as texts."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr

VALUES = st.lists(
    st.one_of(st.text(max_size=4), st.integers(-3, 3), st.booleans(), st.none()),
    min_size=1,
    max_size=6,
    unique_by=lambda value: value,
)


@given(VALUES, st.data())
def test_entries_are_positions(values, data):
    parameter = nr.Choice(values)
    positions = np.arange(float(len(values)))
    assert parameter.ends == (0.0, len(values) - 1.0)
    assert parameter.decode(positions) == values
    assert [parameter.encode(value) for value in values] == positions.tolist()
    np.testing.assert_array_equal(parameter.entries(*parameter.ends), positions)
    assert parameter.how_many(*parameter.ends) == len(values)
    at = data.draw(st.sampled_from(positions.tolist()))
    others = parameter.neighbours(at, *parameter.ends)
    np.testing.assert_array_equal(others, positions[positions != at])
    # Every position has the same share of uniform draws.
    drawn = parameter.place((np.arange(600) + 0.5) / 600, *parameter.ends)
    counts = np.bincount(drawn.astype(int), minlength=len(values))
    np.testing.assert_allclose(counts, 600 / len(values), atol=1.01)


@given(st.lists(st.text(max_size=4), min_size=1, max_size=6, unique=True))
def test_texts_are_read_as_they_are_written(values):
    parameter = nr.Choice(values)
    assert [parameter.parse(value) for value in values] == values


def test_other_values_are_read_as_people_and_programs_write_them():
    parameter = nr.Choice(["a", 3, 0.5, True, None, "007"])
    for value in parameter.values:
        assert parameter.parse(str(value)) == value
        assert parameter.parse(json.dumps(value)) == value
    assert parameter.parse("3.0") == 3
    assert parameter.parse("b") == "b"  # encode refuses it
    with pytest.raises((TypeError, ValueError), match="'b'"):
        parameter.encode("b")
    words = ["true", "Yes", "1", "false", "no", "0"]
    assert [nr.Bool().parse(word) for word in words] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("choices", ["abc", [], ["a", "a"], [1, True], [float("nan")], [[1]], 3])
def test_what_is_no_list_of_plain_values_is_refused(choices):
    with pytest.raises((TypeError, ValueError), match="choices must be"):
        nr.Choice(choices)
