"""Studies whose log or file is not what it should be."""

import os
import sqlite3

import numpy as np
import pytest
from studies import evaluate, new

import noregret as nr
from noregret.study import StudyError, replay
from noregret.study.salvage import salvage


def test_a_log_that_cannot_be_replayed_is_rebuilt_with_a_warning(path):
    """As after an upgrade whose round-off differs: nothing told is lost, and it goes on."""
    study = new(path)
    for _ in range(4):
        evaluate(study, study.ask(2))
    study.ask(2)
    study.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE trials SET id = (id + 1) % 60 WHERE trial = 2")
    connection.commit()
    connection.close()
    with pytest.warns(RuntimeWarning, match="other questions"):
        again = nr.Study.open(path)
    with again:
        assert again.optimizer.t == again.counts()["told"]
        assert again.optimizer.pending == again.counts()["pending"]
        evaluate(again, again.ask(2))
        following = again.optimizer.t
    with nr.Study.open(path) as third:  # without a warning
        assert third.optimizer.t == following
        assert "rebuilt" in third.events()["event"].to_list()


def damage(path, pages):
    """Overwrite some pages of the file."""
    size = 4096
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * size)
            file.write(os.urandom(size))


def filled(path, n=400):
    study = new(path, algorithm="uniform", names=[f"c{i}" for i in range(60)])
    for _ in range(n // 10):
        study.tell(study.ask(10), np.arange(10.0))
    study.close()
    return n


def pages_of(path, table):
    connection = sqlite3.connect(path)
    try:
        query = "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
        return [row[0] for row in connection.execute(query, (table,))]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no dbstat to find a table's pages with")
    finally:
        connection.close()


def test_a_damaged_table_is_refused_and_the_rest_is_saved(path):
    n = filled(path)
    pages = pages_of(path, "trials")
    damage(path, pages[1:3])
    with pytest.raises(StudyError, match=r"damaged.*noregret export .* --salvage"):
        nr.Study.open(path)
    saved = salvage(path)
    assert saved.problems
    numbers = saved.trials["trial"].to_list()
    assert len(numbers) > n / 2
    assert sorted(numbers + saved.lost) == list(range(n))
    assert saved.trials["value"].to_list() == [number % 10 for number in numbers]
    assert saved.trials["name"].to_list() == [f"c{id_}" for id_ in saved.trials["id"]]


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


def test_a_file_that_is_no_database(path):
    path.write_bytes(os.urandom(8192))
    with pytest.raises(StudyError, match="not a study"):
        nr.Study.open(path)
    with pytest.raises(StudyError, match="Nothing can be saved"):
        salvage(path)
