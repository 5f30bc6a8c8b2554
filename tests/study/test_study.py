"""Studies: questions, answers, failures, readers and writers."""

import threading
import time

import numpy as np
import pytest
from studies import X, evaluate, f, new

import noregret as nr
from noregret.study import StudyError
from noregret.study.storage import replay


def test_asks_what_the_optimiser_would(path):
    study = new(path)
    plain = nr.BBKB(X, nr.RBF(0.3), noise=0.1, width="practical", seed=3)
    for _ in range(12):
        trials, batch = study.ask(), plain.ask()
        assert trials.ids.tolist() == batch.ids.tolist()
        assert np.array_equal(trials.points, batch.points)
        evaluate(study, trials)
        plain.tell(batch, [f(x) for x in batch.points])
    ours, theirs = study.best(), plain.recommend()
    assert (ours.id, ours.mean, ours.gap) == (theirs.id, theirs.mean, theirs.gap)
    assert study.trials()["value"].to_list() == plain.history.rewards.tolist()


def test_a_study_says_what_it_is(path):
    with new(path) as study:
        assert repr(study) == f"Study({str(path)!r}, Candidates({len(X)} × {X.shape[1]}), 'bbkb')"


def test_learns_in_a_study_what_it_learns_without_one(path):
    options = {"kernel": "auto", "noise": "auto", "norm": "auto", "width": "practical", "seed": 3}
    plain = nr.BBKB(X, **options)
    study = nr.Study.create(path, X, "bbkb", **options)
    for _ in range(12):
        batch, trials = plain.ask(4, fill=True), study.ask(4)
        assert trials.ids.tolist() == batch.ids.tolist()
        values = [100 + 7 * f(x) for x in batch.points]
        plain.tell(batch, values)
        study.tell(trials, values)
        study.close()
        study = nr.Study.open(path)
    seen = study.optimizer
    units = [(opt.assumed.shift, opt.assumed.unit) for opt in (seen, plain)]
    assert units[0] == units[1] != (0.0, 1.0)
    assert (seen.lam, seen.noise, repr(seen.kernel)) == (plain.lam, plain.noise, repr(plain.kernel))
    assert study.best() == plain.recommend()
    study.close()


def test_looking_changes_no_question(path, tmp_path):
    looked, plain = new(path), new(tmp_path / "b.db")
    for _ in range(8):
        a, b = looked.ask(2), plain.ask(2)
        assert a.ids.tolist() == b.ids.tolist()
        for study, trials in ((looked, a), (plain, b)):
            evaluate(study, trials)
        looked.best()
        looked.top(3)
        looked.optimizer.predict()
        looked.optimizer.predict_points(np.array([[0.5, 0.5]]))
        looked.trials()


def test_telling_again_changes_nothing_and_another_value_is_refused(path):
    study = new(path)
    trials = study.ask(1)
    study.tell(trials, 1.5)
    operations = len(study.operations())
    study.tell(trials, 1.5)
    study.tell([0], [1.5])
    assert len(study.operations()) == operations
    with pytest.raises(StudyError, match=r"trial 0 has been told 1\.5 already.*overwrite=True"):
        study.tell(trials, 2.0)
    with pytest.raises(StudyError, match="trial 0 has been told"):
        study.tell(trials, failed="no")
    assert study.trials()["value"].to_list() == [1.5]


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


def test_minimising_mirrors_maximising(path, tmp_path):
    up, down = new(path), new(tmp_path / "b.db", direction="minimize")
    for _ in range(6):
        a, b = up.ask(2), down.ask(2)
        assert a.ids.tolist() == b.ids.tolist()
        values = [f(x) for x in a.points]
        up.tell(a, values)
        down.tell(b, [-value for value in values])
    high, low = up.best(), down.best()
    assert (low.id, low.mean, low.lower, low.upper) == (
        high.id,
        -high.mean,
        -high.upper,
        -high.lower,
    )
    assert low.gap == high.gap
    assert down.trials()["value"].to_list() == [-v for v in up.trials()["value"]]


def test_a_prior_mean_shifts_values_and_nothing_else(path, tmp_path):
    plain, high = new(path), new(tmp_path / "b.db", prior_mean=64.0)
    for _ in range(6):
        a, b = plain.ask(2), high.ask(2)
        assert a.ids.tolist() == b.ids.tolist()
        values = np.round([f(x) for x in a.points], 3)
        plain.tell(a, values)
        high.tell(b, values + 64)
    assert high.best().lower == pytest.approx(plain.best().lower + 64)
    assert high.best().gap == pytest.approx(plain.best().gap)


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


def test_readers_follow_a_writer(path, monkeypatch):
    """Many readers while the writer tells, overwrites and takes snapshots: each sees a prefix."""
    monkeypatch.setattr(replay, "_ASKS", 3)
    study = new(path)
    evaluate(study, study.ask(2))
    stop, seen, errors = threading.Event(), [], []

    def read():
        try:
            with nr.Study.open(path, read_only=True) as reader:
                while not stop.is_set():
                    t = reader.optimizer.t
                    assert np.isfinite(reader.best().mean)
                    frame = reader.trials()
                    assert frame["trial"].to_list() == list(range(len(frame)))
                    seen.append(t)
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for step in range(25):
        evaluate(study, study.ask(2))
        if step == 12:
            study.tell(0, 3.0, overwrite=True)
    stop.set()
    for reader in readers:
        reader.join()
    assert not errors
    assert seen
    with nr.Study.open(path, read_only=True) as reader:
        assert reader.optimizer.t == study.optimizer.t


def test_box_studies_store_points(tmp_path):
    box = nr.Box({"a": (0.0, 1.0), "b": (-2.0, 2.0)})
    study = nr.Study.create(
        tmp_path / "a.db", box, "uniform", kernel=nr.RBF(0.5), noise=0.1, width=1.0, seed=1
    )
    seen = []
    study.run(lambda point: seen.append(point) or point["a"] - point["b"] ** 2, budget=5)
    study.ask(2)
    study.close()
    with nr.Study.open(tmp_path / "a.db") as again:
        frame = again.trials()
        assert frame.columns[:4] == ["trial", "id", "a", "b"]
        assert frame["a"].to_list()[:5] == [point["a"] for point in seen]
        assert again.optimizer.pending == 2
        further = again.ask(1).points
        assert not np.isclose(frame["a"].to_numpy(), further[0, 0]).any()
        again.tell_history([[0.5, 0.0], [0.5, 0.0]], [9.0, 9.0])
        top = again.top(2)
        assert top.select("a", "b", "evaluations").row(0) == (0.5, 0.0, 2)
        assert top["lower"][0] >= top["lower"][1]
        assert again.name_of(-1, np.array([0.5, 0.0])) == "0.5, 0"


@pytest.mark.parametrize("settings", [{"kernel": nr.RBF(0.5)}, {"kernel": "auto", "noise": "auto"}])
def test_studies_on_a_box_go_on_with_bbkb(tmp_path, settings):
    box = nr.Box({"a": (-1, 1), "b": (0, 2)})
    settings = {"noise": 0.1, "width": 2.0, "seed": 0} | settings

    def value(point):
        return 1.0 - point["a"] ** 2 - (point["b"] - 1) ** 2

    whole = nr.Study.create(tmp_path / "whole.db", box, "bbkb", **settings)
    whole.run(value, budget=24)
    path = tmp_path / "parts.db"
    nr.Study.create(path, box, "bbkb", **settings).close()
    for budget in (12, 24):
        with nr.Study.open(path) as study:
            study.run(value, budget=budget)
    with nr.Study.open(path) as study:
        assert study.trials()["value"].to_list() == whole.trials()["value"].to_list()
        assert value(study.best().point) > 0.8


def test_strings_and_a_kernel_of_ones_own(tmp_path):
    words = ["cat", "cart", "dog", "dot", "carton"]

    def same_letters(xs, ys):
        return np.array(
            [[len(set(x) & set(y)) / np.sqrt(len(set(x)) * len(set(y))) for y in ys] for x in xs]
        )

    path = tmp_path / "w.db"
    study = nr.Study.create(path, words, "gpucb", kernel=same_letters, norm=20, seed=0)
    evaluated = []
    study.run(lambda word: evaluated.append(word) or float(len(word)), budget=6)
    assert set(evaluated) <= set(words)
    study.close()
    with pytest.raises(ValueError, match="callable"):
        nr.Study.open(path)
    with nr.Study.open(path, kernel=same_letters) as again:
        assert again.best().point in words


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.tell(0, float("nan")), ValueError, "finite"),
        (lambda s: s.tell(99, 1.0), ValueError, "no trial 99"),
        (lambda s: s.tell([0, 0], [1.0, 1.0]), ValueError, "0 comes twice"),
        (lambda s: s.tell([0, 1], [1.0]), ValueError, "2 numbers"),
        (lambda s: s.tell(0.5, 1.0), TypeError, "numbers of trials"),
        (lambda s: s.tell(0), ValueError, "either values or failed"),
        (lambda s: s.tell(0, 1.0, failed="x"), ValueError, "either values or failed"),
        (lambda s: s.tell(0, failed=True), TypeError, "in words"),
        (lambda s: s.tell([0, 99], [1.0, 2.0]), ValueError, "no trial 99"),
        (lambda s: s.tell_history([60], [1.0]), ValueError, r"0\.\.59"),
        (lambda s: s.ask(0), ValueError, "at least 1"),
    ],
)
def test_bad_input_changes_nothing(path, call, error, message):
    study = new(path, algorithm="gpucb")
    study.ask(2)
    before = study.trials(), len(study.operations()), replay.dump(study.optimizer, candidates=True)
    with pytest.raises(error, match=message):
        call(study)
    assert study.trials().equals(before[0])
    assert len(study.operations()) == before[1]
    assert replay.dump(study.optimizer, candidates=True) == before[2]


def test_the_constructor_of_a_study_says_what_to_use(tmp_path):
    with pytest.raises(TypeError, match=r"nr\.Study\.create"):
        nr.Study(tmp_path / "a.db")
