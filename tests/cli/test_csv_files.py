"""The text of CSV files, read back as a spreadsheet and a program read it."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.cli.csv_files import Style, mark, write_csv

cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)
starts = st.sampled_from(["", "=", "+", "-", "-1.5e", "@", "'=", "''-", "\t"])
texts = st.builds(str.__add__, starts, cells)


@given(texts)
def test_no_text_is_run_by_a_spreadsheet(text):
    """It runs a cell that begins with one of = + - @; an apostrophe before it says: text."""
    written = mark(text)
    assert written in (text, "'" + text)
    assert not written.startswith(("=", "@", "\t"))
    if written.startswith(("+", "-")):  # only numbers may
        assert written.strip("+-0123456789.,eE% ") == ""
    if written == text:  # an apostrophe that is taken away later is not the text's own
        assert not text.startswith("'") or text.lstrip("'")[:1] not in ("=", "+", "-", "@", "\t")


@pytest.mark.parametrize("number", ["-1.5", "+3", "-1,5", "-.5", "+1e-5", "-5 %"])
def test_numbers_stay_numbers(number):
    assert mark(number) == number


@given(
    st.lists(st.tuples(texts, st.integers(-99, 99), st.floats(-1e6, 1e6)), max_size=4),
    st.sampled_from([Style(), Style(";", ","), Style("\t", ".", marked=True)]),
)
def test_rows_are_read_as_they_were_written(rows, style):
    file = io.StringIO()
    write_csv(file, ["name", "=n", "value"], rows, style)
    text = file.getvalue()
    assert text.startswith("\ufeff") == style.marked
    lines = csv.reader(
        io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=style.separator
    )
    header, *found = lines
    assert header == ["name", "'=n", "value"]
    assert len(found) == len(rows)
    for (name, n, value), row in zip(rows, found, strict=True):
        assert row[0] == mark(name)
        assert int(row[1]) == n
        assert row[2] == repr(value).replace(".", style.decimal)
