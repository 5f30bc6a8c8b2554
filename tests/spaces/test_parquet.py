"""Parquet tables are read by the rules of CSV, whatever types their columns have."""

import datetime as dt

import polars as pl
import pytest

from noregret.spaces.tables import Table

DAYS = [dt.date(2024, 5, 1), dt.date(2024, 5, 2)]
TIMES = [dt.datetime(2024, 5, 1, 8, 30), dt.datetime(2024, 5, 1, 8, 30, 0, 500_000)]
LENGTHS = [dt.timedelta(minutes=2), None]
BERLIN = pl.Datetime("ns", "Europe/Berlin")


@pytest.mark.parametrize(
    ("column", "read"),
    [
        (pl.Series(DAYS), ["2024-05-01", "2024-05-02"]),
        (pl.Series(TIMES), ["2024-05-01 08:30:00", "2024-05-01 08:30:00.500000"]),
        (pl.Series(TIMES[:1] * 2).cast(BERLIN), ["2024-05-01 10:30:00"] * 2),
        (pl.Series([dt.time(8, 30), None]), ["08:30:00", None]),
        (pl.Series(LENGTHS), [120.0, None]),
        (pl.Series(["u", "v"], dtype=pl.Categorical), ["u", "v"]),
        (pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])), ["u", "v"]),
        (pl.Series([True, None]), [True, None]),
        (pl.Series([1, 2], dtype=pl.UInt8), [1, 2]),
    ],
    ids=lambda given: str(getattr(given, "dtype", "")),
)
def test_columns_are_numbers_yes_and_no_or_text(tmp_path, column, read):
    """A date must not become a number: a program would use it without a word."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [0.5, 1.5], "y": column}).write_parquet(path)
    table = Table(path)
    frame = table.read().frame
    assert frame["y"].to_list() == read
    assert dict(frame.schema) == table.types


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ([[1, 2], [3]], "lists"),
        (pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), "lists"),
        ([{"a": 1}, {"a": 2}], "records"),
        ([b"ab", b"c"], "bytes"),
    ],
)
def test_what_is_no_cell_is_left_out_with_a_note(tmp_path, column, what):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [0.5, 1.5], "y": column}).write_parquet(path)
    table = Table(path)
    assert table.columns == table.read().frame.columns == ["x"]
    assert table.notes == [f"Column 'y' holds {what} and is left out."]


def test_seconds_are_noted(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": LENGTHS}).write_parquet(path)
    assert Table(path).notes == ["Column 'x' holds durations: here they are seconds."]
