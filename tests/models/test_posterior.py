"""The posterior at any points: every answer against the formula with dense matrices."""

import numpy as np
import pytest
from reference import problem

import noregret as nr
from noregret.models.sparse import SparseGP

KERNEL = nr.Matern(0.4, nu=2.5)
LAMS = (0.1, 1.0)


@pytest.fixture
def told():
    """Points, ids told, rewards and a posterior on a dictionary of eight arms."""
    X, _, rng = problem()
    ids = rng.integers(60, size=40)
    y = rng.standard_normal(40)
    counts, sums = np.bincount(ids, minlength=60), np.bincount(ids, y, minlength=60)
    model = SparseGP(KERNEL, LAMS, X[:0], 1.0)
    model.rebuild(X, counts, sums, np.unique(ids)[:8])
    return X, ids, y, model.posterior()


def dense(X, ids, y, inducing, lam):
    """Mean and covariance of all points, over λ."""
    S = KERNEL(inducing, inducing)
    cross = KERNEL(X, inducing)
    Q = cross @ np.linalg.solve(S, cross.T)
    solved = np.linalg.solve(Q[np.ix_(ids, ids)] + lam * np.eye(len(ids)), Q[ids])
    return solved.T @ y, (KERNEL(X, X) - Q[:, ids] @ solved) / lam


def test_mean_leverage_and_covariance(told):
    X, ids, y, posterior = told
    mean, covariance = dense(X, ids, y, posterior.inducing, LAMS[0])
    np.testing.assert_allclose(posterior.evaluate(X)[0], mean, atol=1e-9)
    np.testing.assert_allclose(posterior.evaluate(X)[1], covariance.diagonal(), atol=1e-8)
    np.testing.assert_allclose(posterior.covariance(X[:5], X), covariance[:5], atol=1e-8)


def test_every_lambda_has_its_own_mean_and_leverage(told):
    X, ids, y, posterior = told
    Z = posterior.embed(X)
    means, leverages = posterior.thetas @ Z.T, posterior.leverages(Z, posterior.residual(Z, X))
    for i, lam in enumerate(LAMS):
        mean, covariance = dense(X, ids, y, posterior.inducing, lam)
        np.testing.assert_allclose(means[i], mean, atol=1e-9)
        np.testing.assert_allclose(leverages[i], covariance.diagonal(), atol=1e-8)


def test_differences_are_points_of_their_own(told):
    X, ids, y, posterior = told
    Z, one = posterior.embed(X), X[7:8]
    apart, residual = posterior.apart(X, Z, one, Z[7])
    for i, lam in enumerate(LAMS):
        mean, covariance = dense(X, ids, y, posterior.inducing, lam)
        diagonal = covariance.diagonal()
        expected = diagonal + diagonal[7] - 2.0 * covariance[:, 7]
        np.testing.assert_allclose(apart @ posterior.thetas[i], mean - mean[7], atol=1e-9)
        np.testing.assert_allclose(posterior.leverages(apart, residual)[i], expected, atol=1e-8)


def test_drawn_functions_have_the_posteriors_moments(told):
    X, _, _, posterior = told
    thetas = posterior.draw(20_000, np.random.default_rng(0))
    values = posterior.embed(X[:5]) @ thetas
    mean, leverage = posterior.evaluate(X[:5])
    inside = leverage - posterior.residual(posterior.embed(X[:5]), X[:5]) / LAMS[0]
    np.testing.assert_allclose(values.mean(axis=1), mean, atol=0.01)
    np.testing.assert_allclose(values.var(axis=1), LAMS[0] * inside, rtol=0.05, atol=1e-4)


def test_a_drawn_function_has_the_gradient_it_says(told):
    _, _, _, posterior = told
    theta = posterior.draw(1, np.random.default_rng(0))[:, 0]
    points, step = np.random.default_rng(1).uniform(size=(5, 2)), 1e-6
    _, gradients = posterior.drawn(points, theta, 0.7)
    for axis in range(2):
        shift = step * np.eye(2)[axis]
        up, down = (posterior.drawn(points + s * shift, theta, 0.7)[0] for s in (1, -1))
        np.testing.assert_allclose(gradients[:, axis], (up - down) / (2 * step), atol=1e-5)


def test_distances_are_in_the_norm_of_v(told):
    _, _, _, posterior = told
    V = posterior.gram + LAMS[0] * np.eye(posterior.size)
    old = np.arange(3.0)
    change = posterior.theta - np.concatenate([old, np.zeros(posterior.size - 3)])
    expected = [np.sqrt(change @ V @ change), np.sqrt(posterior.theta @ V @ posterior.theta)]
    np.testing.assert_allclose(posterior.distances([old, np.empty(0)]), expected)


def test_without_evaluations_it_is_the_prior():
    X, _, _ = problem()
    mean, leverage = SparseGP(KERNEL, LAMS, X[:0], 1.0).posterior().evaluate(X)
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(leverage, 1.0 / LAMS[0])


def test_what_was_computed_last_is_not_mistaken_for_other_points(told):
    X, ids, y, posterior = told
    m = posterior.size
    assert posterior.embed(X[:0]).shape == posterior.coordinates(np.empty((0, m))).shape == (0, m)
    one = X[:1].copy()
    Z = posterior.embed(one)
    assert posterior.embed(X[:1]) is Z
    b = posterior.coordinates(Z)
    assert posterior.coordinates(Z.copy()) is b
    np.testing.assert_allclose(posterior.embed(X[:2])[0], Z[0], atol=1e-12)
    one[:] = X[5]  # the same array with other content
    np.testing.assert_allclose(posterior.embed(one), posterior.embed(X)[5:6], atol=1e-12)
    other = posterior.embed(X)[5:6]
    np.testing.assert_allclose(posterior.coordinates(other), other @ posterior.root, atol=1e-12)


def test_a_posterior_is_made_anew_after_every_update():
    X, _, rng = problem()
    model = SparseGP(KERNEL, (0.1,), X[:0], 1.0)
    counts, sums = np.zeros(60, dtype=np.int64), np.zeros(60)
    for row in rng.integers(60, size=30):
        before = model.posterior().evaluate(X[:3])
        counts[row] += 1
        sums[row] += rng.standard_normal()
        model.advance(X, counts, sums, np.array([row]))
        again = SparseGP(KERNEL, (0.1,), X[:0], 1.0)
        again.rebuild(X, counts, sums, model.dictionary)
        now = model.posterior().evaluate(X[:3])
        np.testing.assert_allclose(now, again.posterior().evaluate(X[:3]), atol=1e-9)
        assert not np.allclose(now, before, atol=1e-12)


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
