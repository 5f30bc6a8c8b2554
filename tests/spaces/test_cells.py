import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.spaces.cells import (
    advice,
    booleans,
    decimal_sign,
    is_gap,
    likely_number,
    nearest,
    numbers,
    verbatim_numbers,
    with_unit,
)


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("51.2", ".", 51.2),
        (" 51.2 % ", ".", 51.2),
        ("1e-3", ".", 1e-3),
        ("−4", ".", -4.0),
        ("1,234.5", ".", 1234.5),
        ("1,5", ".", None),
        ("51,2", ",", 51.2),
        ("1.234,5", ",", 1234.5),
        ("1 234,5", ",", 1234.5),
        ("1.5", ",", None),
        ("1.234", ",", 1234.0),
        ("0.123", ",", None),
        ("0,123", ".", None),
        ("inf", ".", None),
        ("0x10", ".", None),
        ("", ".", None),
    ],
)
def test_numbers_as_people_write_them(text, decimal, value):
    assert numbers(pl.Series([text, "x"]), decimal).to_list() == [value, None]


@pytest.mark.parametrize("text", ["", " ", "NA", "#N/A", "n/a", "-", "NaN", "null", None])
def test_words_for_a_missing_value_are_gaps(text):
    assert is_gap(pl.Series([text, "0"], dtype=pl.String)).to_list() == [True, False]
    assert numbers(pl.Series([text, "1"], dtype=pl.String)).to_list() == [None, 1.0]


def test_sodium_is_no_gap():
    words = pl.Series(["Na", " Na", "NA", "na", "K", None])
    assert is_gap(words).to_list() == [False, False, True, True, False, True]
    space = nr.Candidates(pl.DataFrame({"ion": ["Na", "K", "Li"] * 4, "x": np.arange(12.0)}))
    assert {row["ion"] for row in space.labels(*space.locate_all())} == {"Na", "K", "Li"}


def test_missing_numbers_are_gaps():
    assert is_gap(pl.Series([1.0, None, float("nan")])).to_list() == [False, True, True]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(value):
    assert numbers(pl.Series([repr(value)])).to_list() == [value]
    text = repr(value)
    if "e" not in text:
        assert numbers(pl.Series([text.replace(".", ",")]), ",").to_list() == [value]


def test_yes_and_no():
    assert booleans(pl.Series(["Yes", "no", "TRUE", "5"])).to_list() == [1.0, 0.0, 1.0, None]


def test_the_nearest_spelling():
    assert nearest("cmp0O3", ["cmp004", "cmp003"]) == "; did you mean 'cmp003'?"
    assert nearest("cmpx03", ["cmp003", "cmp104"]) == "; did you mean 'cmp003' or 'cmp104'?"
    assert nearest("LogP ", ["logP", "a"]) == "; did you mean 'logP'?"
    assert nearest("zzz", ["abc"]) == ""
    assert likely_number("2..3") == "2.3"
    assert likely_number("1O") == "10"
    assert likely_number("lots") is None
    assert likely_number("O,5", ",") == "0,5"
    assert "a limit: write 0,5" in advice("<0,5", ",")


@pytest.mark.parametrize(
    ("text", "decimal", "meant"),
    [
        ("12 ml", ".", "12"),
        ("5 mmol", ".", "5"),
        ("5l", ".", "5"),
        ("1,5 mg", ".", "1.5"),
        ("20 °C", ".", "20"),
        ("<0.5 mol/l", ",", "0,5"),
        ("<= 0.5", ".", "0.5"),
        ("−1.5", ",", "-1,5"),
        ("–1,5 g", ".", "-1.5"),
        ("'3,5", ".", "3.5"),
        ("l5.O", ".", None),
        ("l5", ".", "15"),
        ("1,234 mg", ".", None),
        ("7 (n=3)", ".", None),
        ("5x10^3", ".", None),
        ("1/2", ".", None),
        ("5-6", ".", None),
        ("3 or 4", ".", None),
        ("12±3", ".", None),
        ("5 mg?", ".", None),
        ("2024-05-01", ".", None),
        ("01.05.2024", ".", None),
        (".5.", ".", ".5"),
        ("H2O", ".", None),
    ],
)
def test_only_what_is_sure_is_offered(text, decimal, meant):
    assert likely_number(text, decimal) == meant
    if meant is None:
        assert advice(text, decimal) == ""


@pytest.mark.parametrize(
    ("cells", "grouping", "sign"),
    [
        (["51,2", "7", "48,1", "12.5"], True, ","),
        (["51.2", "7", "48.1", "12,5"], True, "."),
        (["1,234", "2,345"], True, None),
        (["1,234", "2,345"], False, ","),
        (["1,234", "0.5"], True, "."),
        (["1.234", "26.10.2024", "C1,5"], False, None),
        (["0.123", " 7.5 %"], False, "."),
        (["1,5E-06", "2,5e-05"], True, ","),
    ],
)
def test_most_numbers_say_what_the_decimal_sign_is(cells, grouping, sign):
    assert decimal_sign(cells, grouping=grouping) == sign


def test_numbers_with_a_unit():
    assert with_unit(pl.Series(["12 mg", "n/a", "1,5mg"])) == "12 mg"
    times = ["08:30", "09:30"]
    for cells in (["12 mg", "3 g"], ["12", "13"], ["A 1", "A 2"], ["n/a"], ["7%", "8%"], times):
        assert with_unit(pl.Series(cells)) is None


def test_numbers_only_where_they_read_the_same():
    assert verbatim_numbers(pl.Series(["7", "12"])).dtype == pl.Int64
    assert verbatim_numbers(pl.Series(["0.5", "2.0"])).dtype == pl.Float64
    for kept in (["007"], ["1.10"], ["1e3"], ["+1"], [""], ["true"], ["nan"], ["1", None]):
        assert verbatim_numbers(pl.Series(kept)).to_list() == kept
