"""Questions that could not be written have not been asked; what may not be replaced."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from commands import noregret

import noregret as nr
from noregret.study import FullError
from noregret.study.storage import sql
from noregret.study.storage.file import StudyFile


def state_of(db):
    with nr.Study.open(db, read_only=True) as study:
        return study.counts(), len(study.operations()), study.optimizer.pending


@pytest.mark.parametrize("output", ["nowhere/plate.csv", "/dev/full", "."])
def test_an_output_that_cannot_be_written(db, output):
    before = state_of(db)
    asked = noregret("ask", db, "-n", 3, "-o", output, code=1)
    assert "error" in asked.stderr
    assert state_of(db) == before
    noregret("ask", db, "-n", 3, "-o", "plate.csv")
    assert state_of(db)[0]["pending"] == 3


def test_the_error_names_the_users_file_where_nothing_can_be_deleted_either(db):
    name = "x" * 250 + ".csv"
    assert f"'{name}'" in noregret("ask", db, "-n", 3, "-o", name, code=1).stderr


@pytest.mark.parametrize("options", [[], pytest.param(["--json"], marks=pytest.mark.slow)])
def test_a_pipe_that_nobody_reads(db, options):
    before = state_of(db)
    reading, writing = os.pipe()
    os.close(reading)
    program = "from noregret.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "ask", str(db), "-n", "3", *options],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 1
    assert "nothing was changed" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert state_of(db) == before


def test_output_where_the_system_has_an_encoding_without_some_letters(tmp_path):
    """A plate in a pipe is that of a file; other output writes these letters out."""
    path = tmp_path / "study.db"
    nr.Study.create(path, np.arange(3.0), kernel=nr.RBF(1.0), names=["ä", "β", "c"], seed=0).close()
    program = "from noregret.cli.main import main; main()"

    def output(command):
        return subprocess.run(
            [sys.executable, "-c", program, command, str(path)],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=True,
        ).stdout.decode()

    plate = csv.DictReader(output("ask").splitlines())
    with nr.Study.open(path) as study:
        assert [row["id"] for row in plate] == list(study.get(study.pending()).names)
        study.tell_history([0], [1.0])
    assert "| \\xe4 " in output("best")


def test_questions_that_cannot_be_stored_are_not_left_in_a_file(db, monkeypatch):
    with open("plate.csv", "w") as file:
        file.write("the old plate")
    before = state_of(db)
    execute = StudyFile.execute

    def full(self, statement, *values):
        if statement == sql.COMMIT and list(db.parent.glob(".plate.csv.*")):
            raise FullError("the disk is full")
        return execute(self, statement, *values)

    with monkeypatch.context() as patched:
        patched.setattr(StudyFile, "execute", full)
        noregret("ask", db, "-n", 3, "-o", "plate.csv", code=6)
    assert state_of(db) == before
    assert (db.parent / "plate.csv").read_text() == "the old plate"
    assert not list(db.parent.glob(".*.new"))


# -- what no command may write over ------------------------------------------------------------

COMMANDS = {
    "ask": ("ask", "plates.db", "-n", 2),
    "open": ("ask", "plates.db", "--open"),
    "json": ("ask", "plates.db", "-n", 2, "--json"),
    "export": ("export", "plates.db"),
    "salvage": ("export", "plates.db", "--salvage"),
    "parquet": ("export", "plates.db", "--to", "parquet"),
    "report": ("report", "plates.db"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_output_replaces_a_study_or_its_candidates(db, command):
    noregret("ask", db, "-n", 1)
    os.symlink("plates.db", "link.db")
    nr.Study.create("other.db", [[0.0], [1.0]], "uniform", kernel=nr.RBF(1.0)).close()
    before = {file.name: file.read_bytes() for file in db.parent.iterdir()}
    own = ("plates.db", "./plates.db", "link.db", "plates.db-wal", "plates.db-lock")
    for output in (*own, "other.db", "library.csv"):
        said = noregret(*command, "-o", output, code=1).stderr
        assert "was not replaced: name another file" in " ".join(said.split())
    assert {file.name: file.read_bytes() for file in db.parent.iterdir()} == before


def test_the_candidates_are_found_from_another_folder(db, monkeypatch):
    (db.parent / "elsewhere").mkdir()
    monkeypatch.chdir(db.parent / "elsewhere")
    refused = noregret("export", "../plates.db", "-o", "../library.csv", code=1).stderr
    assert "holds the candidates" in refused


def test_bad_rows_do_not_replace_the_candidates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "compound,x\nA,0\nB,1\n"
    (tmp_path / "a.bad.csv").write_text(text)
    noregret("create", "a.db", "--candidates", "a.bad.csv")
    (tmp_path / "a.csv").write_text("compound,value\nA,1\n")
    noregret("tell", "a.db", "a.csv", "--skip-bad", code=1)
    assert (tmp_path / "a.bad.csv").read_text() == text


def test_json_and_a_file_at_once(db):
    before = state_of(db)
    noregret("ask", db, "-n", 2, "--json", "-o", "nowhere/plate.csv", code=1)
    assert state_of(db) == before
    found = json.loads(noregret("ask", db, "-n", 2, "--json", "-o", "plate.csv").stdout)
    assert found["output"] == "plate.csv"
    with open("plate.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["compound"] for row in rows] == [row["compound"] for row in found["trials"]]
    assert len(rows) == 2


def test_a_filled_plate_is_told_before_it_is_replaced(db):
    noregret("ask", db, "-n", 2, "-o", "plate.csv")
    noregret("ask", db, "-n", 2, "-o", "plate.csv")  # an empty plate may be replaced
    before = state_of(db)
    for note in ({"value": 1.5}, {"value": "", "failed": "spilt"}, {"value": "see book"}):
        with open("plate.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        rows = [{"failed": "", **row} for row in rows]
        rows[0].update(note)
        with open("plate.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        filled = db.with_name("plate.csv").read_text()
        for options in (["-n", 1], ["--open"]):
            said = noregret("ask", db, *options, "-o", "plate.csv", code=1).stderr
            assert "tell it first" in " ".join(said.split())
        assert db.with_name("plate.csv").read_text() == filled
        assert state_of(db) == before
    rows[0].update(value="2.5", failed="")
    with open("plate.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    noregret("tell", db, "plate.csv")
    noregret("ask", db, "-n", 1, "-o", "plate.csv")
    assert "2.5" not in db.with_name("plate.csv").read_text()


@pytest.mark.parametrize("cell", [",1,5", ',"1.5'])
def test_a_filled_plate_that_cannot_be_read_is_not_replaced(db, cell):
    noregret("ask", db, "-n", 2, "-o", "plate.csv")
    plate = db.with_name("plate.csv")
    filled = plate.read_text().replace(",\n", f"{cell}\n")
    plate.write_text(filled)
    noregret("tell", db, "plate.csv", code=1)
    assert "cannot be read" in noregret("ask", db, "-n", 2, "-o", "plate.csv", code=1).stderr
    assert plate.read_text() == filled
    plate.write_text("\n")
    noregret("ask", db, "-n", 2, "-o", "plate.csv")


@pytest.mark.parametrize("name", ["plate.xlsx", "plate.ODS", "plate.pq"])
def test_text_gets_no_name_that_stands_for_another_format(db, name):
    before = state_of(db)
    for options in (["ask", db, "-n", 2], ["export", db, "--to", "csv"]):
        said = noregret(*options, "-o", name, code=1).stderr
        assert "name it plate.csv" in " ".join(said.split())
    assert state_of(db) == before
    assert not db.with_name(name).exists()
