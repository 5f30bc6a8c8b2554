"""What the algorithms share that choose maximisers of drawn functions."""

import numpy as np
from thompson_runs import run

import noregret as nr


def test_samples_concentrate_and_converged_says_so():
    opt = nr.ThompsonSampling(nr.Box([(0, 1)]), nr.RBF(0.2), noise=0.01, n_init=5, seed=0)
    assert not opt.converged(0.05)
    run(opt, lambda X: -np.square(X[:, 0] - 0.3), 0.01, 25, 0)
    draws = opt.maximizer_samples(50)
    assert draws.shape == (50, 1)
    assert abs(np.median(draws) - 0.3) < 0.05
    assert opt.converged(0.1)
    assert not opt.converged(1e-9)
    np.testing.assert_array_equal(draws, opt.maximizer_samples(50))


def test_maximisers_on_a_list_follow_the_exact_posterior():
    """How often each arm is the maximiser, against draws from the exact joint posterior."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 1, 6)[:, None]
    kernel, lam = nr.RBF(0.3), 0.1
    opt = nr.ThompsonSampling(X, kernel, noise=0.3, lam=lam, seed=0)
    ids, y = np.array([0, 2, 5, 5]), np.array([0.2, 0.5, 0.1, 0.3])
    opt.tell(ids, y)
    shares = np.bincount(opt.maximizer_samples(20_000), minlength=6) / 20_000
    K = kernel(X[ids], X[ids]) + lam * np.eye(4)
    cross = kernel(X, X[ids])
    mean = cross @ np.linalg.solve(K, y)
    covariance = kernel(X, X) - cross @ np.linalg.solve(K, cross.T)
    paths = rng.multivariate_normal(mean, covariance, size=20_000, method="svd")
    expected = np.bincount(paths.argmax(axis=1), minlength=6) / 20_000
    np.testing.assert_allclose(shares, expected, atol=0.02)


def test_uniform_draws_come_at_their_rate_and_alone_are_fitted():
    opt = nr.ThompsonSampling(
        nr.Box([(0, 1)]), "auto", noise="auto", norm="auto", xi=0.5, n_init=5, seed=0
    )
    run(opt, lambda X: np.sin(6 * X[:, 0]), 0.1, 45, 0)
    uniform = opt.situation().beliefs.learner.random
    assert uniform[:5] == [0, 1, 2, 3, 4]
    assert 10 <= len(uniform) - 5 <= 30
    assert [event["t"] for event in opt.events if event["event"] == "fit"] == [5, 10, 20, 40]


def test_a_single_draw_at_the_start_is_no_basis_for_a_fit():
    opt = nr.ThompsonSampling(np.eye(3), "auto", noise="auto", n_init=1, xi=0.0, seed=0)
    for t in range(4):
        batch = opt.ask()
        opt.tell(batch, [float(t % 2)])
    assert [event["t"] for event in opt.events if event["event"] == "fit"] == [2]
