"""Regret by evaluations, from frames, results and arrays."""

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.reporting.curves import curves_of

X = np.random.default_rng(0).uniform(size=(20, 2))


def result(seed, budget):
    options = {"noise": 0.1, "seed": seed, "progress": False, "optimum": 2.0}
    return nr.maximize(lambda x: float(x[0]), X, budget, **options)


@pytest.mark.parametrize(
    ("kind", "total"), [("simple", np.minimum.accumulate), ("regret", np.cumsum)]
)
def test_results_are_cut_to_the_shortest_run(kind, total):
    runs = [result(0, 6), result(1, 4)]
    name = type(runs[0].algorithm).__name__
    expected = [total(2.0 - run.algorithm.history.points[:4, 0]) for run in runs]
    for given, called in ((runs, name), ({"ours": runs}, "ours")):
        (found,) = curves_of(given, kind).values()
        assert list(curves_of(given, kind)) == [called]
        np.testing.assert_array_equal(found.t, [1, 2, 3, 4])
        np.testing.assert_allclose(found.values, expected)
    (alone,) = curves_of(runs[0], kind).values()
    assert alone.values.shape == (1, 6)


def test_frames_have_a_row_for_each_seed_in_the_order_of_evaluations():
    t, seeds = [20, 3, 100, 3, 20, 100], [1, 1, 1, 0, 0, 0]
    frame = pl.DataFrame({"algorithm": "b", "seed": seeds, "t": t, "simple": [2.0, 1, 3, 4, 5, 6]})
    first = frame.with_columns(algorithm=pl.lit("z"), simple=-pl.col("simple"))
    found = curves_of(pl.concat([first, frame]), "simple")
    assert list(found) == ["z", "b"]
    np.testing.assert_array_equal(found["b"].t, [3, 20, 100])
    assert found["b"].values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert found["z"].values.tolist() == [[-1, -2, -3], [-4, -5, -6]]


@pytest.mark.parametrize("given", [[3.0, 2.0, 1.0], [[3.0, 2.0, 1.0]]])
def test_arrays_are_runs_by_evaluations(given):
    found = curves_of({"ours": given}, "simple")["ours"]
    assert found.values.tolist() == [[3.0, 2.0, 1.0]]
    assert found.t.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("runs", "error", "words"),
    [
        ([], TypeError, "runs must be what compare"),
        (3.0, TypeError, r"got 3\.0"),
        ({"a": np.zeros((2, 0))}, ValueError, "'a' must be an array of runs × evaluations"),
        ({"a": np.zeros((2, 2, 2))}, ValueError, "'a' must be an array"),
        (pl.DataFrame({"algorithm": ["a"], "t": [1], "seed": [0]}), ValueError, "'regret'"),
    ],
)
def test_what_is_no_run_is_refused(runs, error, words):
    with pytest.raises(error, match=words):
        curves_of(runs, "regret")


def test_results_need_an_optimum():
    run = nr.maximize(lambda x: float(x[0]), X, 3, seed=0, progress=False)
    with pytest.raises(ValueError, match="need optimum="):
        curves_of(run, "simple")
