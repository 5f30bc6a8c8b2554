"""Trials as tables: formats, damaged studies, and files that cannot be written."""

import polars as pl
import pytest
from commands import noregret

import noregret as nr


def test_trials_are_exported_as_tables(db):
    with nr.Study.open(db) as study:
        study.tell_history([3, 3], [1.5, 1.25])
    noregret("export", db, "--to", "parquet", "-o", "t.parquet")
    frame = pl.read_parquet("t.parquet")
    assert frame.select("id", "name", "value", "status").rows() == [
        (3, "cmp003", 1.5, "told"),
        (3, "cmp003", 1.25, "told"),
    ]
    assert {"a", "b"} <= set(frame.columns)
    lines = noregret("export", db).stdout.splitlines()
    assert len(lines) == 3
    noregret("export", db, "--salvage", "-o", "saved.csv")
    assert pl.read_csv("saved.csv")["value"].to_list() == [1.5, 1.25]
    assert "-o names the file" in noregret("export", db, "--json", code=1).stderr


def test_the_name_of_an_exported_file_says_its_format(db):
    noregret("ask", db, "-n", 2, "-o", "plate.csv")
    noregret("export", db, "-o", "trials.parquet")
    assert len(pl.read_parquet("trials.parquet")) == 2
    noregret("export", db, "-o", "trials.txt")
    assert len(pl.read_csv("trials.txt")) == 2


def test_an_export_that_fails_leaves_the_old_file(db, monkeypatch):
    db.with_name("all.csv").write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr("noregret.cli.export.write_csv", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            noregret("export", db, "-o", "all.csv")
    assert db.with_name("all.csv").read_text() == "old"
    refused = noregret("export", db, "-o", "nowhere/all.csv", code=1).stderr
    assert "nowhere/all.csv'" in refused
    assert ".new" not in refused
