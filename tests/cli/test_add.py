"""``noregret add``: more candidates for a running study."""

import polars as pl
from commands import fill_in, library, noregret

import noregret as nr


def make(*options, n=40):
    frame = library("library.csv", n)
    noregret(
        "create", "a.db", "--candidates", "library.csv", "--id", "compound", "--seed", 0, *options
    )
    return frame


def test_candidates_are_added_to_a_running_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = make()
    noregret("ask", "a.db", "-n", 8, "-o", "plate.csv")
    fill_in("plate.csv", "plate.csv")
    noregret("tell", "a.db", "plate.csv")
    with nr.Study.open("a.db") as study:
        before, points = study.best(), study.domain.points.copy()
    more = frame.head(5).with_columns(("new" + pl.col("compound")).alias("compound"))
    more.write_csv("more.csv")
    assert "5 candidates added" in noregret("add", "a.db", "more.csv").stderr
    with nr.Study.open("a.db") as study:
        assert study.size == 45
        assert study.names.to_list()[40:] == more["compound"].to_list()
        assert (study.domain.points[40:] == points[:5]).all()  # the same cells, the same points
        assert study.best() == before
    rows = noregret("ask", "a.db", "-n", 45).stdout.splitlines()
    assert len(rows) == 1 + 45 - 8  # each is measured once
    assert sum("new" in row for row in rows) == 5
    assert "nothing left" in noregret("ask", "a.db", "-n", 3, code=7).stderr
    assert "every candidate" in noregret("status", "a.db").stdout


def test_what_cannot_be_added_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = make()
    known = frame.head(2).write_csv() + frame[0].write_csv(include_header=False).replace("c", "new")
    (tmp_path / "known.csv").write_text(known)
    said = noregret("add", "a.db", "known.csv", code=1).stderr
    assert "and 1 more. Leave out these rows: 1 of 3 are new" in said
    frame.head(2).drop("a").write_csv("short.csv")
    assert "no column 'a'" in noregret("add", "a.db", "short.csv", code=1).stderr
    with nr.Study.open("a.db") as study:
        assert study.size == 40


def test_texts_that_are_only_shown_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = library("library.csv", 40).with_columns(
        pl.Series("shelf", [f"S{i}" for i in range(40)])
    )
    frame.write_csv("library.csv")
    noregret("create", "a.db", "--candidates", "library.csv", "--id", "compound", "--seed", 0)
    new = frame.head(1).with_columns(pl.lit("new").alias("compound"))
    new.drop("shelf").write_csv("more.csv")
    noregret("add", "a.db", "more.csv")
    with nr.Study.open("a.db") as study:
        assert study.table["shelf"].to_list()[-2:] == ["S39", None]


def test_how_often_a_candidate_is_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make()
    with nr.Study.open("a.db") as study:
        assert study.optimizer.repeats == 1
        assert any("measured once" in note for note in study.settings["about"]["notes"])
    (tmp_path / "a.db").unlink()
    make("--repeats", 0, "--aim", 3)
    with nr.Study.open("a.db") as study:
        assert (study.optimizer.repeats, study.optimizer.aim) == (None, 3)
