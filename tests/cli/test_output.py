"""Questions that could not be written have not been asked."""

import os
import subprocess
import sys

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
