"""Rows that name their columns."""

from collections import namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

from noregret.spaces.rows import named_rows

ROW = {"b": 0.9, "a": 0.1}
FRAME = pd.DataFrame([ROW])


@pytest.mark.parametrize(
    "given",
    [
        ROW,
        [ROW],
        FRAME,
        pl.DataFrame([ROW]),
        pl.LazyFrame([ROW]),
        FRAME.iloc[0],
        [FRAME.iloc[0]],
        namedtuple("Row", "b a")(0.9, 0.1),
        list(FRAME.itertuples(index=False)),
    ],
)
def test_named_rows_are_dicts(given):
    assert named_rows(given) == [ROW]


@pytest.mark.parametrize(
    "given",
    [[0.9, 0.1], [[0.9, 0.1]], np.array([0.9, 0.1]), pd.Series([0.9, 0.1]), pl.Series([0.9]), []],
)
def test_rows_of_numbers_have_no_names(given):
    assert named_rows(given) is None


def test_dicts_among_numbers_are_refused():
    with pytest.raises(TypeError, match=r"row 1 is 0\.3, and others are dicts"):
        named_rows([ROW, 0.3])
