"""Maximisers of drawn functions: their law, when they agree, and with which features."""

import numpy as np

import noregret as nr


def run(opt, f, sigma, rounds, seed):
    """Ask and tell; the mode of F_t after the first round and the last."""
    rng = np.random.default_rng(seed)
    modes = []
    for i in range(rounds):
        batch = opt.ask()
        opt.tell(batch, f(batch.points) + sigma * rng.standard_normal(len(batch)))
        if i in (0, rounds - 1):
            modes.append(opt.recommend().point)
    return np.array(modes)


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


def test_quadrature_of_a_replaced_list_is_the_same_when_loaded(tmp_path):
    """The features cover what has been seen of a wider list before."""
    opt = nr.ThompsonSampling(
        np.linspace(0, 3, 40)[:, None], nr.RBF(0.5), features="qff", n_init=5, seed=0
    )
    opt.tell([0, 13, 39], [0.0, 0.8, 0.1])
    opt.replace_candidates(np.linspace(0, 1, 50)[:, None])
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.maximizer_samples(50), opt.maximizer_samples(50))


def test_features_are_made_again_and_not_stored(tmp_path):
    """A loaded run draws the same functions, from a file without them."""
    box = nr.Box([(0, 1)] * 3)
    opt = nr.ThompsonSampling(box, nr.Matern(0.5), n_init=2, xi=0.0, seed=0)
    run(opt, lambda X: X[:, 0], 0.1, 5, 0)
    opt.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        largest = max(archive[name].nbytes for name in archive.files if name != "header")
    assert largest < 8 * 500 * 3  # what the frequencies of random Fourier features take
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.ask(3).points, opt.ask(3).points)


def test_a_look_before_a_fit_leaves_the_features_as_they_are():
    """Features of a kernel that was fitted for a look are not those of the kernel fitted later."""
    options = {"noise": "auto", "norm": "auto", "n_init": 4, "xi": 1.0, "seed": 0}
    one, two = (nr.ThompsonSampling(nr.Box([(0, 1)]), "auto", **options) for _ in range(2))
    for opt in (one, two):
        run(opt, lambda X: np.sin(6 * X[:, 0]), 0.0, 7, 0)
        late = opt.ask(3)
        opt.tell(late[:1], [0.3])  # the eighth: a fit is due
        if opt is two:
            opt.maximizer_samples(3)
        opt.tell(late[1:], [-2.0, 3.0])
    np.testing.assert_array_equal(one.maximizer_samples(9), two.maximizer_samples(9))


def test_a_single_draw_at_the_start_is_no_basis_for_a_fit():
    opt = nr.ThompsonSampling(np.eye(3), "auto", noise="auto", n_init=1, xi=0.0, seed=0)
    for t in range(4):
        batch = opt.ask()
        opt.tell(batch, [float(t % 2)])
    assert [event["t"] for event in opt.events if event["event"] == "fit"] == [2]
