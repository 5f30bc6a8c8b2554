"""What a run found: its frame and how it is shown."""

import time

import numpy as np
import polars as pl
import pytest

import noregret as nr


def test_frame_has_a_column_per_parameter():
    box = nr.Box({"a": (0, 1), "b": (-1, 1)})
    result = nr.maximize(lambda x: x["a"] - x["b"] ** 2, box, 5, seed=0, progress=False)
    frame = result.to_frame()
    assert frame.columns == ["trial", "a", "b", "value", "status", "reason"]
    assert frame["value"].to_list() == result.history.rewards.tolist()
    np.testing.assert_array_equal(frame.select("a", "b").to_numpy(), result.history.points)


def test_frame_of_a_list_has_ids():
    X = np.random.default_rng(0).random((20, 2))
    frame = nr.maximize(lambda x: x[0], X, 5, seed=0, progress=False).to_frame()
    assert frame.columns == ["trial", "id", "x0", "x1", "value", "status", "reason"]
    np.testing.assert_array_equal(frame.select("x0", "x1").to_numpy(), X[frame["id"].to_numpy()])


def test_frame_of_objects_has_the_objects():
    given = {"kernel": lambda a, b: np.ones((len(a), len(b))), "noise": 1.0, "norm": 9.0}
    result = nr.maximize(len, ["x", "yy"], 4, seed=0, progress=False, **given)
    frame = result.to_frame()
    assert frame["candidate"].str.len_chars().to_list() == frame["value"].to_list()
    assert result.best.point in ("x", "yy")


@pytest.mark.parametrize("way", [nr.maximize, nr.minimize])
def test_repr_says_what_was_found_and_why_it_ended(way):
    result = way(lambda x: x["a"], {"a": (0, 1)}, 12, seed=0, progress=False)
    lines = repr(result).splitlines()
    assert lines[0] == "Result"
    assert lines[1].startswith(f"  best: {result.best.mean:.6g} (between")
    assert "at {'a':" in lines[1]
    assert lines[2].startswith("  evaluations: 12, in")
    assert lines[2].endswith("by TrustRegionUCB")
    assert lines[3] == "  stopped: budget"
    assert "not proved" in lines[4]
    assert result.best.lower <= result.best.mean <= result.best.upper


def test_frame_of_a_frame_has_its_columns():
    table = pl.DataFrame({"t": np.linspace(0, 1, 20), "kind": ["a", "b"] * 10})
    f = lambda row: row["t"] + (row["kind"] == "a")  # noqa: E731
    frame = nr.maximize(f, table, 12, seed=0, progress=False).to_frame()
    assert frame.columns == ["trial", "id", "t", "kind", "value", "status", "reason"]
    assert frame.select("t", "kind").equals(table[frame["id"].to_list()])


def test_a_grid_keeps_its_names_and_own_columns_come_first():
    grid = nr.Box({"value": (0, 1), "b": (0, 1)}).grid(4)
    frame = nr.maximize(lambda x: x["value"], grid, 5, seed=0, progress=False).to_frame()
    assert frame.columns == ["trial", "id", "value_", "b", "value", "status", "reason"]


def test_no_column_of_a_frame_is_lost_to_another_one():
    box = nr.Box({"value": (0, 1), "value_": (2, 3), "trial": (4, 5), "a": (6, 7)})
    result = nr.maximize(lambda x: x["a"], box, 3, seed=0, progress=False)
    frame = result.to_frame()
    assert frame.columns == [
        *("trial", "value__", "value_", "trial_", "a", "value", "status", "reason"),
    ]
    np.testing.assert_array_equal(frame[:, 1:5].to_numpy(), result.history.points)


def test_a_list_without_more_to_evaluate_is_exhausted():
    result = nr.maximize(lambda x: x[0], np.eye(3), 9, repeats=1, seed=0, progress=False)
    assert (result.stopped, result.evaluations) == ("exhausted", 3)


def test_a_gap_on_a_box_is_certified_with_settings_that_were_given():
    given = {"kernel": nr.RBF(0.5), "noise": 0.1, "norm": 2.0, "seed": 0, "progress": False}
    result = nr.maximize(lambda x: x["a"], {"a": (0, 1)}, 4, algorithm="gpucb", **given)
    assert result.certified
    assert "proved" in repr(result).splitlines()[-1]


def test_the_seconds_of_a_run_count_its_last_recommendation():
    called, times = [], []

    class Timed(nr.RBF):
        def __call__(self, X, Y):
            times.append(time.monotonic())
            return super().__call__(X, Y)

    def f(x):
        called.append(time.monotonic())
        return x[0]

    given = {"kernel": Timed(0.3), "noise": 0.1, "norm": 2.0, "algorithm": "gpucb"}
    result = nr.maximize(f, nr.Box([(0, 1)]), 2, seed=0, progress=False, **given)
    assert times[-1] > called[-1]  # the recommendation uses the kernel
    assert called[0] + result.seconds >= times[-1]
