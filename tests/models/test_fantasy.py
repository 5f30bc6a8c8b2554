"""Pending and picked evaluations: variances fall as if told, means stay."""

import numpy as np
import pytest
from reference import exact_posterior, problem, run

import noregret as nr
from noregret.models.fantasy import Fantasy
from noregret.models.sparse import SparseGP

KERNEL = nr.RBF(0.4)
LAM = 0.1


def told_model(X, ids, dictionary=None):
    counts = np.bincount(ids, minlength=len(X))
    model = SparseGP(KERNEL, (LAM,), X[:0], 1.0)
    model.rebuild(X, counts, np.zeros(len(X)), np.unique(ids) if dictionary is None else dictionary)
    return model


def exact_leverage(X, ids):
    return exact_posterior(KERNEL, X, ids, np.zeros(len(ids)), LAM)[1]


def test_pending_points_shrink_the_variance_and_never_move_the_mean():
    X, _, rng = problem()
    ids = rng.integers(len(X), size=10)
    opt = nr.GPUCB(X, KERNEL, noise=1.0, lam=LAM, norm=4.0)
    opt.tell(ids, rng.standard_normal(10))
    mean, std = opt.predict()
    first, second = opt.ask(4), opt.ask(3)
    after_mean, after_std = opt.predict()
    np.testing.assert_array_equal(after_mean, mean)
    assert np.all(after_std[first.ids] < std[first.ids])
    leverage = exact_leverage(X, np.concatenate([ids, first.ids, second.ids]))
    np.testing.assert_allclose(after_std**2, LAM * leverage, atol=1e-9)
    np.testing.assert_allclose(opt.predict(pending=False)[1], std, rtol=1e-12)


def test_pending_points_shrink_sparse_variances_outside_the_dictionary_too():
    X, f, rng = problem(arms=100)
    opt = nr.BBKB(X, nr.RBF(0.1), noise=0.1, lam=0.1, qbar=0.3, width=2.0, seed=0)
    run(opt, f, 0.1, rng, 60)
    mean, std = opt.predict()
    batch = opt.ask()
    after_mean, after_std = opt.predict()
    np.testing.assert_array_equal(after_mean, mean)
    assert np.all(after_std[batch.ids] < std[batch.ids])
    assert np.all(after_std <= std + 1e-12)


@pytest.mark.parametrize("pending", [[], [0, 2, 2, 2, 59]])
def test_picks_count_exactly(pending):
    """Told, pending and picked evaluations count alike, in the dictionary's span or not."""
    X, _, rng = problem()
    ids = rng.integers(40, size=30)
    arms, counts = np.unique(np.array(pending, dtype=int), return_counts=True)
    fantasy = Fantasy(told_model(X, ids).posterior(), X[arms], counts)
    block = fantasy.block(X)
    picks = [50, 3, 50, 51]
    np.testing.assert_allclose(block.told, exact_leverage(X, ids), atol=1e-9)
    for i in range(len(picks) + 1):
        everything = np.concatenate([ids, pending, picks[:i]]).astype(int)
        np.testing.assert_allclose(block.leverage, exact_leverage(X, everything), atol=1e-8)
        if i < len(picks):
            fantasy.add(block, picks[i])
    np.testing.assert_allclose(fantasy.block(X).leverage, block.leverage, atol=1e-8)
    assert fantasy.pending == pytest.approx(float(block.told[pending].sum()) if pending else 0.0)


def test_frozen_picks_count_inside_the_span_only():
    X, _, rng = problem()
    ids = rng.integers(60, size=30)
    posterior = told_model(X, ids, np.unique(ids)[:4]).posterior()
    fantasy = Fantasy(posterior, X[:0], np.empty(0, dtype=int), frozen=True)
    block = fantasy.block(X)
    residual = posterior.residual(block.Z, X) / LAM
    V = posterior.gram + LAM * np.eye(4)
    for pick in (7, 7, 20):
        fantasy.add(block, pick)
        V = V + np.outer(block.Z[pick], block.Z[pick])
        inside = np.einsum("ij,ji->i", block.Z, np.linalg.solve(V, block.Z.T))
        np.testing.assert_allclose(block.leverage, residual + inside, atol=1e-9)


def test_many_picks_keep_few_rows():
    """More picks than coordinates are folded together; leverages stay right."""
    X, _, rng = problem(arms=10)
    ids = rng.integers(10, size=20)
    fantasy = Fantasy(told_model(X, ids).posterior(), X[:0], np.empty(0, dtype=int), frozen=True)
    block = fantasy.block(X)
    picks = rng.integers(10, size=100)
    for pick in picks:
        fantasy.add(block, int(pick))
    expected = exact_leverage(X, np.concatenate([ids, picks]))
    np.testing.assert_allclose(fantasy.block(X).leverage, expected, atol=1e-10)


def model_on_box(kernel, dimension, rng, arms=20, inducing=12, lam=0.01):
    """A sparse posterior of random data; its last four arms are pending, twice each."""
    X = rng.uniform(size=(arms, dimension))
    model = SparseGP(kernel, (lam,), X[:0], 1.0)
    told = np.arange(arms) < arms - 4
    model.rebuild(X, told.astype(int), told * rng.normal(size=arms), np.arange(inducing))
    return model.posterior(), X[~told], np.full(4, 2)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("kernel", [nr.RBF(0.4), nr.Matern(0.5, nu=1.5) + nr.Linear(0.1)])
def test_gradients_of_bounds_against_finite_differences(kernel, frozen):
    rng = np.random.default_rng(0)
    fantasy = Fantasy(*model_on_box(kernel, 3, rng), frozen=frozen)
    for point in rng.uniform(size=(3, 3)):
        for _ in range(2):
            fantasy.add(fantasy.block(point[None]), 0)
    X = rng.uniform(size=(5, 3))
    values, gradients = fantasy.bound(X, 2.0)
    mean, leverage = fantasy.evaluate(X)
    np.testing.assert_allclose(values, mean + 2 * np.sqrt(leverage))
    for i, step in enumerate(1e-6 * np.eye(3)):
        numerical = (fantasy.bound(X + step, 2.0)[0] - fantasy.bound(X - step, 2.0)[0]) / 2e-6
        np.testing.assert_allclose(gradients[:, i], numerical, rtol=1e-4, atol=1e-5)


def test_picks_condition_the_exact_gp_exactly():
    rng = np.random.default_rng(1)
    kernel, lam = nr.Matern(0.5), 0.01
    X, y = rng.uniform(size=(15, 2)), rng.normal(size=15)
    model = SparseGP(kernel, (lam,), X[:0], 1.0)
    model.rebuild(X, np.ones(15, dtype=int), y, np.arange(15))
    fantasy = Fantasy(model.posterior(), X[:0], np.empty(0, dtype=int))
    picks, tests = rng.uniform(size=(40, 2)), rng.uniform(size=(6, 2))
    for point in picks:
        fantasy.add(fantasy.block(point[None]), 0)
    every = np.concatenate([tests, X, picks])
    ids = np.arange(6, len(every))
    values = np.concatenate([y, np.zeros(40)])
    _, leverage = exact_posterior(kernel, every, ids, values, lam)
    np.testing.assert_allclose(fantasy.evaluate(tests)[1], leverage[:6], atol=1e-8)


@pytest.mark.parametrize("frozen", [False, True])
def test_points_counted_together_are_as_those_counted_one_by_one(frozen):
    X, _, rng = problem()
    model = told_model(X, rng.integers(len(X), size=12), np.array([0, 3]))
    pending = rng.choice(len(X), 3, replace=False)
    positions = np.array([4, 9, 1, 9, 20])
    leverages = []
    for together in (True, False):
        fantasy = Fantasy(model.posterior(), X[pending], np.ones(3, dtype=int), frozen=frozen)
        block = fantasy.block(X)
        if together:
            fantasy.add_all(block, positions[:3])
            fantasy.add_all(block, positions[3:])
        else:
            for position in positions:
                fantasy.add(block, position)
        leverages += [block.leverage, fantasy.block(X).leverage]
    for leverage in leverages[1:]:
        np.testing.assert_allclose(leverage, leverages[0], atol=1e-9)
