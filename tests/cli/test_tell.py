"""Telling and importing files: twice, in parts, by name, and killed on the way."""

import csv
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from commands import noregret

import noregret as nr


def trials(db):
    with nr.Study.open(db, read_only=True) as study:
        return study.trials().drop("asked", "given", "done").rows()


def test_a_second_import_changes_nothing_and_says_so(db):
    db.with_name("old.csv").write_text("compound,value\ncmp003,1.5\ncmp003,1.5\ncmp004,\n")
    assert "2 measurements imported" in noregret("import", db, "old.csv").stderr
    before = trials(db)
    assert "imported already: nothing changed" in noregret("import", db, "old.csv").stderr
    assert trials(db) == before
    noregret("import", db, "old.csv", "--again")
    assert len(trials(db)) == 4


def test_an_edited_file_is_not_imported_twice(db):
    db.with_name("old.csv").write_text("compound,value\ncmp003,1.5\n")
    noregret("import", db, "old.csv")
    db.with_name("old.csv").write_text("compound,value\ncmp003,1.5\ncmp003,1.5\ncmp005,2\n")
    refused = noregret("import", db, "old.csv", code=1).stderr
    assert "1 of the 3 rows of old.csv were told or imported before" in refused
    noregret("import", db, "old.csv", "--only-new")
    with nr.Study.open(db, read_only=True) as study:
        assert study.trials()["value"].to_list() == [1.5, 1.5, 2.0]


def test_what_export_writes_import_reads(db, tmp_path):
    db.with_name("old.csv").write_text("compound,value\ncmp003,1.5\ncmp007,-2\n")
    noregret("import", db, "old.csv")
    noregret("ask", db)
    for name in ("all.csv", "all.parquet"):
        noregret("export", db, "--to", name.partition(".")[2], "-o", name)
        said = noregret("import", db, name).stderr
        assert "0 measurements imported" in said
        assert "Already in this study, changed nothing: 2 rows" in said
    noregret(
        *("create", "other.db", "--candidates", "library.csv", "--features", "a,b"),
        *("--algorithm", "gpucb", "--seed", 1),
    )
    assert "2 measurements imported" in noregret("import", "other.db", "all.csv").stderr
    assert [row[2:4] for row in trials("other.db")] == [("cmp003", 1.5), ("cmp007", -2.0)]


@pytest.mark.parametrize("command", ["tell", "import"])
def test_mended_rows_are_not_replaced_by_the_bad_ones(db, command):
    name = noregret("ask", db, "-n", 2).stdout.splitlines()[1].split(",")[1]
    name = {"tell": name, "import": "cmp003"}[command]
    db.with_name("old.csv").write_text(f"compound,value\nnobody,1\n{name},l.5x\n")
    for _ in range(2):  # rows that nobody has mended are written again
        noregret(command, db, "old.csv", "--skip-bad")
    bad = db.with_name("old.bad.csv")
    mended = bad.read_text().replace("l.5x", "1.5")
    bad.write_text(mended)
    before = trials(db)
    said = noregret(command, db, "old.csv", "--skip-bad", code=1).stderr
    assert "old.bad.csv holds rows that were mended and not told" in said
    assert (bad.read_text(), trials(db)) == (mended, before)
    noregret(command, db, "old.bad.csv", "--skip-bad")
    assert [row[3] for row in trials(db) if row[2] == name] == [1.5]
    noregret(command, db, "old.csv", "--skip-bad")


def test_bad_rows_are_set_aside(db):
    db.with_name("old.csv").write_text("compound,value\ncmp003,1.5\ncmp0O4,2\ncmp005,l.5x\n")
    said = noregret("import", db, "old.csv", "--skip-bad").stderr
    assert "Not told: 2 bad rows, in old.bad.csv" in said
    with open("old.bad.csv", newline="") as file:
        bad = list(csv.DictReader(file))
    assert [row["compound"] for row in bad] == ["cmp0O4", "cmp005"]
    assert "did you mean 'cmp004'" in bad[0]["problem"]
    assert "nothing changed" in noregret("import", db, "old.csv", "--skip-bad").stderr
    for row, name in zip(bad, ("cmp004", "cmp005"), strict=True):
        row.update(compound=name, value="2")
    with open("old.bad.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(bad[0]))
        writer.writeheader()
        writer.writerows(bad)
    noregret("import", db, "old.bad.csv")
    assert [row[2] for row in trials(db)] == ["cmp003", "cmp004", "cmp005"]


KILLED = """
import os, signal, sys
from noregret.cli.main import main
from noregret.study.storage.file import StudyFile

done, statements = StudyFile.execute, 0

def counted(self, *arguments):
    global statements
    statements += 1
    if statements == int(os.environ["DIE_AT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return done(self, *arguments)

StudyFile.execute = counted
sys.argv = ["noregret", "import", "plates.db", "old.csv"]
try:
    main()
finally:
    print(statements)
"""


def import_killed_before_statement(k):
    """Import in a process that is killed before its k-th SQL statement; what it printed."""
    return subprocess.run(
        [sys.executable, "-c", KILLED],
        env={**os.environ, "DIE_AT": str(k)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stdout


@pytest.mark.parametrize("deaths", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_an_import_killed_anywhere_and_repeated_doubles_nothing(db, deaths):
    rows = "".join(f"cmp{i:03d},{i / 10}\n" for i in range(5))
    db.with_name("old.csv").write_text("compound,value\n" + rows)
    with nr.Study.open(db, read_only=True):
        pass
    empty = {file: file.read_bytes() for file in db.parent.glob("plates.db*")}
    statements = int(import_killed_before_statement(0))
    for k in np.linspace(statements // 2, statements, deaths).astype(int):
        for file in db.parent.glob("plates.db*"):
            file.unlink()
        for file, content in empty.items():
            file.write_bytes(content)
        assert import_killed_before_statement(k) == ""
        noregret("import", db, "old.csv")
        assert [row[3] for row in trials(db)] == [0.0, 0.1, 0.2, 0.3, 0.4]
        noregret("import", db, "old.csv")
        assert len(trials(db)) == 5


def test_features_of_a_table_never_hide_our_columns(tmp_path, monkeypatch):
    """A study made in Python may have any columns in its table."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"id": [5, 6, 7], "trial": [8, 9, 8], "value": [1.0, 2.0, 3.0]})
    points = [[0.0], [0.5], [1.0]]
    nr.Study.create("a.db", points, "gpucb", kernel=nr.RBF(0.3), seed=0, table=table).close()
    noregret("ask", "a.db", "-n", 1, "-o", "plate.csv")
    with open("plate.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row) == ["trial", "id", "id_", "trial_", "value_", "value"]
    assert (row["trial"], row["value"]) == ("0", "")
    assert int(row["id_"]) == 5 + int(row["id"])
