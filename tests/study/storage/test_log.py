"""Operations on a study: what they do to its optimiser and to what is pending."""

import time

import numpy as np
import pytest
from studies import X, evaluate, new

import noregret as nr


def test_overwriting_is_as_if_the_new_answer_had_been_told(path):
    study = new(path, algorithm="gpucb")
    for _ in range(4):
        evaluate(study, study.ask(3))
    pending = study.ask(2)
    study.tell(1, 9.0, overwrite=True)
    ids, values = study.trials()["id"].to_numpy(), study.trials()["value"].to_list()
    told = [i for i, value in enumerate(values) if value is not None and i != 1] + [1]
    fresh = nr.GPUCB(X, nr.RBF(0.3), noise=0.1, width="practical", seed=3)
    fresh.tell(ids[told], np.array(values)[told].astype(float))
    mean, deviation = study.optimizer.predict(pending=False)  # nobody asked `fresh` for the two
    assert mean == pytest.approx(fresh.predict()[0], abs=1e-9)
    assert deviation == pytest.approx(fresh.predict()[1], abs=1e-6)
    study.close()
    with nr.Study.open(path) as again:
        assert again.pending() == pending.numbers.tolist()
        assert again.trials()["value"][1] == 9.0
        again.tell(0, failed="it was wrong", overwrite=True)
        assert again.counts() == {"pending": 2, "told": len(ids) - 3, "failed": 1, "history": 0}
        assert again.optimizer.t == len(ids) - 3


def test_failed_trials_are_no_data_and_not_pending(path):
    study = new(path, algorithm="gpucb")
    first = study.ask(3)
    study.tell(first[:2], failed="spilt")
    assert study.optimizer.pending == 1
    assert study.optimizer.t == 0
    assert study.trials()["status"].to_list() == ["failed", "failed", "pending"]
    assert study.trials()["reason"].to_list() == ["spilt", "spilt", None]
    study.tell(first[:2], failed="spilt")
    evaluate(study, first[2])
    assert study.optimizer.t == 1


def test_history_counts_as_data_and_leaves_pending_trials_pending(path):
    study = new(path, algorithm="gpucb")
    asked = study.ask(2)
    study.tell_history([int(asked.ids[0]), 7, 7], [1.0, 2.0, 2.5])
    assert study.optimizer.t == 3
    assert study.optimizer.pending == 2
    study.tell(asked[0], failed="lost")
    study.close()
    with nr.Study.open(path) as again:
        assert again.optimizer.t == 3
        assert again.optimizer.pending == 1
        assert again.trials()["origin"].to_list() == ["ask"] * 2 + ["history"] * 3


def test_overdue_trials_are_given_to_whoever_asks_next(path, monkeypatch):
    study = new(path, algorithm="gpucb", timeout=60)
    first = study.ask(3)
    study.tell(first[1], 1.0)
    now = time.time()
    assert study.ask(1).numbers.tolist() == [3]
    monkeypatch.setattr("noregret.study.storage.log.time.time", lambda: now + 61)
    assert study.ask(3).numbers.tolist() == [0, 2, 3]
    assert study.ask(1).numbers.tolist() == [4]
    assert study.events()["event"].to_list().count("reassigned") == 3
