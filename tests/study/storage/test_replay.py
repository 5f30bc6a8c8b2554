"""Optimisers made again from the file."""

import sqlite3

import pytest
from studies import X, evaluate, f, new

import noregret as nr
from noregret.study.storage import replay
from noregret.study.storage.checksums import trial_sums
from noregret.study.storage.file import StudyFile


@pytest.mark.parametrize("algorithm", ["bbkb", "gpucb"])
def test_reopened_after_every_call_asks_the_same(path, tmp_path, algorithm, monkeypatch):
    monkeypatch.setattr(replay, "_ASKS", 4)
    whole = new(tmp_path / "whole.db", algorithm=algorithm)
    new(path, algorithm=algorithm).close()
    for step in range(11):
        asked = whole.ask(3)
        with nr.Study.open(path) as study:
            again = study.ask(3)
        assert again.ids.tolist() == asked.ids.tolist()
        for part in (slice(1, None), slice(0, 1)):
            if not len(asked[part]):
                continue
            if step == 5:
                whole.tell(asked[part], failed="broken")
                with nr.Study.open(path) as study:
                    study.tell(again[part], failed="broken")
            else:
                evaluate(whole, asked[part])
                with nr.Study.open(path) as study:
                    evaluate(study, again[part])
    with nr.Study.open(path) as study:
        assert replay.dump(study.optimizer, candidates=True) == replay.dump(
            whole.optimizer, candidates=True
        )
        columns = ["trial", "id", "value", "status", "reason"]
        assert study.trials().select(columns).equals(whole.trials().select(columns))


def test_a_log_that_cannot_be_replayed_is_rebuilt_with_a_warning(path):
    """As after an upgrade whose round-off differs: nothing told is lost, and it goes on."""
    study = new(path)
    for _ in range(4):
        evaluate(study, study.ask(2))
    study.ask(2)
    study.close()
    file = StudyFile.open(path, write=True)
    with file.transaction():
        file.execute("DELETE FROM blobs WHERE name LIKE 'snapshot/%'")
        row = file.execute("SELECT * FROM trials WHERE number = 2")[0]
        other = (row[0], (row[1] + 1) % 60, *row[2:-1])
        (new_sum,) = trial_sums([(field,) for field in other]).tolist()
        file.execute("UPDATE trials SET id = ?, sum = ? WHERE number = 2", (other[1], new_sum))
    file.close()
    again = nr.Study.open(path)
    with pytest.warns(RuntimeWarning, match="other questions"):
        assert again.optimizer.t > 0
    with again:
        assert again.optimizer.t == again.counts()["told"]
        assert again.optimizer.pending == again.counts()["pending"]
        evaluate(again, again.ask(2))
        following = again.optimizer.t
    with nr.Study.open(path) as third:  # without a warning
        assert third.optimizer.t == following
        assert "rebuilt" in third.events()["event"].to_list()


def test_answers_are_written_without_an_optimiser(path, tmp_path, monkeypatch):
    """Told by processes that only tell: the same as told by the one that asked."""
    whole = new(tmp_path / "whole.db")
    new(path).close()
    for _ in range(4):
        asked = whole.ask(3)
        evaluate(whole, asked)
        with nr.Study.open(path) as study:
            assert study.ask(3).ids.tolist() == asked.ids.tolist()
        with monkeypatch.context() as patched, nr.Study.open(path) as study:
            patched.setattr(replay, "restore", None)
            study.tell(study.pending(), [f(x) for x in asked.points])
    with nr.Study.open(path) as study:
        assert replay.dump(study.optimizer, candidates=True) == replay.dump(
            whole.optimizer, candidates=True
        )


def test_a_study_that_was_closed_is_opened_without_replay(path, monkeypatch):
    with new(path) as study:
        for _ in range(3):
            evaluate(study, study.ask(2))
        study.ask(2)
        before = replay.dump(study.optimizer, candidates=True)
    monkeypatch.setattr(nr.BBKB, "ask", None)
    with nr.Study.open(path) as again:
        assert replay.dump(again.optimizer, candidates=True) == before


def test_a_damaged_snapshot_is_replaced_by_the_log(path, monkeypatch):
    monkeypatch.setattr(replay, "_ASKS", 3)
    study = new(path)
    for _ in range(10):
        evaluate(study, study.ask(2))
    before = replay.dump(study.optimizer, candidates=True)
    study.close()
    connection = sqlite3.connect(path)
    names = connection.execute("SELECT name FROM blobs WHERE name LIKE 'snapshot/%'").fetchall()
    assert len(names) == 2
    connection.execute(
        "UPDATE blobs SET data = zeroblob(length(data)) WHERE name LIKE 'snapshot/%'"
    )
    connection.commit()
    connection.close()
    with nr.Study.open(path) as again:
        assert replay.dump(again.optimizer, candidates=True) == before


def test_a_rebuilt_study_knows_its_uniform_draws(path):
    """Settings are fitted to uniform draws: where those are forgotten, a new design is drawn."""
    options = {"kernel": "auto", "noise": "auto", "norm": "auto", "width": 2.0}
    with nr.Study.create(path, X, "gpucb", seed=0, **options) as study:
        while "fit" not in {event["event"] for event in study.optimizer.events}:
            evaluate(study, study.ask(4))
        last = study.ask(2)
        evaluate(study, last)
        before = study.optimizer.assumed
        study.tell(last[:1], study.trials()["value"][-2] + 1e-9, overwrite=True)
        after = study.optimizer.assumed  # of a fresh optimiser that was told everything
    assert after.kernel.lengthscale == pytest.approx(before.kernel.lengthscale, rel=0.5)
    assert after.noise == pytest.approx(before.noise, rel=0.5)
