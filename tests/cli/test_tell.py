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

# -- doing it twice ----------------------------------------------------------------------------


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


def test_values_with_commas_between_digits_are_said_to_be_thousands(db):
    db.with_name("old.csv").write_text('compound,value\ncmp003,"1,234"\ncmp004,"2,500"\n')
    assert "Commas group digits: 1,234 is 1234." in noregret("import", db, "old.csv").stderr
    with nr.Study.open(db, read_only=True) as study:
        assert study.trials()["value"].to_list() == [1234.0, 2500.0]


def test_values_with_points_between_digits_are_said_to_be_thousands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text("name;a\nx;0,5\ny;1,5\nz;2,5\n")
    noregret("create", "a.db", "--candidates", "lib.csv")
    (tmp_path / "old.csv").write_text("name;a;value\nx;0,5;1.234\ny;1,5;2.500\n")
    assert "Points group digits: 1.234 is 1234." in noregret("import", "a.db", "old.csv").stderr
    with nr.Study.open("a.db", read_only=True) as study:
        assert study.trials()["value"].to_list() == [1234.0, 2500.0]


def test_values_of_which_some_have_a_percent_sign_are_refused(db):
    db.with_name("old.csv").write_text("compound,value\ncmp003,50 %\ncmp004,0.5\n")
    said = noregret("import", db, "old.csv", code=1).stderr
    assert "1 of 2 numbers have a percent sign" in " ".join(said.split())
    assert trials(db) == []
    db.with_name("old.csv").write_text("compound,value\ncmp003,50 %\ncmp004,0.5%\n")
    noregret("import", db, "old.csv")
    assert [row[3] for row in trials(db)] == [50.0, 0.5]


def test_a_file_without_the_column_of_values_is_told_which_option_names_it(db):
    db.with_name("old.csv").write_text("compound,Yield [%]\ncmp003,50\n")
    said = " ".join(noregret("import", db, "old.csv", code=1).stderr.split())
    assert "--value-column names the values" in said


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


def test_telling_by_name(db):
    with nr.Study.open(db) as study:
        names = study.ask(3).names
    db.with_name("a.csv").write_text(f"Compound;Yield\n{names[1]};51,5%\n{names[0]};n/a\n")
    options = ("--id-column", "Compound", "--value-column", "Yield")
    assert "did you mean 'Yield'" not in noregret("tell", db, "a.csv", code=1).stderr
    assert "1 value and 0 failures told; 2 trials" in noregret("tell", db, "a.csv", *options).stderr
    assert "changed nothing" in noregret("tell", db, "a.csv", *options).stderr
    db.with_name("b.csv").write_text(f"compound,value\n{names[1]},51.5\n{names[0]},3\n")
    said = noregret("tell", db, "b.csv").stderr
    assert "1 value and 0 failures told; 1 trial still" in said
    assert "1 row had been told before" in said
    db.with_name("c.csv").write_text(f"compound,value\n{names[1]},60\n")
    assert "has no open trial" in noregret("tell", db, "c.csv", code=1).stderr


def test_replicates_of_one_open_trial(db):
    """Three wells of a compound that was asked for once: what to do is said, nothing is lost."""
    with nr.Study.open(db) as study:
        (name,) = study.ask(1).names
    db.with_name("a.csv").write_text("compound,value\n" + f"{name},1\n{name},2\n{name},4\n")
    said = noregret("tell", db, "a.csv", code=1).stderr
    assert f"line 3: {name} stands in 3 rows, but has fewer open trials: write the mean" in said
    assert "line 4: " in said
    noregret("tell", db, "a.csv", "--skip-bad")
    noregret("import", db, "a.bad.csv")
    assert [row[3] for row in trials(db)] == [1.0, 2.0, 4.0]


def test_repeats_told_by_name_in_two_parts(db):
    """The first file has one of two wells; the second repeats it beside the other one."""
    with nr.Study.open(db) as study:
        trial = study.ask(1)
        study.tell_history(trial.ids, [0.0])
        other = study.ask(1)
        name = trial.names[0]
        same = other.names[0] == name
    db.with_name("a.csv").write_text(f"compound,value\n{name},1.5\n")
    noregret("tell", db, "a.csv")
    db.with_name("b.csv").write_text(f"compound,value\n{name},1.5\n{other.names[0]},1.7\n")
    noregret("tell", db, "b.csv")
    with nr.Study.open(db, read_only=True) as study:
        told = study.trials().filter(study.trials()["origin"] == "ask")
        assert told["value"].to_list() == [1.5, 1.7], same


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


def test_a_space_is_imported_by_its_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noregret(
        *("create", "s.db", "--param", "rate=float(1e-4,1,log)", "--param", "layers=int(1,8)"),
        *("--param", "act=choice(relu,007)", "--param", "bias=bool", "--seed", 0),
    )
    (tmp_path / "old.csv").write_text(
        "rate;layers;act;bias;value\n0,01;3;007;true;5\n0,5;4;relu;false;6\n1;9;tanh;true;7\n"
    )
    refused = noregret("import", "s.db", "old.csv", code=1).stderr
    assert "line 4, column 'layers': value must be a whole number in [1, 8], got 9" in refused
    noregret("import", "s.db", "old.csv", "--skip-bad")
    noregret("export", "s.db", "-o", "all.csv")
    assert "changed nothing: 2 rows" in noregret("import", "s.db", "all.csv").stderr
    with nr.Study.open("s.db", read_only=True) as study:
        found = study.trials().select("rate", "layers", "act", "bias", "value").rows()
    assert found[0] == (pytest.approx(0.01), 3, "007", True, 5.0)
    taken = noregret("create", "t.db", "--param", "value=float(0,1)", code=1).stderr
    assert "'value' has a name that the files of ask and tell use" in taken


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


# -- names -------------------------------------------------------------------------------------

NAMES = [
    "c1cc[nH]c1",
    "[/foo]",
    "=cmd|' /C calc'!A0",
    "'=x",
    "007",
    "1E3",
    " a ",
    "\x1b[31mred",
    "-5x",
]


@pytest.fixture
def named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("lib.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["compound", "a"])
        writer.writerows([name, i / 7] for i, name in enumerate(NAMES))
    noregret(*("create", "n.db", "--candidates", "lib.csv", "--algorithm", "gpucb", "--norm", 20))
    return tmp_path / "n.db"


def test_names_are_told_and_shown_verbatim(named):
    with nr.Study.open(named) as study:
        assert study.names.to_list() == NAMES
        study.tell_history(range(len(NAMES)), np.arange(len(NAMES)) / 10)
    shown = noregret("best", named, "--top", len(NAMES)).stdout
    for name in NAMES[:7]:
        assert name in shown
    assert "\x1b" not in shown
    assert "\\x1b[31mred" in shown
    noregret("export", named, "-o", "all.csv")
    text = named.with_name("all.csv").read_text()
    assert ",'=cmd|' /C calc'!A0," in text
    assert ",''=x," in text
    assert ",'-5x," in text
    noregret(*("create", "o.db", "--candidates", "lib.csv", "--algorithm", "gpucb", "--norm", 20))
    noregret("import", "o.db", "all.csv")
    assert [row[2] for row in trials("o.db")] == NAMES


def test_names_reach_programs_verbatim(named, tmp_path):
    program = "import sys\nprint(sys.argv[1], file=open('said', 'a'))\nprint(1)"
    (tmp_path / "say.py").write_text(program)
    command = f"{sys.executable} -I -S say.py {{compound}}"
    noregret("run", named, "--command", command, "--budget", 3)
    assert set((tmp_path / "said").read_text().splitlines()) <= set(NAMES)
