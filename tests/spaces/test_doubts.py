"""What may have been meant otherwise in the columns of a frame or a file: a warning names it."""

import pandas as pd
import polars as pl
import pytest

import noregret as nr

ROWS = range(25)


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("c", [f"{i / 10:.1f}".replace(".", ",") for i in ROWS], "numbers such as '0,0', but the"),
        ("c", [f"{i},5 mg" for i in ROWS], "numbers with a unit, such as '0,5 mg'"),
        ("c", [f"{i}.5 mg" for i in ROWS], "numbers with a unit, such as '0.5 mg'"),
        ("c", [f"2026-01-{1 + i % 9:02d}" for i in ROWS], "dates, such as 2026-01-01"),
        ("c", [("Water", "water")[i % 2] for i in ROWS], "capitals only: 'Water' and 'water'"),
        ("c", [f"C-{i}" for i in ROWS], "25 different texts in 25 rows"),
        ("id", [7 * i for i in ROWS], "another number in every row"),
        ("Unnamed: 0", list(ROWS), "another number in every row"),
        ("column_1", list(ROWS), "another number in every row"),
    ],
)
def test_columns_that_may_have_been_meant_otherwise(name, cells, words, tmp_path):
    table = pl.DataFrame({"a": [i % 3 for i in ROWS], name: cells})
    table.write_parquet(tmp_path / "a.parquet")
    expected = f"candidates: '{name}' has .*{words}"
    for make in (
        lambda: nr.Candidates(table),
        lambda: nr.Candidates(pd.DataFrame(table.to_dict(as_series=False))),
        lambda: nr.Candidates.open(tmp_path / "a.parquet"),
    ):
        with pytest.warns(UserWarning, match=expected) as caught:
            made = make()
        assert [one.filename for one in caught] == [__file__]  # the line that made the list
    with pytest.warns(UserWarning, match=expected):
        opt = nr.GPUCB(table, nr.RBF(1.0), width=2.0, seed=0)
    opt.save(tmp_path / "run.npz")
    assert nr.load(tmp_path / "run.npz").domain.dimension == made.dimension


@pytest.mark.parametrize(
    "cells",
    [
        ["thf", "dmf", "water"] * 3,
        [f"C-{i}" for i in range(9)],  # a short table may have a row for each word
        ["5 mg or more", "3 g"] * 5,
        [f"{i}.5" for i in ROWS],
        [f"{i}%" for i in ROWS],
        [0.5 * i for i in ROWS],
    ],
)
def test_usual_columns_raise_no_doubts(cells):
    nr.Candidates(pl.DataFrame({"a": [i % 3 for i in range(len(cells))], "id of": cells}))


def test_numbers_with_decimal_commas_are_named_where_there_are_too_many_for_categories():
    cells = [f"{i},5" for i in range(150)]
    with pytest.raises(TypeError, match=r"these have more: c(.|\n)*'c' has numbers such as .* but"):
        nr.Candidates(pl.DataFrame({"c": cells}))


def test_the_index_that_pandas_writes_is_named(tmp_path):
    pd.DataFrame({"a": [0.5, 1.5, 0.5]}).to_csv(tmp_path / "a.csv")
    with pytest.warns(UserWarning, match="'column_1' has another number in every row"):
        nr.Candidates.open(tmp_path / "a.csv")
