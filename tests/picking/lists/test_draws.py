"""Maximisers on a list of functions drawn from the sparse posterior."""

import numpy as np
import pytest

import noregret as nr


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


@pytest.mark.parametrize("repeats", [1, 3])
def test_candidates_are_drawn_as_often_as_they_may_be_picked(repeats):
    X = np.random.default_rng(0).uniform(size=(12, 2))
    options = {"acquisition": "thompson", "width": 2.0, "ratio": 1e9, "repeats": repeats}
    opt = nr.BBKB(X, nr.RBF(0.3), lam=0.2, seed=0, **options)
    opt.tell([0, 5], [1.0, -1.0])
    counts = np.bincount(opt.ask(10_000).ids, minlength=12)
    told = np.isin(np.arange(12), [0, 5])
    np.testing.assert_array_equal(counts, repeats - told)
    assert opt.exhausted
