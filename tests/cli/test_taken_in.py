"""A row of a file is taken in once: told or imported, by name or number, in parts or edited."""

import csv
import os
from collections import Counter

import pytest
from commands import noregret
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr

NAMES = ("A", "B", "C", "D")


@pytest.fixture
def four(tmp_path, monkeypatch):
    """Makes a study of four compounds with up to this many measurements of each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text("compound,x\nA,0\nB,1\nC,2\nD,3.5\n")

    def make(repeats=1, path="f.db"):
        noregret("create", path, "--candidates", "lib.csv", "--repeats", repeats, "--seed", 1)
        return path

    return make


def write(path, rows, header="compound,value"):
    with open(path, "w") as file:
        file.write("\n".join([header, *rows]) + "\n")


def told(path="f.db"):
    """The values told, by name, in the order of the trials; and how many trials are open."""
    with nr.Study.open(path, read_only=True) as study:
        frame = study.trials()
        values = {name: [] for name in NAMES}
        for name, value, status in frame.select("name", "value", "status").iter_rows():
            if status != "pending":
                values[name].append(value)
        return values, study.counts()["pending"]


def fill(path, values, value_column="value"):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row[value_column] = values[row["compound"]]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_two_columns_of_replicates_in_one_file(four):
    noregret("ask", four(repeats=2), "-n", 8)
    write("reader.csv", ["A,1,1.4", "B,2,2", "C,3,3.1", "D,4,4.5"], "compound,rep1,rep2")
    noregret("tell", "f.db", "reader.csv", "--value-column", "rep1")
    noregret("tell", "f.db", "reader.csv", "--value-column", "rep2")
    expected = {"A": [1.0, 1.4], "B": [2.0, 2.0], "C": [3.0, 3.1], "D": [4.0, 4.5]}
    assert told() == (expected, 0)
    for column in ("rep1", "rep2"):
        again = noregret("tell", "f.db", "reader.csv", "--value-column", column).stderr
        assert "4 rows had been told before and changed nothing" in again


def test_rows_that_nobody_had_asked_for_are_told_once_somebody_has(four):
    with nr.Study.open(four()) as study:
        first = set(study.ask(2).names)
    write("scan.csv", [f"{name},{i}" for i, name in enumerate(NAMES)])
    noregret("tell", "f.db", "scan.csv", "--skip-bad")
    assert {name for name, values in told()[0].items() if values} == first
    noregret("ask", "f.db", "-n", 2)
    said = noregret("tell", "f.db", "scan.csv").stderr
    assert "2 values and 0 failures told" in said
    assert "2 rows had been told before" in said
    assert told() == ({name: [float(i)] for i, name in enumerate(NAMES)}, 0)


def test_a_file_that_is_filled_in_two_goes(four):
    """Each compound has a second open trial, which the rows told before must not answer."""
    noregret("ask", four(repeats=2), "-n", 8)
    write("run.csv", ["A,1", "B,2", "C,", "D,"])
    noregret("tell", "f.db", "run.csv")
    write("run.csv", ["A,1", "B,2", "C,3", "D,4"])
    said = noregret("tell", "f.db", "run.csv").stderr
    assert "2 values and 0 failures told; 4 trials still open" in said
    assert "2 rows had been told before" in said
    assert told() == ({"A": [1.0], "B": [2.0], "C": [3.0], "D": [4.0]}, 4)
    write("run.csv", ["A,1", "A,1", "B,2", "C,3", "D,4"])
    noregret("tell", "f.db", "run.csv")
    assert told()[0]["A"] == [1.0, 1.0]


def test_a_copy_under_another_name_changes_nothing(four):
    noregret("ask", four(repeats=2), "-n", 8)
    for name in ("run.csv", "copy.csv"):
        write(name, ["A,1", "B,2"])
        noregret("tell", "f.db", name)
    assert told() == ({"A": [1.0], "B": [2.0], "C": [], "D": []}, 6)


def test_a_row_that_another_file_had_told_stays_known(four):
    """A second file repeats the first one before the compound is asked for again."""
    with nr.Study.open(four(repeats=2)) as study:
        study.tell_history([1, 1, 2, 2, 3, 3], [0.0] * 6)
        assert study.ask(1).names == ("A",)
    write("monday.csv", ["A,1"])
    write("week.csv", ["A,1", "A,"])
    noregret("tell", "f.db", "monday.csv")
    noregret("tell", "f.db", "week.csv")
    noregret("ask", "f.db", "-n", 1)
    assert "1 row had been told before" in noregret("tell", "f.db", "week.csv").stderr
    assert told()[0]["A"] == [1.0]
    write("week.csv", ["A,1", "A,1.5"])
    noregret("tell", "f.db", "week.csv")
    assert told()[0]["A"] == [1.0, 1.5]


def test_failures_and_overwritten_answers_stay_known(four):
    noregret("ask", four(repeats=2), "-n", 8)
    write("run.csv", ["A,1,", "B,,spilt"], "compound,value,failed")
    noregret("tell", "f.db", "run.csv")
    with nr.Study.open("f.db") as study:
        frame = study.trials().filter(study.trials()["status"] == "told")
        study.tell(frame["trial"].to_list(), [1.25], overwrite=True)
    said = noregret("tell", "f.db", "run.csv").stderr
    assert "2 rows had been told before" in said
    assert told() == ({"A": [1.25], "B": [None], "C": [], "D": []}, 6)


def test_an_imported_file_is_not_told_and_a_told_one_not_imported(four):
    noregret("ask", four(repeats=2), "-n", 8)
    write("old.csv", ["A,1"])
    noregret("import", "f.db", "old.csv")
    assert "1 row had been told before" in noregret("tell", "f.db", "old.csv").stderr
    write("new.csv", ["B,2"])
    noregret("tell", "f.db", "new.csv")
    assert "nothing changed" in noregret("import", "f.db", "new.csv").stderr
    assert told() == ({"A": [1.0], "B": [2.0], "C": [], "D": []}, 7)


def test_a_plate_that_is_open_is_not_imported(four):
    noregret("ask", four(), "-n", 4, "-o", "w1.csv")
    fill("w1.csv", {"A": 1, "B": 2, "C": 3, "D": 4})
    refused = noregret("import", "f.db", "w1.csv", code=1).stderr
    assert "trial 0 of this study is open for this choice: give the file to `noregret tell`" in (
        " ".join(refused.split())
    )
    noregret("tell", "f.db", "w1.csv")
    noregret("import", "f.db", "w1.csv")
    assert told() == ({"A": [1.0], "B": [2.0], "C": [3.0], "D": [4.0]}, 0)


def test_a_plate_of_parameters_that_is_open_is_not_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noregret("create", "s.db", "--param", "rate=float(1e-4,1,log)", "--seed", 1)
    noregret("ask", "s.db", "-n", 2, "-o", "p.csv")
    with open("p.csv", newline="") as file:
        rows = [dict(row, value=i) for i, row in enumerate(csv.DictReader(file))]
    write("p.csv", [",".join(map(str, row.values())) for row in rows], ",".join(rows[0]))
    assert "is open for this choice" in noregret("import", "s.db", "p.csv", code=1).stderr
    write("q.csv", ["0,0.77,1", "1,0.78,2"], "trial,rate,value")
    noregret("import", "s.db", "q.csv")
    with nr.Study.open("s.db", read_only=True) as study:
        assert study.counts() == {"pending": 2, "told": 2, "failed": 0, "history": 2}


def test_two_columns_of_a_file_are_imported_and_rows_that_were_bad(four):
    four(repeats=3)
    write("old.csv", ["A,1,1.4", "B,2,2", "E,5,5.5"], "compound,rep1,rep2")
    for column in ("rep1", "rep2"):
        noregret("import", "f.db", "old.csv", "--value-column", column, "--skip-bad")
    assert told()[0] == {"A": [1.0, 1.4], "B": [2.0, 2.0], "C": [], "D": []}
    write("more.csv", ["E,7"], "compound,x")
    noregret("add", "f.db", "more.csv")
    said = noregret("import", "f.db", "old.csv", "--value-column", "rep1").stderr
    assert "1 measurement imported" in said
    assert "Already in this study, changed nothing: 2 rows" in said


ROWS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from([1.0, 2.0])), max_size=9)


@settings(max_examples=15, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 9), max_size=3), again=st.booleans())
def test_a_growing_file_is_told_as_if_it_came_whole(tmp_path_factory, rows, cuts, again):
    """Whatever parts of it were told before, each row counts once, and telling it again nothing."""
    folder = tmp_path_factory.mktemp("growing")
    path, kept = folder / "g.db", Counter()
    rows = [row for row in rows if not kept.update([row[0]]) and kept[row[0]] <= 3]
    names = list("ABC")
    points = [[0.0], [1.0], [2.0]]
    with nr.Study.create(path, points, "uniform", kernel=nr.RBF(1.0), names=names, repeats=3) as s:
        s.ask(9)
    file = os.fspath(folder / "run.csv")
    for end in [*sorted(cuts), len(rows), *[len(rows)] * again]:
        write(file, [f"{name},{value}" for name, value in rows[:end]], "id,value")
        noregret("tell", path, file)
    with nr.Study.open(path, read_only=True) as study:
        frame = study.trials().filter(study.trials()["status"] == "told")
    assert Counter(frame.select("name", "value").rows()) == Counter(rows)
