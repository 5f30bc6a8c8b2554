"""One pass over a list: means as the posterior has them, deviations never too small."""

import numpy as np
import pytest

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.picking.lists import one_pass
from noregret.picking.lists.one_pass import OnePass
from noregret.spaces import as_candidates


def model_of(kernel, X, told, dictionary, lam=0.01):
    counts = np.ones(len(told), dtype=np.int64)
    counts[::3] = 4
    sums = counts * np.sin(X[told].sum(axis=1))
    model = SparseGP(kernel, (lam,), X[:0], 1.0)
    model.rebuild(X[told], counts, sums, dictionary)
    return model


@pytest.mark.parametrize("kernel", [nr.RBF(1.5), nr.Matern(0.3), nr.Linear()], ids=repr)
@pytest.mark.parametrize("told", [0, 1, 60])
def test_bounds_lie_above_those_of_the_posterior(kernel, told, monkeypatch):
    """Also where only some of the inducing points are conditioned on, and some arms are none."""
    monkeypatch.setattr(one_pass, "_PIVOTS", 20)
    X = np.random.default_rng(told).normal(size=(3_000, 3))
    model = model_of(kernel, X, np.arange(told), np.arange(told)[: max(told - 10, 1)])
    mean, leverage = model.posterior().evaluate(X)
    found = OnePass(model, as_candidates(X))
    np.testing.assert_allclose(found.means, mean, atol=1e-10)
    assert np.all(found.means + 2.0 * found.roots >= mean + 2.0 * np.sqrt(leverage) - 1e-10)


def test_with_few_inducing_points_the_bounds_are_those_of_the_posterior():
    X = np.random.default_rng(0).normal(size=(3_000, 3))
    model = model_of(nr.RBF(1.0), X, np.arange(60), np.arange(60))
    mean, leverage = model.posterior().evaluate(X)
    found = OnePass(model, as_candidates(X))
    np.testing.assert_allclose(found.means, mean, atol=1e-4)
    np.testing.assert_allclose(found.roots, np.sqrt(leverage), atol=1e-4)


def test_a_pass_is_of_its_model_until_that_changes():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = model_of(nr.RBF(1.0), X, np.arange(10), np.arange(10))
    found = OnePass(model, as_candidates(X))
    assert found.is_of(model)
    model.advance(X[:11], np.full(11, 5), np.ones(11), np.array([10]))
    assert not found.is_of(model)
