"""Checks of arguments: what is taken, and that errors say name, what was given, what is allowed."""

import numpy as np
import pytest

from noregret import _checks


@pytest.mark.parametrize(
    ("check", "taken", "refused"),
    [
        (_checks.positive, [1, 0.5, np.float32(2)], [0, -1.0, True, "1", np.inf, 1e300, None]),
        (_checks.not_negative, [0, 2.5], [-1e-9, np.nan, 1e300, False]),
        (_checks.at_least_one, [1, 1.5], [0.99, 10**400]),
        (_checks.probability, [0.5, 1e-9], [0, 1, -0.1, True, "half"]),
        (_checks.finite, [-3, 0, 1e100], [np.nan, -np.inf, 10**400, "x"]),
        (_checks.count, [1, np.int64(7)], [0, -2, 1.0, True, 1 << 70]),
    ],
)
def test_numbers(check, taken, refused):
    for value in taken:
        assert check("size", value) == value
    for value in refused:
        with pytest.raises((TypeError, ValueError), match=r"^size must .*got "):
            check("size", value)


def test_rows_of_numbers():
    found = _checks.rows_of_numbers([1, 2], 2)
    np.testing.assert_array_equal(found, [[1.0, 2.0]])
    assert _checks.rows_of_numbers(np.empty((0, 3)), 3).shape == (0, 3)
    for points, words in (([[1, 2, 3]], "shape"), ([["a", "b"]], "rows of 2"), ([[1, np.inf]], "")):
        with pytest.raises((TypeError, ValueError), match=f"points must be .*{words}"):
            _checks.rows_of_numbers(points, 2)


def test_ids_are_rows_of_a_list():
    for value in ([0, 2], np.array([1.0]), 2, (), np.uint8([1])):
        found = _checks.ids(value, 3)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, np.atleast_1d(value))
    for value, words in (
        ([3], "got 3"),
        ([-1], "got -1"),
        ([0.5], "whole"),
        ([[1]], "shape"),
        ({"a": 1}, "rows.*, got {'a': 1}"),
        ([True], "got .True"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"ids must .*{words}"):
            _checks.ids(value, 3)


def test_rewards_are_one_per_point():
    np.testing.assert_array_equal(_checks.rewards([[1], [2]], 2), [1.0, 2.0])
    for value, words in (
        ([1.0], r"2 numbers \(one per point\), got shape \(1,\)"),
        ([1.0, np.nan], "finite, got nan at position 1"),
        ([1.0, -1e300], "give them in another unit"),
        (["a", "b"], "must be numbers"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"values must be|within.*{words}"):
            _checks.rewards(value, 2, name="values")


def test_words():
    assert _checks.one_of("rule", "global", ("local", "global")) == "global"
    with pytest.raises(ValueError, match=r"rule must be one of 'local', 'global' or 3, got 'Lokal'"
                       r"; did you mean 'local'\?"):  # fmt: skip
        _checks.one_of("rule", "Lokal", ("local", "global"), also=" or 3")
    assert _checks.did_you_mean("quite other", ("local",)) == ""
    _checks.word_or_number("noise", "auto", ("auto",))
    with pytest.raises(TypeError, match="noise must be a number or 'auto', got 'loud'"):
        _checks.word_or_number("noise", "loud", ("auto",))


def test_functions_of_one_point():
    _checks.function_of_one("f", len)
    _checks.function_of_one("f", lambda x, scale=2.0: x)

    async def later(x):
        return x

    for f in (3, lambda: 0, lambda x, y: 0, later):
        with pytest.raises(TypeError, match="f must"):
            _checks.function_of_one("f", f)


def test_long_lists_are_cut_in_words():
    assert _checks.first_few([2, 3], 3) == "2, 3"
    assert _checks.first_few(range(1, 1504), 2) == "1, 2 and 1,501 more"
    assert _checks.first_few(["a", "b"], 1, ";") == "a; and 1 more"
    assert _checks.first_few([], 3) == ""
