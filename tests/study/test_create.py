"""New studies: settings, names and tables are checked before there is a file."""

import datetime
import sqlite3

import numpy as np
import pandas as pd
import pytest
from studies import X, new

import noregret as nr
from noregret.study import StudyError


def test_create_refuses_what_exists_and_bad_settings(path):
    new(path).close()
    with pytest.raises(StudyError, match="exists already"):
        new(path)
    with pytest.raises(ValueError, match="direction must be one of"):
        new(path.with_name("b.db"), direction="up")
    with pytest.raises(FileNotFoundError):
        nr.Study.open(path.with_name("none.db"))
    other = sqlite3.connect(path.with_name("other.db"))
    other.execute("CREATE TABLE a (b)")
    other.close()
    with pytest.raises(StudyError, match="not a noregret study"):
        nr.Study.open(path.with_name("other.db"))


@pytest.mark.parametrize(
    ("domain", "settings", "algorithm"),
    [
        ({"a": (0, 1)}, {}, "trustregionucb"),
        ({"a": (0, 1), "kind": ["x", "y"]}, {}, "trustregionucb"),
        ({"a": (0, 1)}, {"kernel": "auto"}, "trustregionucb"),
        ({"a": (0, 1)}, {"kernel": nr.RBF(0.3)}, "bbkb"),
        ({"a": (0, 1)}, {"algorithm": "BBKB"}, "bbkb"),
        (X, {}, "plateucb"),
        (X, {"kernel": "auto"}, "plateucb"),
        (X, {"kernel": nr.RBF(0.3)}, "bbkb"),
    ],
)
def test_the_algorithm_by_default(path, domain, settings, algorithm):
    with nr.Study.create(path, domain, **settings, seed=0) as study:
        assert study.settings["algorithm"] == algorithm
        learnt = study.settings["kernel"] == "auto"
        expected = ("auto", "auto", 2.0) if learnt else (0.1, 1.0, "theory")
        optimizer = study.optimizer
        assert (optimizer.noise, optimizer.norm, optimizer.width) == expected


def test_a_box_asks_what_minimize_asks(path):
    def f(p):
        return (p["a"] - 0.3) ** 2

    result = nr.minimize(f, {"a": (0, 1)}, 12, seed=0, progress=False)
    settings = {"direction": "minimize", "seed": 0, "horizon": 12}
    with nr.Study.create(path, {"a": (0, 1)}, **settings) as study:
        study.run(f, budget=12)
        assert study.trials()["a"].to_list() == result.to_frame()["a"].to_list()


def test_numbers_of_numpy_are_stored(path):
    settings = {"seed": np.int64(3), "noise": np.float32(0.5), "batch": np.int64(2)}
    settings["about"] = {"plate": np.int64(7), "dry": np.True_}
    with nr.Study.create(path, X, kernel=nr.RBF(0.3), **settings) as study:
        asked = study.ask().ids
    with nr.Study.open(path) as study:
        assert study.settings["about"] == {"plate": 7, "dry": True}
        assert (study.settings["seed"], study.optimizer.noise) == (3, 0.5)
        assert study.get([0, 1]).ids.tolist() == asked.tolist()


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        (
            {"kernel": nr.RBF(0.3), "width": lambda e: 2.0},
            TypeError,
            "width is a function, which no study can store: give a number or a name",
        ),
        ({"algorithm": "bbk"}, ValueError, "got 'bbk'; did you mean 'bbkb'"),
        ({"algorithm": nr.BBKB}, ValueError, "algorithm must be one of .*; write 'bbkb'"),
        ({"nois": 0.1}, TypeError, "PlateUCB has no setting 'nois'; did you mean 'noise'"),
        ({"algorithm": "bbkb", "qbr": 3}, TypeError, "did you mean 'qbar'"),
        ({"temperature": 3}, TypeError, "has no setting 'temperature'; it has domain, kernel,"),
    ],
)
def test_misspelt_settings_are_refused_with_the_nearest(path, settings, error, words):
    with pytest.raises(error, match=words):
        nr.Study.create(path, X, **settings)
    assert not path.exists()


def test_a_table_of_pandas_is_taken_as_one_of_polars(path):
    table = pd.DataFrame(
        {
            "solvent": ["water", None] * 30,
            "weight": [1.5, np.nan] * 30,
            "made": pd.to_datetime(["2020-01-02"] * 60),
            "count": pd.array([1, None] * 30, dtype="Int64"),
            "mixed": [1, "x"] * 30,
            7: pd.Categorical(["a", "b"] * 30),
        },
        index=range(60, 0, -1),
    )
    with new(path, table=table) as study:
        assert study.table.columns == ["solvent", "weight", "made", "count", "mixed", "7"]
        made = datetime.datetime(2020, 1, 2)
        assert study.table.row(0) == ("water", 1.5, made, 1, "1", "a")
        assert study.table.row(1) == (None, None, made, None, "x", "b")
    for wrong in ({"a": [1] * 60}, 3, X):
        with pytest.raises(TypeError, match="table must be a frame of polars or pandas"):
            new(path.with_name("b.db"), table=wrong)
    twice = pd.DataFrame(np.zeros((60, 2)), columns=["a", "a"])
    with pytest.raises(StudyError, match="different names; 'a' comes twice"):
        new(path.with_name("b.db"), table=twice)
    assert not path.with_name("b.db").exists()


@pytest.mark.parametrize("word", ["minimize", "maximize", "goal"])
def test_other_words_for_the_direction_are_answered_with_it(path, word):
    with pytest.raises(TypeError, match="direction='minimize'"):
        nr.Study.create(path, X, **{word: True})
    assert not path.exists()
