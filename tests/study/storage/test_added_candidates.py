"""Candidates that are added to a study, and plates of studies."""

import io

import numpy as np
import polars as pl
import pytest

import noregret as nr

X = np.random.default_rng(0).uniform(size=(60, 2))
MORE = np.random.default_rng(1).uniform(size=(9, 2))
OPTIONS = {"kernel": nr.RBF(0.3), "noise": 0.1, "norm": 4.0, "seed": 0}


def f(ids):
    return np.sin(5 * np.concatenate([X, MORE])[ids, 0])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


def play(study, rounds):
    for _ in range(rounds):
        plate = study.ask(6)
        study.tell(plate, f(plate.ids))


def test_added_candidates_are_replayed(path):
    """A study that is opened again asks what one asks that was never closed, and its optimiser."""
    with nr.Study.create(path, X, "bbkb", repeats=1, **OPTIONS) as study:
        plain = nr.BBKB(X, repeats=1, **OPTIONS)
        play(study, 2)
        assert study.add(MORE) == range(60, 69)
        play(study, 1)
    for i in range(3):
        plate = plain.ask(6, fill=True)
        plain.tell(plate, f(plate.ids))
        if i == 1:
            plain.add_candidates(MORE)
    with nr.Study.open(path) as study:
        assert study.size == 69
        for _ in range(3):
            trials, batch = study.ask(6), plain.ask(6, fill=True)
            assert trials.ids.tolist() == batch.ids.tolist()
            study.tell(trials, f(trials.ids))
            plain.tell(batch, f(batch.ids))


def test_a_reader_sees_what_the_writer_adds(path):
    names = [f"c{i}" for i in range(60)]
    table = pl.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    with nr.Study.create(path, X, "bbkb", names=names, table=table, **OPTIONS) as study:
        with nr.Study.open(path, read_only=True) as reader:
            assert reader.optimizer.t == 0
            new = [f"d{i}" for i in range(9)]
            study.add(MORE, names=new, table=pl.DataFrame({"x": MORE[:, 0], "y": MORE[:, 1]}))
            assert len(reader.optimizer.domain) == reader.size == 69
            assert reader.names.to_list() == names + new
        play(study, 2)
        study.tell(study.ask(1), failed="spilt")
        study.tell([0], [0.5], overwrite=True)  # everything is told anew, to the whole list
        assert study.size == 69


def test_names_must_be_new(path):
    with nr.Study.create(path, X, "bbkb", names=[f"c{i}" for i in range(60)], **OPTIONS) as study:
        for names, words in ((["c3"] * 9, "twice"), ([f"c{i}" for i in range(9)], "already")):
            with pytest.raises(ValueError, match=words):
                study.add(MORE, names=names)
        with pytest.raises(ValueError, match="names must be given"):
            study.add(MORE)
        assert study.size == 60


def test_the_end_is_clear(path):
    with nr.Study.create(path, X, "bbkb", repeats=1, **OPTIONS) as study:
        assert study.run(lambda x: float(x[0]), 500) == "exhausted"
        assert study.exhausted
        assert study.counts()["told"] == 60
        assert len(study.ask(5)) == len(study.ask()) == 0


def test_the_rule_that_ends_a_run_is_named(path):
    with nr.Study.create(path, X, "bbkb", **OPTIONS) as study:
        assert study.enough(patience=1) is None
        assert study.run(lambda x: float(np.sin(5 * x[0])), 300, patience=40) == "patience"
        assert study.enough(target=-2.0) == "target"
        assert study.enough(stop_gap=100.0) == "gap"
        assert study.enough(target=5.0, stop_gap=0.0) is None


def test_what_was_measured_of_the_best(path):
    with nr.Study.create(path, X, "bbkb", direction="minimize", aim=3, **OPTIONS) as study:
        play(study, 3)
        frame, trials = study.top(3), study.trials()
        for row in frame.iter_rows(named=True):
            values = trials.filter(pl.col("id") == row["id"])["value"]
            assert row["evaluations"] == len(values)
            np.testing.assert_allclose(row["measured"], values.mean())


def test_frames_are_added_by_the_names_of_their_columns(path):
    frame = pl.DataFrame({"t": [1.0, 2.0], "s": ["thf", "dmf"]})
    with nr.Study.create(path, frame, **OPTIONS) as study:
        with pytest.raises(ValueError, match="got water"):
            study.add(pl.DataFrame({"t": [4.0, 5.0], "s": ["water", "dmf"]}))
        assert study.size == 2
        assert study.add(pl.DataFrame({"s": ["dmf", "thf"], "t": [5, 6]})) == range(2, 4)
        points = study.domain.points.tolist()
        assert points[2:] == [[5, 1, 0], [6, 0, 1]]
        assert study.run(lambda row: row["t"] / 10, 3) == "budget"
    with nr.Study.open(path) as study:
        assert study.domain.points.tolist() == points
        study.run(lambda row: row["t"] / 10 + (row["s"] == "thf"), 9)
        assert study.best().point in [{"t": 1.0, "s": "thf"}, {"t": 6.0, "s": "thf"}]
        assert study.counts()["failed"] == 0


def test_rows_that_an_older_version_added_to_a_frame_get_dicts(path):
    """It stored the coordinates alone."""
    with nr.Study.create(path, pl.DataFrame({"a": [1.0, 2.0]}), **OPTIONS) as study:
        study.add(np.array([[3.0]]))
        stored = io.BytesIO()
        np.save(stored, np.array([[3.0]]))
        storage, operation = study._log.storage, study.operations()["operation"].to_list()[-1]
        with study._log.file.transaction():
            storage.put_blob(f"added/{operation}", stored.getvalue())
    with nr.Study.open(path) as study:
        assert study.domain.frame.rows() == [(1.0,), (2.0,), (3.0,)]
