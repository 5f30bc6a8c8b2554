"""Runs of ξ-greedy Thompson sampling, and what is measured along them."""

import math

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import ts_runs
from noregret.problems.peaks import bimodal


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
    assert batch.uniform
    assert len(batch) == 30
    opt.tell(batch, bimodal(2).function(batch.points))
    opt.ask()
    learnt = opt.assumed.kernel
    assert isinstance(learnt, nr.RBF)
    assert np.ndim(learnt.lengthscale) == 0
    assert 0.7 < learnt.lengthscale < 2  # the bumps have width 1
    assert (opt.events[0]["event"], opt.events[0]["t"]) == ("fit", 30)


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
    _, X = problem.domain.sample(200_000, rng)
    share = problem.function(X).var() / problem.draw(X, rng).var()
    assert ts_runs.explained("f1", 0.7) == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [([-3, -3, -3], 4), ([-1, -3, -3], 5), ([-3, -1, -3], 7), ([-3, -3, -1], math.inf)],
)
def test_settled_is_when_errors_stay_low(errors, expected):
    assert ts_runs.settled([4, 5, 7], errors) == expected
