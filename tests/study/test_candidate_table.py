"""Names and tables of candidates: checked when they are given, shown beside values."""

import polars as pl
import pytest
from studies import X, new

from noregret.study import StudyError
from noregret.study.candidate_table import beside, longer_table


def test_names_and_tables_are_checked(path):
    with pytest.raises(StudyError, match="names must be 60"):
        new(path, names=["a"])
    with pytest.raises(StudyError, match="all be different"):
        new(path, names=["a"] * 60)
    assert not path.exists()
    study = new(path, names=[f"c{i}" for i in range(60)])
    trials = study.ask(1)
    assert trials.names == (f"c{trials.ids[0]}",)
    assert study.trials()["name"].to_list() == list(trials.names)
    assert study.name_of(7, X[7]) == "c7"


def test_names_without_a_table(path):
    with new(path, names=[f"c{i}" for i in range(60)]) as study:
        study.tell_history([3, 5], [1.0, 2.0])
        assert study.top(2)["name"].to_list() == [f"c{study.best().id}", *study.top(2)["name"][1:]]
        assert "name" in study.trials().columns


def test_the_table_given_stays_as_it_is(path):
    table = pl.DataFrame({"mean": range(60), "value": range(60)})
    with new(path, names=[f"c{i}" for i in range(60)], table=table) as study:
        assert table.columns == ["mean", "value"]
        study.tell_history([3], [1.0])
        assert study.top(1).select("mean_", "value").row(0) == (3, 3)
    with pytest.raises(StudyError, match="column 'name'"):
        new(
            path.with_name("b.db"),
            names=[f"c{i}" for i in range(60)],
            table=table.rename({"mean": "name"}),
        )
    with pytest.raises(StudyError, match="'c0' comes twice"):
        new(path.with_name("c.db"), names=["c0", "c0", *(f"c{i}" for i in range(2, 60))])


def test_a_longer_table_has_the_old_rows_and_the_new_ones():
    old = pl.DataFrame({"name": ["a", "b"], "mass": [1.0, 2.0], "note": ["x", None]})
    new = pl.DataFrame({"mass": [3]})
    both = longer_table(old, 1, ["c"], new, named=True)
    assert both.rows() == [*old.rows(), ("c", 3.0, None)]
    assert longer_table(None, 2, None, None, named=False) is None
    for names, table, words in (
        (None, new, "names must be given"),
        (["b"], new, "in the study already: 'b'. Leave out these rows: 0 of 1 are new"),
        (["c"], pl.DataFrame({"weight": [3.0]}), "'weight' is not one of name, mass, note"),
        (["c", "d"], new, "names must be 1"),
    ):
        with pytest.raises(StudyError, match=words):
            longer_table(old, 1, names, table, named=True)


def test_candidates_added_without_a_table_have_empty_rows(path):
    """Those of a study whose candidates have a table and no names."""
    with new(path, table=pl.DataFrame({"mass": range(len(X))})) as study:
        study.add(X[:3] + 1.0)
        assert study.table["mass"].to_list()[len(X) :] == [None] * 3
        study.tell_history([0, 61, 62], [1.0, 2.0, 3.0])
        assert sorted(study.top(3)["id"]) == [0, 61, 62]


def test_columns_of_a_table_never_take_the_place_of_ours():
    frame = pl.DataFrame({"id": [2, 0], "value": [5.0, 6.0]})
    table = pl.DataFrame({"name": list("abc"), "value": [1, 2, 3], "value_": [4, 5, 6]})
    shown = beside(frame, table, [2, 0])
    assert shown.columns == ["id", "value", "value_", "value__"]
    assert shown.rows() == [(2, 5.0, 3, 6), (0, 6.0, 1, 4)]
