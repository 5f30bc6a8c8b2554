"""What a study's file holds, on a database in memory."""

import re
import sqlite3
from pathlib import Path

import pytest

from noregret import study
from noregret.study import sql


@pytest.fixture
def storage():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    made = sql.Storage(sql.on(connection))
    made.create({"direction": "maximize"}, {"start": b"abc"})
    yield made
    connection.close()


def test_a_new_file_says_what_it_is(storage):
    assert (storage.application(), storage.format()) == (sql.APPLICATION, sql.FORMAT)
    assert storage.settings() == {"direction": "maximize"}
    assert storage.get_blob("start") == b"abc"
    assert storage.get_blob("none") is None
    assert storage.problems(1) == []
    assert [event.kind for event in storage.events()] == ["created"]


def test_trials_are_found_by_what_happened_to_them(storage):
    ask = storage.add_operation("ask", 3, {"size": 3})
    assert storage.add_trials(ask, [(5, None), (7, None), (5, None)], "ask") == [0, 1, 2]
    late = storage.add_operation("tell")
    storage.end_trial(late, 2, 0.5, None)
    later = storage.add_operation("tell")
    storage.end_trial(later, 0, 1.5, None)
    fail = storage.add_operation("fail")
    storage.end_trial(fail, 1, None, "spilt")
    history = storage.add_operation("history")
    assert storage.add_trials(history, [(9, None)], "history", [2.5]) == [3]
    run = storage.add_operation("ask", None, {"size": 1})
    assert storage.add_trials(run, [(-1, b"point")], "run") == [4]

    assert [trial.number for trial in storage.trials_asked_by(ask)] == [0, 1, 2]
    assert [trial.number for trial in storage.trials_done_by(history)] == [3]
    assert [(trial.number, trial.value) for trial in storage.told_trials()] == [
        (2, 0.5),
        (0, 1.5),
        (3, 2.5),
    ]
    assert (storage.trial(1).status, storage.trial(1).reason) == ("failed", "spilt")
    assert storage.trial(9) is None
    (pending,) = storage.pending_trials()
    assert pending.packed == (-1, b"point")
    assert storage.count_by_status() == {"pending": 1, "told": 3, "failed": 1}
    assert storage.count_history() == 1
    assert storage.largest_number() == storage.largest_number_by_index() == 4
    assert [trial.number for trial in storage.trials_between(1, 3)] == [1, 2, 3]


def test_operations_are_numbered_and_read_in_order(storage):
    assert storage.last_operation() == 0
    assert storage.last_ask() is None
    for kind, info in [("ask", {"best": {"t": 0}}), ("tell", None), ("ask", {"best": {"t": 8}})]:
        storage.add_operation(kind, info=info)
    assert [one.kind for one in storage.operations(after=1)] == ["tell", "ask"]
    assert storage.last_ask().info == {"best": {"t": 8}}
    assert storage.last_best_noted() == 8


def test_trials_of_a_run_are_never_overdue(storage):
    operation = storage.add_operation("ask", 1)
    storage.add_trials(operation, [(0, None)], "ask")
    storage.add_trials(operation, [(0, None)], "run")
    now = storage.trial(0).given_at
    assert [trial.number for trial in storage.overdue_trials(now + 1)] == [0]
    assert storage.overdue_trials(now) == []
    storage.reassign_trial(0)
    assert storage.trial(0).times_given == 2


def test_long_bytes_are_stored_in_parts(storage, monkeypatch):
    monkeypatch.setattr(sql, "_LARGEST_PART", 4)
    storage.put_blob("long", b"0123456789")
    assert storage.get_blob("long") == b"0123456789"
    storage.put_blob("long", b"")
    assert storage.get_blob("long") == b""


def test_two_snapshots_are_kept(storage):
    for operation in (3, 8, 12):
        storage.put_snapshot(operation, b"%d" % operation)
    assert storage.snapshots() == [12, 8]
    assert storage.get_snapshot(12) == b"12"
    assert storage.get_snapshot(3) == b""


def test_no_other_module_speaks_sql():
    words = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE TABLE)\b")
    package = Path(study.__file__).parents[1]
    found = {path.name for path in package.rglob("*.py") if words.search(path.read_text())}
    assert found == {"sql.py"}
