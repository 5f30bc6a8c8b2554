"""Figures of ξ-greedy Thompson sampling: their measures on made-up tables, and known facts."""

import polars as pl
import pytest

from noregret.experiments import ts, ts_runs
from noregret.experiments.registry import find
from noregret.problems.peaks import bimodal


def test_uniform_iterations_do_not_count_in_the_measures():
    table = pl.DataFrame(
        {
            "level": 0.5,
            "kernel": "learnt",
            "seed": [0, 0, 0, 1, 1, 1],
            "iteration": [1, 2, 3, 1, 2, 3],
            "uniform": [True, False, False, True, False, True],
            "error": [9.0, -1.0, -3.0, 9.0, -4.0, 9.0],
            "lengthscale": [1.0, 1.0, 2.0, 1.0, 3.0, 4.0],
        }
    )
    (row,) = ts._measure_flat(table, {"iterations": 3})["rows"]
    assert row["runs"] == 2
    assert row["error, first draws"] == pytest.approx(-2.5)
    assert row["error, last tenth"] == pytest.approx(-3.5)
    assert row["runs that end below −2"] == 2
    assert row["median iteration from which below −2"] == pytest.approx(2.5)
    assert (row["last lengthscale, shortest"], row["longest"]) == (2.0, 3.0)


def test_the_share_near_the_maximiser_is_counted_by_run():
    """Of two runs one has all draws at x*, the other all at the local maximum."""
    count = ts_runs.DRAWS
    best, other = bimodal(1).maximizers[0, 0], 2.0
    frame = pl.DataFrame({"a": [best] * count + [other] * count, "iteration": 7, "kernel": "given"})
    table = pl.concat([frame.with_columns(function=pl.lit("f1")),
                       frame.with_columns(function=pl.lit("f2"), b=pl.col("a"))],
                      how="diagonal")  # fmt: skip
    measured = ts._measure_distribution(table, {})
    assert measured["there"] == {"f¹ given": 1, "f² given": 1}
    assert measured["end"] == pytest.approx({"f¹ given": 0.5, "f² given": 0.5})


def test_figure_three_uses_runs_of_figure_two():
    two, three = find("ts-fig2"), find("ts-fig3")
    there = {task.key for task in two.tasks(two.settings())}
    assert {task.key for task in three.tasks(three.settings())} <= there
    assert three.settings()["runs"] == two.settings()["runs"]


def test_samples_lie_in_the_band_as_often_as_it_says():
    frame = ts.sampled(seed=0, sigma=5.0, count=4000)
    inside = (frame["y"] - frame["f"]).abs() <= 1.96 * 5.0
    assert inside.mean() == pytest.approx(0.95, abs=0.015)
    assert frame["f"].to_numpy() == pytest.approx(
        bimodal(1).function(frame["x"].to_numpy()[:, None])
    )


@pytest.mark.slow
def test_flatter_functions_decay_more_slowly():
    """Section 5.2: the error after five iterations is larger for smaller β, over three values."""
    settings = {"iterations": 5}
    tasks = [
        ts_runs.decay(seed, "f_beta", beta, "learnt", 5, False).with_columns(
            seed=seed, level=beta, kernel=pl.lit("learnt")
        )
        for beta in (0.1, 1.0, 10.0)
        for seed in range(5)
    ]
    end = ts._measure_flat(pl.concat(tasks), settings)["end"]
    assert end["β = 0.1"] > end["β = 1"] + 0.5 > end["β = 10"] + 1
