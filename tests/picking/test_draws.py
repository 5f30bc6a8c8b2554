"""Maximisers of functions drawn from the sparse posterior, on a list and in a box."""

import numpy as np
import pytest

import noregret as nr
from noregret.models.sparse import SparseGP

BOX = nr.Box([(0, 1), (0, 1)])


@pytest.mark.parametrize("outside", [0.0, 1.3, -0.7])
def test_gradients_of_drawn_functions_against_finite_differences(outside):
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(15, 2))
    model = SparseGP(nr.Matern(0.4), (0.05,), X[:0], 1.0)
    model.rebuild(X, np.ones(15, dtype=int), rng.normal(size=15), np.arange(8))
    posterior = model.posterior()
    theta = rng.normal(size=posterior.size)
    X = rng.uniform(size=(6, 2))
    values, gradients = posterior.drawn(X, theta, outside)
    Z = posterior.embed(X)
    np.testing.assert_allclose(values, Z @ theta + outside * np.sqrt(posterior.residual(Z, X)))
    for i, step in enumerate(1e-6 * np.eye(2)):
        up, down = (posterior.drawn(X + sign * step, theta, outside)[0] for sign in (1, -1))
        np.testing.assert_allclose(gradients[:, i], (up - down) / 2e-6, rtol=1e-4, atol=1e-5)


def test_draws_of_a_known_function_are_its_maximiser():
    """Where nearly all is known draws are the mean: every pick is its top, between Sobol points."""
    opt = nr.BBKB(
        BOX, nr.RBF(0.6), noise=1e-3, acquisition="thompson", ratio=1e9, width=2.0, qbar=50, seed=3
    )
    grid = BOX.grid(12).points
    opt.tell(grid, np.exp(-2.0 * np.square(grid - [0.37, 0.61]).sum(axis=1)))
    picks = opt.ask(8).points
    assert picks.shape == (8, 2)
    apart = np.sqrt(np.square(picks - [0.37, 0.61]).sum(axis=1))
    assert apart.max() < 0.01


def test_draws_of_an_unknown_function_are_spread_over_the_box():
    """One evaluation of a corner says little: picks are all over the box."""
    opt = nr.BBKB(BOX, nr.RBF(0.1), acquisition="thompson", ratio=1e9, width=2.0, seed=4)
    opt.tell([[0.0, 0.0]], [0.0])
    picks = opt.ask(40).points
    assert len(np.unique(picks, axis=0)) > 35
    assert np.all(np.abs(picks.mean(axis=0) - 0.5) < 0.2)
    assert np.all(picks.std(axis=0) > 0.2)


def test_sparse_draws_have_the_sparse_posteriors_marginals():
    """With two candidates the chance of a pick is known in closed form."""
    from scipy.stats import norm

    X = np.array([[0.0], [0.35], [5.0]])
    settings = {"lam": 0.2, "acquisition": "thompson", "ratio": 1e9, "width": 2.0, "seed": 0}
    opt = nr.BBKB(X, nr.RBF(0.3), **settings)
    opt.tell([0, 2, 2, 2, 2, 2], [0.4, -9.0, -9.0, -9.0, -9.0, -9.0])
    mean, std = opt.predict()
    assert set(opt.dictionary) >= {0}
    posterior = opt.situation().bounds.posterior
    picks = opt.ask(3000).ids
    share = np.mean(picks[picks < 2] == 1)
    # θ moves both; the residual of candidate 1 is independent of it.
    Z = posterior.embed(X[:2])
    covariance = posterior.lam * (Z @ posterior.root) @ (Z @ posterior.root).T
    covariance += np.diag(posterior.residual(Z, X[:2]))
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std[:2], atol=1e-9)
    gap = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert share == pytest.approx(norm.cdf((mean[1] - mean[0]) / gap), abs=0.03)


def test_sparse_thompson_finds_the_best_of_a_list():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    f = np.exp(-4 * np.square(X - [0.7, 0.2]).sum(axis=1))
    opt = nr.BBKB(X, nr.RBF(0.3), noise=0.05, norm=3.0, acquisition="thompson", seed=1)
    while opt.t < 200:
        batch = opt.ask(200 - opt.t)
        opt.tell(batch, f[batch.ids] + 0.05 * rng.standard_normal(len(batch)))
    assert f[opt.recommend().id] > 0.97 * f.max()
    assert f[opt.history.ids[-50:]].mean() > f[opt.history.ids[:50]].mean()
