"""Experiments of ξ-greedy Thompson sampling: their runs, measures and known facts."""

import math

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import ts, ts_runs
from noregret.experiments.registry import find
from noregret.problems.functions import bimodal


@pytest.fixture(scope="module")
def run():
    return ts_runs.decay(seed=1, function="f1", level=1.0, kernel="learnt", iterations=6, keep=True)


def stages(frame):
    return frame.filter(pl.col("error").is_not_null())


def test_a_run_has_a_row_per_iteration_and_draws_where_they_are_kept(run):
    assert stages(run)["iteration"].to_list() == list(range(1, 7))
    draws = run.filter(pl.col("a").is_not_null())
    assert draws["iteration"].unique().sort().to_list() == ts_runs.watched_iterations(6)
    assert len(draws) == ts_runs.DRAWS * len(ts_runs.watched_iterations(6))
    assert draws["a"].is_between(0, 8).all()


def test_the_first_iteration_is_uniform_and_the_errors_fall(run):
    uniform = stages(run)["uniform"].to_list()
    errors = stages(run)["error"].to_list()
    assert uniform[0]
    assert not all(uniform)
    chosen = [e for e, u in zip(errors, uniform, strict=True) if not u]
    assert chosen[-1] < errors[0] - 1


def test_a_run_is_the_librarys_algorithm_with_an_rbf_kernel():
    """n₀ = 30, batches of 30, ξ = 0.15; kernel and noise learnt; the noise of a seed is fixed."""
    opt = ts_runs.algorithm(bimodal(2), "learnt", seed=0)
    assert (opt.n_init, opt.batch_size, opt.xi) == (30, 30, 0.15)
    batch = opt.ask()
    assert opt.uniform
    assert len(batch) == 30
    opt.tell(batch, bimodal(2).function(batch.points))
    opt.ask()
    assert isinstance(opt.kernel, nr.RBF)
    assert np.ndim(opt.kernel.lengthscale) == 0
    assert 0.7 < opt.kernel.lengthscale < 2  # the bumps have width 1
    assert opt.events[0]["draws"] == 30


def test_the_given_kernel_is_the_likeliest_of_the_function():
    """No RBF kernel on a grid of parameters around it has a larger likelihood."""
    problem = bimodal(1)
    X = problem.domain.grid(50).points
    f = problem.function(X)

    def likelihood(lengthscale, variance):
        gram = nr.RBF(lengthscale, variance=variance)(X, X) + 1e-4 * np.eye(50)
        return -0.5 * (np.linalg.slogdet(gram)[1] + f @ np.linalg.solve(gram, f))

    best = ts_runs.best_kernel(problem)
    top = likelihood(best.lengthscale, best.variance)
    for a in (0.7, 0.95, 1.05, 1.4):
        for b in (0.5, 1.0, 2.0):
            assert likelihood(a * best.lengthscale, b * best.variance) < top


def test_the_same_seed_gives_the_same_run():
    one, two = (ts_runs.decay(2, "f2", 0.1, "learnt", 2, False) for _ in range(2))
    assert one.equals(two)


def test_relative_error_is_the_papers():
    """2 log₁₀(|x − x*|/x*): one of distances 0.5 and one of 5 from 5 give −2 and 0."""
    assert ts_runs.relative_error(np.array([[5.5], [0.0]]), np.array([5.0])) == pytest.approx(-1)
    best = np.array([3.0, 4.0])
    assert ts_runs.relative_error(best[None] + np.array([0.3, 0.4]), best) == pytest.approx(-2)
    assert math.isfinite(ts_runs.relative_error(best[None], best))


def test_the_share_explained_is_that_of_many_rewards():
    problem, rng = bimodal(1, 0.7), np.random.default_rng(0)
    X = problem.domain.sample(200_000, rng)
    share = problem.function(X).var() / problem.draw(X, rng).var()
    assert ts_runs.explained("f1", 0.7) == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [([-3, -3, -3], 4), ([-1, -3, -3], 5), ([-3, -1, -3], 7), ([-3, -3, -1], math.inf)],
)
def test_settled_is_when_errors_stay_low(errors, expected):
    assert ts_runs.settled([4, 5, 7], errors) == expected


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
    there = {cell.key for cell in two.cells(two.settings())}
    assert {cell.key for cell in three.cells(three.settings())} <= there
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
    cells = [
        ts_runs.decay(seed, "f_beta", beta, "learnt", 5, False).with_columns(
            seed=seed, level=beta, kernel=pl.lit("learnt")
        )
        for beta in (0.1, 1.0, 10.0)
        for seed in range(5)
    ]
    end = ts._measure_flat(pl.concat(cells), settings)["end"]
    assert end["β = 0.1"] > end["β = 1"] + 0.5 > end["β = 10"] + 1
