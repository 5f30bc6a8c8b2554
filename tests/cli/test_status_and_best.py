import contextlib
import functools
import json
import re
import sqlite3

import numpy as np
import pytest
from commands import noregret
from rich.console import Console

import noregret as nr
from noregret.cli import app


@pytest.fixture
def told(db):
    """The study with ten answers."""
    with nr.Study.open(db) as study:
        trials = study.ask(10)
        study.tell(trials, np.sin(5 * trials.points[:, 0]))
    return db


def test_best_shows_evaluated_choices_the_best_guaranteed_first(told):
    with nr.Study.open(told, read_only=True) as study:
        best = study.best()
        evaluated = set(study.trials()["id"])
        first = study.optimizer.top(1)[0]
    shown = json.loads(noregret("best", told, "--top", "3", "--json").stdout)
    assert shown["best"][0]["id"] == first.id
    assert shown["best"][0]["lower"] == first.lower
    assert shown["gap"] == best.gap
    assert [one["evaluations"] for one in shown["best"]] == [1, 1, 1]
    assert {one["id"] for one in shown["best"]} <= evaluated
    lower = [one["lower"] for one in shown["best"]]
    assert lower == sorted(lower, reverse=True)
    with nr.Study.open(told, read_only=True) as study:
        proved = study.optimizer.proved
    said = noregret("best", told).stderr
    assert ("no other is better by more than" if proved else "(not proved)") in said


def test_a_narrow_window_shows_fewer_columns_and_none_cut(told, monkeypatch):
    monkeypatch.setattr(app, "Console", functools.partial(Console, force_terminal=True, width=70))
    shown = noregret("best", told, "--top", "2")
    lines = shown.stdout.splitlines()
    assert "evaluations" in lines[1]
    assert "measured" in lines[1]
    assert "…" not in shown.stdout
    assert max(map(len, map(plain_text, lines))) <= 70
    assert "too narrow for median, a, b; --json" in " ".join(shown.stderr.split())


def plain_text(line):
    """A line without the codes for bold letters."""
    return re.sub(r"\x1b\[\d*m", "", line)


def test_status(told):
    status = json.loads(noregret("status", told, "--json").stdout)
    assert status["counts"] == {"pending": 0, "told": 10, "failed": 0, "history": 0}
    assert status["best"]["lower"] <= status["best"]["mean"] <= status["best"]["upper"]
    assert status["last_batch"]["size"] == 10
    lines = noregret("status", told).stdout.splitlines()
    assert any("gpucb" in line for line in lines)
    assert any(
        line.split() == ["answers", "10", "told,", "0", "pending,", "0", "failed"] for line in lines
    )
    assert not any("None" in line or line != line.rstrip() for line in lines)


def test_settings_that_the_values_contradict_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"kernel": nr.RBF(0.3), "noise": 0.05, "norm": 0.1, "seed": 0}
    with (
        nr.Study.create("s.db", np.linspace(0, 1, 40), "gpucb", **options) as study,
        pytest.warns(RuntimeWarning, match="contradict"),
    ):
        study.run(lambda x: 3 + np.sin(9 * x[0]), 30)
    said = noregret("best", "s.db").stderr
    assert "contradict the noise, norm or kernel given" in " ".join(said.split())


def test_how_many_can_still_be_the_best_is_said_where_it_is_known(told, monkeypatch):
    monkeypatch.setattr(nr.GPUCB, "alive", property(lambda self: 17))
    words = "17 of 120 can still be the best"
    assert words in noregret("status", told).stdout
    assert words in noregret("best", told).stderr
    assert json.loads(noregret("status", told, "--json").stdout)["alive"] == 17
    assert json.loads(noregret("best", told, "--json").stdout)["alive"] == 17


def test_a_report_of_a_study_on_a_box(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with nr.Study.create("b.db", nr.Box([(0, 1)]), "gpucb", kernel=nr.RBF(0.3), seed=0) as study:
        study.run(lambda x: float(x[0]), 5)
    noregret("report", "b.db", "-o", "b.html")
    assert 'aria-label="Slice along x0"' in (tmp_path / "b.html").read_text()
    assert "x0" in noregret("best", "b.db").stdout


def test_what_was_measured_stands_beside_the_model(db):
    with nr.Study.open(db) as study:
        study.tell_history([3] * 10, [112.0] * 9 + [113.0])
        study.tell_history(range(20, 40), np.zeros(20))
    status = json.loads(noregret("status", db, "--json").stdout)
    assert (status["best"]["evaluations"], status["best"]["median"]) == (10, 112.0)
    assert status["best"]["measured"] == pytest.approx(112.1)
    (best,) = json.loads(noregret("best", db, "--json").stdout)["best"]
    assert (best["evaluations"], best["measured"], best["median"]) == (
        10,
        pytest.approx(112.1),
        112,
    )
    assert "30 told (30 of them imported), 0 pending, 0 failed" in noregret("status", db).stdout
    shown = noregret("best", db)
    assert "cmp003" in shown.stdout
    assert " id " not in shown.stdout


def test_a_contradiction_is_said_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = np.linspace(0, 1, 50)
    with nr.Study.create(
        "a.db", points, "gpucb", kernel=nr.RBF(0.3, variance=1.0), noise=5.0, width=1.0, seed=0
    ) as study:
        study.tell_history([7] * 10, [112.0] * 10)
        study.tell_history(range(20, 40), np.zeros(20))
    for command in ("status", "best"):
        said = " ".join(noregret(command, "a.db").stderr.split())
        assert "Warning: 7 was measured 10 times, mean 112, median 112, and the model says" in said
        assert "--kernel auto" in said
        assert json.loads(noregret(command, "a.db", "--json").stdout)["warnings"]


def test_check_says_what_is_damaged(db):
    noregret("ask", db, "-n", 3)
    assert "All checksums hold: 3 trials" in noregret("check", db).stderr
    assert json.loads(noregret("check", db, "--json").stdout)["ok"] is True
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.execute("UPDATE trials SET id = 7 WHERE number = 1")
        connection.commit()
    said = noregret("check", db, code=4).stderr
    assert "1 trials are missing or have changed: 1." in said
    assert "--salvage" in said
    found = json.loads(noregret("check", db, "--json", code=4).stdout)
    assert (found["ok"], found["damaged"], found["trials"]) == (False, [1], 3)
