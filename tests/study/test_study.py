"""Studies: questions, answers, failures, readers and writers."""

import threading

import numpy as np
import pytest
from studies import X, evaluate, f, new

import noregret as nr
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


def test_trials_are_got_by_their_numbers(path):
    with new(path) as study:
        asked = [int(study.ask(1).ids[0]) for _ in range(3)]
        assert study.get(1).ids.tolist() == asked[1:2]
        assert study.get([2, 0]).ids.tolist() == [asked[2], asked[0]]
        assert len(study.get([])) == 0
        for numbers, error, words in (
            ([1, 1], ValueError, "trials must all be different; 1 comes twice"),
            ("1", TypeError, "trials must be the numbers of trials, got '1'"),
            (7, nr.StudyError, "there is no trial 7"),
        ):
            with pytest.raises(error, match=words):
                study.get(numbers)


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
