"""Charts: what is drawn stands where the axes say."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.reporting.svg import MOST_POINTS, Chart, log_ticks, number, rows_chart, text, ticks


def parsed(chart):
    return ElementTree.fromstring(chart)


def labels(svg, of):
    """Positions and values of the numbers along an axis: ``mid`` below it, ``end`` at its left."""
    marks = [mark for mark in svg.iter("text") if mark.get("class") == of and mark.get("x")]
    along = "x" if of == "mid" else "y"
    found = [(float(mark.get(along)), mark.text) for mark in marks]
    return [(at, float(words)) for at, words in found if re.fullmatch(r"-?[\d.e+-]+", words)]


def axis(svg, of):
    """The value at a position, from two of the axis' own numbers."""
    (a, low), *_, (b, high) = labels(svg, of)
    return lambda at: low + (at - a) * (high - low) / (b - a)


def test_lines_and_points_stand_at_their_values():
    x, y = np.array([0.0, 2.0, 5.0]), np.array([-1.0, 3.0, np.nan])
    svg = parsed(Chart("a < b", "x").line(x, y).points(x, y).rule(4.0).render())
    across, down = axis(svg, "mid"), axis(svg, "end")
    (line,) = svg.iter("polyline")
    drawn = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert len(drawn) == 2  # what is not a number is left out
    for (at, height), one, value in zip(drawn, x, y, strict=False):
        assert across(at) == pytest.approx(one, abs=0.05)
        assert down(height + 4.0) == pytest.approx(value, abs=0.1)  # numbers stand 4 below
    (rule,) = [mark for mark in svg.iter("line") if mark.get("stroke-dasharray")]
    assert across(float(rule.get("x1"))) == pytest.approx(4.0, abs=0.05)
    assert next(svg.iter("figcaption")).text == "a < b"


def test_a_logarithmic_axis_has_powers_of_ten_at_equal_distances():
    x = np.array([1e-6, 1e-3, 1.0])
    svg = parsed(Chart("t", "x", log_x=True).line(x, x).rule(0.01).render())
    at, values = np.array(labels(svg, "mid")).T
    np.testing.assert_allclose(np.log10(values), np.arange(-6, 1), atol=1e-9)
    np.testing.assert_allclose(np.diff(at), at[1] - at[0], atol=0.11)
    (rule,) = [mark for mark in svg.iter("line") if mark.get("stroke-dasharray")]
    assert float(rule.get("x1")) == at[4]


@given(st.floats(-300, 290), st.floats(1e-3, 10))
def test_a_logarithmic_axis_always_has_a_few_round_numbers(low, span):
    found = log_ticks(low, low + span)
    assert 1 < len(found) <= 7
    assert np.all(np.diff(found) > 0)
    assert low - 1e-9 <= found[0] <= found[-1] <= low + span + 1e-9


def test_long_lines_are_thinned_and_keep_their_ends():
    x = np.arange(10.0 * MOST_POINTS)
    (line,) = parsed(Chart("t", "x").line(x, x).render()).iter("polyline")
    drawn = [float(pair.split(",")[0]) for pair in line.get("points").split()]
    assert len(drawn) == MOST_POINTS
    assert np.all(np.diff(drawn) >= 0)
    assert drawn[-1] - drawn[0] == pytest.approx(284.0 / 1.08, rel=0.01)


def test_rows_have_names_and_intervals():
    names, values = ["<first>", "x" * 60], [1.0, 2.0]
    chart = rows_chart("t", "value", names, values, [0.0, 1.0], [2.0, 3.0], strong=1)
    svg = parsed(chart)
    across = axis(svg, "mid")
    for circle, value in zip(svg.iter("circle"), values, strict=True):
        assert across(float(circle.get("cx"))) == pytest.approx(value, abs=0.02)
    shown = [mark.text for mark in svg.iter("text") if mark.get("x") == "10"]
    assert shown == ["<first>", "x" * 22 + "…" + "x" * 21]
    bold = [mark.text for mark in svg.iter("text") if mark.get("font-weight")]
    assert bold == shown[1:]


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e9))
def test_ticks_are_few_round_and_inside(start, span):
    low, high = start * span, (start + 1.0) * span
    found = ticks(low, high)
    room = 1e-6 * span + 1e-9 * abs(low)
    assert len(found) - 1 <= 6  # steps
    assert all(low - room <= one <= high + room for one in found)
    if len(found) > 1:
        step = found[1] - found[0]
        digits = step / 10.0 ** math.floor(math.log10(step * (1 + 1e-3)))
        assert min(abs(digits - one) for one in (1, 2, 2.5, 5, 10)) < 1e-2


def test_words_and_numbers_for_people():
    assert text("<b>&\x00") == "&lt;b&gt;&amp;\ufffd"
    assert [number(one) for one in (1.234567, math.nan, None, 3)] == ["1.2346", "", "", "3"]
    assert ticks(2.0, 2.0) == [2.0]
