import csv

import numpy as np
import polars as pl
import pytest
from commands import fill_in, library, noregret, value

import noregret as nr


def test_a_laboratory_loop(db):
    told = {}
    for _ in range(3):
        db.with_name("plate.csv").write_text(noregret("ask", db).stdout)
        with db.with_name("plate.csv").open() as file:
            assert file.readline() == "trial,compound,a,b,value\n"
        rows = fill_in("plate.csv", "first.csv", keep=lambda i: i % 2)
        noregret("tell", db, "first.csv")
        assert f"{3} trials still open" in noregret("tell", db, "first.csv").output
        fill_in("plate.csv", "all.csv")
        noregret("tell", db, "all.csv")
        told |= {int(row["trial"]): value(row) for row in rows}
    with nr.Study.open(db, read_only=True) as study:
        frame = study.trials()
        assert dict(zip(frame["trial"], frame["value"], strict=True)) == told
        assert study.counts() == {"pending": 0, "told": 18, "failed": 0, "history": 0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].update(value="lots"), "line 3, column 'value': 'lots' is not"),
        (lambda rows: rows[1].update(value="1..5"), "'1..5' is not a finite number (did you mean"),
        (lambda rows: rows[1].update(value="inf"), "line 3, column 'value': 'inf'"),
        (
            lambda rows: rows[2].update(trial="77"),
            "line 4, column 'trial': this study has no trial '77'",
        ),
        (
            lambda rows: rows[2].update(trial="x"),
            "line 4, column 'trial': this study has no trial 'x'",
        ),
        (lambda rows: rows.append(dict(rows[0])), "line 8: trial 0 comes twice: write the mean"),
        (
            lambda rows: rows[0].update(compound="cmp999"),
            "line 2, column 'compound': trial 0 of this study is cmp",
        ),
        (lambda rows: rows[0].update(failed="broken"), "line 2: it has both"),
    ],
)
def test_one_wrong_line_refuses_the_file(db, change, message):
    noregret("ask", db, "-o", "plate.csv")
    with open("plate.csv", newline="") as file:
        rows = [dict(row, value=1.0, failed="") for row in csv.DictReader(file)]
    change(rows)
    with open("bad.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    result = noregret("tell", db, "bad.csv", code=1)
    assert message in result.stderr
    assert "nothing of it was told" in result.stderr
    with nr.Study.open(db, read_only=True) as study:
        assert study.counts()["told"] == 0


def test_failures_and_changed_answers_by_csv(db):
    noregret("ask", db, "-n", 2)
    db.with_name("a.csv").write_text("trial,value,failed\n0,1.5,\n1,,spilt\n")
    assert "1 value and 1 failure told" in noregret("tell", db, "a.csv").output
    db.with_name("b.csv").write_text("value,trial\n2.5,0\n")
    assert "line 2: trial 0 was told 1.5" in noregret("tell", db, "b.csv", code=1).stderr
    noregret("tell", db, "b.csv", "--overwrite")
    with nr.Study.open(db, read_only=True) as study:
        assert study.trials()["value"].to_list() == [2.5, None]
        assert study.trials()["reason"].to_list() == [None, "spilt"]


def test_words_that_say_that_nothing_failed(db):
    noregret("ask", db, "-n", 6)
    words = ("no", "-", "0", "false", "N", "N/A")
    rows = "".join(f"{i},,{word}\n" for i, word in enumerate(words))
    db.with_name("a.csv").write_text("trial,value,failed\n" + rows)
    assert "0 values and 0 failures told; 6 trials" in noregret("tell", db, "a.csv").stderr
    db.with_name("a.csv").write_text("trial,value,failed\n0,1.5,no\n1,,yes\n")
    assert "1 value and 1 failure told" in noregret("tell", db, "a.csv").stderr


def test_the_column_failed_in_capital_letters(db):
    noregret("ask", db, "-n", 2)
    db.with_name("a.csv").write_text("trial,value,Failed\n0,,\n1,,spilt\n")
    assert "0 values and 1 failure told; 1 trial" in noregret("tell", db, "a.csv").stderr


def test_a_feature_is_no_reason_of_failure(tmp_path, monkeypatch):
    """A study made in Python may have any columns in its table."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"FAILED": [3, 4]})
    given = {"kernel": nr.RBF(1.0), "names": ["A", "B"], "table": table}
    with nr.Study.create("a.db", [[0.0], [1.0]], "uniform", repeats=1, **given) as study:
        study.ask(2)
    (tmp_path / "a.csv").write_text("id,FAILED,value,Failed\nA,3,1.5,\nB,4,,spilt\n")
    assert "1 value and 1 failure told; 0 trials" in noregret("tell", "a.db", "a.csv").stderr


def test_history_is_imported_by_name(db):
    db.with_name("old.csv").write_text("compound,value,who\ncmp003,1.5,x\ncmp003,1.25,y\n")
    noregret("import", db, "old.csv")
    db.with_name("bad.csv").write_text("compound,value\ncmp003,1.5\nnobody,2\n")
    assert (
        "line 3, column 'compound': there is no candidate 'nobody'"
        in noregret("import", db, "bad.csv", code=1).stderr
    )
    with nr.Study.open(db, read_only=True) as study:
        assert study.trials().select("id", "value").rows() == [(3, 1.5), (3, 1.25)]
        assert study.counts()["history"] == 2


def test_a_plate_is_whole_unless_it_is_adaptive(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library("library.csv")
    start = ("create", "a.db", "--candidates", "library.csv", "--id", "compound", "--seed", "0")
    noregret(*start, "--lengthscale", 1)
    result = noregret("ask", "a.db", "-n", 8)
    assert len(result.stdout.splitlines()) == 9
    assert "spread over the whole list" in result.stderr
    result = noregret("ask", "a.db", "-n", 8, "--adaptive")
    assert len(result.stdout.splitlines()) < 9
    assert "The adaptive batch ends" in result.stderr


def test_a_study_on_a_box_is_asked_and_told_by_coordinates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    box = nr.Box({"dose": (0, 2), "heat": (20, 80)})
    nr.Study.create("box.db", box, "gpucb", kernel=nr.RBF([1.0, 30.0]), norm=5, seed=0).close()
    noregret("ask", "box.db", "-n", 2, "-o", "plate.csv")
    with open("plate.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["trial", "dose", "heat", "value"]
    for row in rows:
        row["value"] = float(row["dose"])
    with open("plate.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    noregret("tell", "box.db", "plate.csv")
    with nr.Study.open("box.db", read_only=True) as study:
        frame = study.trials()
        assert np.array_equal(frame["value"], frame["dose"])
    (tmp_path / "old.csv").write_text("dose;heat;value\n0,5;30,5;7\n1;90;2\n")
    refused = noregret("import", "box.db", "old.csv", code=1)
    assert "line 3, column 'heat': value must lie in [20.0, 80.0]" in refused.stderr
    noregret("import", "box.db", "old.csv", "--skip-bad")
    with nr.Study.open("box.db", read_only=True) as study:
        assert study.trials().select("dose", "heat", "value").rows()[-1] == (0.5, 30.5, 7.0)


def test_open_trials_are_pointed_out_and_written_again(db):
    first = noregret("ask", db, "-n", 3).stdout
    assert "Still open from earlier: 3 trials" in noregret("ask", db, "-n", 2).stderr
    again = noregret("ask", db, "--open")
    assert again.stdout.startswith(first)
    assert "5 trials still open." in again.stderr
    noregret("ask", db, "--open", "-n", 2, code=1)
    with nr.Study.open(db, read_only=True) as study:
        assert study.counts()["pending"] == 5
