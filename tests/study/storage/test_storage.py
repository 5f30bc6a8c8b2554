"""What a study's file holds, read and written."""

import pytest

from noregret.study.storage import sql
from noregret.study.storage import storage as stored
from noregret.study.storage.file import StudyFile
from noregret.study.trials import Trial


@pytest.fixture
def storage(tmp_path):
    file = StudyFile.create(tmp_path / "a.db", {"direction": "maximize"}, {"start": b"abc"})
    with file.transaction():
        yield file.storage
    file.close()


def test_a_new_file_says_what_it_is(storage):
    assert storage.marks() == (sql.APPLICATION, sql.FORMAT)
    assert storage.settings() == {"direction": "maximize"}
    assert storage.get_blob("start") == b"abc"
    assert storage.get_blob("none") is None
    assert storage.problems() == []
    assert [event.kind for event in storage.events()] == ["created"]


def test_trials_are_found_by_what_happened_to_them(storage):
    ask = storage.add_operation("ask", 3, {"size": 3})
    assert storage.add_trials(ask, [(5, None), (7, None), (5, None)], "ask") == [0, 1, 2]
    for number, value, reason in [(2, 0.5, None), (0, 1.5, None), (1, None, "spilt")]:
        operation = storage.add_operation("tell" if reason is None else "fail")
        storage.end_trials(operation, storage.find_trials([number]), [value], reason)
    history = storage.add_operation("history")
    assert storage.add_trials(history, [(9, None)], "history", [2.5]) == [3]
    run = storage.add_operation("ask", None, {"size": 1})
    assert storage.add_trials(run, [(-1, b"point")], "run") == [4]

    assert [trial.number for trial in storage.trials_asked_by(ask)] == [0, 1, 2]
    assert [trial.number for trial in storage.trials_done_by(history)] == [3]
    assert [trial.number for trial in storage.find_trials([3, 9, 1])] == [3, 1]
    (failed,) = storage.find_trials([1])
    assert (failed.status, failed.reason) == ("failed", "spilt")
    (pending,) = storage.pending_trials()
    assert pending.packed == (-1, b"point")
    head = storage.head()
    assert (head.pending, head.told, head.failed, head.history) == (1, 3, 1, 1)
    (columns,) = storage.trial_chunks()
    assert [Trial(*row).value for row in zip(*columns, strict=True)] == [1.5, None, 0.5, 2.5, None]


def test_operations_are_numbered_and_read_in_order(storage):
    assert storage.head().operation == 0
    assert storage.last_ask() is None
    for kind, info in [("ask", {"best": {"t": 0}}), ("tell", None), ("ask", {"best": {"t": 8}})]:
        storage.add_operation(kind, info=info)
    assert [one.kind for one in storage.operations(after=1)] == ["tell", "ask"]
    assert storage.last_ask().info == {"best": {"t": 8}}
    assert storage.head().noted == 8


def test_trials_of_a_run_are_never_overdue(storage):
    operation = storage.add_operation("ask", 1)
    storage.add_trials(operation, [(0, None)], "ask")
    storage.add_trials(operation, [(0, None)], "run")
    now = storage.find_trials([0])[0].given_at
    assert [trial.number for trial in storage.overdue_trials(now + 1)] == [0]
    assert storage.overdue_trials(now) == []
    storage.reassign_trial(*storage.find_trials([0]))
    assert storage.find_trials([0])[0].times_given == 2


def test_long_bytes_are_stored_in_parts(storage, monkeypatch):
    monkeypatch.setattr(stored, "_LARGEST_PART", 4)
    storage.put_blob("long", b"0123456789")
    assert storage.get_blob("long") == b"0123456789"
    storage.put_blob("long", b"")
    assert storage.get_blob("long") == b""


def test_two_snapshots_are_kept(storage):
    for _ in range(12):
        storage.add_operation("tell")
    for operation in (3, 8, 12):
        storage.put_snapshot(operation, b"%d" % operation)
    assert storage.snapshots() == [12, 8]
    assert storage.get_snapshot(12) == b"12"
    assert storage.get_snapshot(3) == b""
