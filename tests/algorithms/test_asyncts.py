"""Asynchronous Thompson sampling beside its law, from dense matrices, and with many workers."""

import numpy as np
import pytest

import noregret as nr

KERNEL, LAM = nr.Matern(0.3, nu=2.5), 0.1
#: what was told of 8 candidates on a line
X, IDS = np.linspace(0, 1, 8)[:, None], np.array([0, 2, 5, 5, 7])
Y = np.array([0.2, 0.5, 0.4, 0.3, -0.2])


def maximiser_shares(draws):
    """How often each candidate has the largest value of a function drawn from the posterior."""
    K, cross = KERNEL(X[IDS], X[IDS]) + LAM * np.eye(len(IDS)), KERNEL(X, X[IDS])
    mean = cross @ np.linalg.solve(K, Y)
    covariance = KERNEL(X, X) - cross @ np.linalg.solve(K, cross.T)
    rng = np.random.default_rng(0)
    functions = rng.multivariate_normal(mean, covariance, size=draws, method="svd")
    return np.bincount(functions.argmax(axis=1), minlength=len(X)) / draws


@pytest.mark.parametrize("batch_size", [1, 50])
def test_each_ask_of_a_worker_draws_the_maximiser_afresh(batch_size):
    """Whatever is pending: what other workers evaluate changes nothing until they tell."""
    opt = nr.AsyncTS(X, KERNEL, lam=LAM, n_init=1, batch_size=batch_size, seed=0)
    opt.tell(IDS, Y)
    batches = [opt.ask() for _ in range(2000 // batch_size)]
    assert {len(batch) for batch in batches} == {batch_size}
    picks = np.concatenate([batch.ids for batch in batches])
    shares = np.bincount(picks, minlength=len(X)) / len(picks)
    expected = maximiser_shares(200_000)
    deviations = np.sqrt(expected * (1 - expected) / len(picks))
    assert np.all(np.abs(shares - expected) < 3 * deviations + 0.002)
    after = np.bincount(picks[1:][picks[:-1] == 3], minlength=len(X))  # draws are independent
    assert np.abs(after / after.sum() - expected).max() < 0.07


def test_uniform_draws_come_with_probability_xi():
    opt = nr.AsyncTS(X, KERNEL, lam=LAM, n_init=1, xi=0.3, seed=0)
    opt.tell(IDS, Y)
    uniform = [opt.ask().uniform for _ in range(1000)]
    assert abs(np.mean(uniform) - 0.3) < 3 * np.sqrt(0.3 * 0.7 / 1000)


def test_there_are_no_uniform_draws_after_the_start():
    box = nr.Box([(0, 1)])
    opt = nr.AsyncTS(box, nr.RBF(0.2), noise=0.05, n_init=3, seed=0)
    uniform = []
    waiting = []
    for _ in range(20):
        batch = opt.ask()
        uniform.append(batch.uniform)
        waiting.append(batch)
        if len(waiting) == 4:  # four workers
            first = waiting.pop(0)
            opt.tell(first, -np.square(first.points[:, 0] - 0.3))
    assert uniform == [True] * 4 + [False] * 16  # the fourth before any answer
    assert abs(opt.recommend().point[0] - 0.3) < 0.1


def test_it_learns_from_points_that_it_chose():
    opt = nr.AsyncTS(nr.Box([(0, 1)] * 2), "auto", noise="auto", n_init=8, seed=0)
    for _ in range(30):
        batch = opt.ask()
        opt.tell(batch, np.sin(6.0 * batch.points[:, 0]))
    fits = [event for event in opt.events if event["event"] == "fit"]
    assert [event["t"] for event in fits] == [8, 10, 13, 17, 22, 28]
    assert len({event["kernel"] for event in fits}) == 6
    along, across = opt.assumed.kernel.lengthscale
    assert across > 2.0 * along  # the second coordinate does not matter
