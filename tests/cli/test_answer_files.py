"""Rows of a file of answers: which trial or candidate they are about."""

import csv
import sys

import numpy as np
import pytest
from commands import noregret

import noregret as nr


def trials(db):
    with nr.Study.open(db, read_only=True) as study:
        return study.trials().drop("asked", "given", "done").rows()


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
