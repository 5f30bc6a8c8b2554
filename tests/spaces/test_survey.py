"""What is in the columns of a table."""

import numpy as np
import polars as pl
import pytest

from noregret.spaces.survey import survey
from noregret.spaces.tables import Piece


def look(values, pieces=1):
    frame = pl.DataFrame({"x": values})
    cut = np.array_split(np.arange(len(frame)), pieces)
    parts = [Piece(frame[rows.tolist()], rows) for rows in cut]
    return parts, survey(parts, ["x"])["x"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "NA", ""], "number"),
        (["51.2%", "3 %"], "number"),
        (["51.2%", "3"], "odd"),
        (["1", "2", "3", "lots"], "odd"),
        (["yes", "no", "-"], "boolean"),
        ([True, False], "boolean"),
        (["1", "0"], "number"),
        (["a", "b", "a"], "category"),
        ([f"a{i}" for i in range(101)], "text"),
        (["", "NA"], "empty"),
        ([1.0, np.inf], "odd"),
    ],
)
def test_the_kind_of_a_column_does_not_depend_on_the_pieces(values, kind):
    for pieces in (1, 2):
        assert look(values, pieces)[1].kind == kind


def test_mean_and_deviation_do_not_depend_on_the_pieces():
    values = np.random.default_rng(0).normal(1e6, 1, size=100)
    for pieces in (1, 3, 100):
        _, column = look(values, pieces)
        assert column.mean == pytest.approx(values.mean(), rel=1e-14)
        assert column.deviation == pytest.approx(values.std(), rel=1e-9)


def test_columns_whose_values_all_differ_are_recognised():
    assert look(["a", "b"])[1].all_different
    assert look([1, 2, 3], 3)[1].all_different
    assert not look([1, 2, 1], 3)[1].all_different
    assert not look([1.0, 2.0])[1].all_different


def test_words_have_no_spaces_at_their_ends():
    column = look(["water", "water ", " thf"])[1]
    assert column.words == {"water", "thf"}
    assert not column.all_different


def test_huge_numbers_overflow_without_an_error():
    """Numbers of any size are looked at; those too large for a list are refused later, by row."""
    for pieces in (1, 2):
        _, column = look([1.0, 1e200], pieces)
        assert (column.kind, column.high) == ("number", 1e200)
