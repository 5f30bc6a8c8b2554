"""The sparse GP against naive computations: features, counts, increments, pending points."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import exact_posterior, problem, run, sparse_posterior

import noregret as nr
from noregret.models.sparse import SparseGP, pivoted_cholesky
from noregret.models.table import row_products
from noregret.models.view import PosteriorView

KERNEL = nr.RBF(0.4)


def told(opt):
    """The leverage of every candidate from what has been told."""
    model = opt._model
    return model.table.leverage(model.lam)


def evaluate(opt, ids, seed=0):
    y = np.random.default_rng(seed).standard_normal(len(ids))
    opt.tell(ids, y)
    return y


def test_exact_gp_equals_the_textbook_formula():
    X, _, rng = problem()
    opt = nr.GPUCB(X, KERNEL, noise=0.1, lam=0.05)
    ids = rng.integers(len(X), size=40)
    y = evaluate(opt, ids)
    mean, std = opt.predict()
    expected_mean, leverage = exact_posterior(KERNEL, X, ids, y, 0.05)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-9)
    np.testing.assert_allclose(std**2, 0.05 * leverage, atol=1e-9)


@pytest.mark.parametrize("mode", ["grow", "resample"])
def test_sparse_gp_equals_the_papers_formula(mode):
    X, f, rng = problem(arms=80)
    opt = nr.BBKB(X, KERNEL, noise=0.1, lam=0.3, qbar=0.5, dictionary=mode, seed=3)
    run(opt, f, 0.1, rng, 150)
    history = opt.history
    inducing = X[opt.dictionary]
    assert 1 < len(inducing) < len(np.unique(history.ids))
    expected_mean, leverage = sparse_posterior(
        KERNEL, X, history.ids, history.rewards, 0.3, inducing
    )
    mean, std = opt.predict()
    np.testing.assert_allclose(mean, expected_mean, atol=1e-8)
    np.testing.assert_allclose(std**2 / 0.3, leverage, atol=1e-8)


def test_sparse_equals_exact_when_the_dictionary_is_every_pulled_arm():
    X, _, rng = problem()
    ids = rng.integers(len(X), size=50)
    sparse = nr.BKB(X, KERNEL, lam=0.01, qbar=1e9)
    exact = nr.GPUCB(X, KERNEL, lam=0.01)
    for opt in (sparse, exact):
        for part in np.array_split(np.arange(50), 25):
            opt.tell(ids[part], np.cos(ids[part]))
            opt.predict()
    np.testing.assert_allclose(sparse.predict(), exact.predict(), atol=1e-9)


def test_counts_equal_repeated_rows():
    X, _, rng = problem()
    ids = np.repeat([3, 7, 7, 9], [5, 1, 2, 4])
    y = rng.standard_normal(len(ids))
    one_by_one = nr.GPUCB(X, KERNEL, lam=0.2)
    for id_, value in zip(ids, y, strict=True):
        one_by_one.tell([id_], [value])
        one_by_one.predict()
    at_once = nr.GPUCB(X, KERNEL, lam=0.2)
    at_once.tell(ids, y)
    np.testing.assert_allclose(one_by_one.predict(), at_once.predict(), atol=1e-10)
    mean, leverage = exact_posterior(KERNEL, X, ids, y, 0.2)
    np.testing.assert_allclose(at_once.predict()[0], mean, atol=1e-10)
    np.testing.assert_allclose(at_once.predict()[1] ** 2 / 0.2, leverage, atol=1e-9)


def test_incremental_equals_from_scratch_after_thousands_of_steps():
    X, f, rng = problem(arms=300)
    opt = nr.BKB(X, nr.Matern(0.3, nu=1.5), noise=0.1, lam=0.01, width=2.0, seed=0)
    run(opt, f, 0.1, rng, 3000)
    opt.beta  # noqa: B018  lets the model take in the last reward
    model = opt._model
    mean, leverage = model.table.mean.copy(), told(opt)
    log_det = model.log_det()
    model.refresh()
    np.testing.assert_allclose(model.table.mean, mean, atol=1e-8)
    np.testing.assert_allclose(told(opt), leverage, atol=1e-8)
    assert model.log_det() == pytest.approx(log_det, abs=1e-8)
    observations = opt._observations
    scratch = SparseGP(model.kernel, model.lam, X, model.table.prior)
    scratch.see(observations.ids)
    scratch.rebuild(observations.told, observations.sums, model.dictionary)
    np.testing.assert_allclose(scratch.table.mean, mean, atol=1e-8)
    np.testing.assert_allclose(scratch.table.leverage(model.lam), leverage, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_order_of_updates_gives_the_same_posterior(data):
    X, _, rng = problem(arms=25)
    ids = np.array(data.draw(st.lists(st.integers(0, 24), min_size=2, max_size=40)))
    y = rng.standard_normal(len(ids))
    lam = data.draw(st.sampled_from([1e-3, 0.1, 10.0]))
    opt = nr.GPUCB(X, nr.RBF(data.draw(st.sampled_from([0.01, 0.3, 30.0]))), lam=lam)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=5)))
    for part in np.split(np.arange(len(ids)), cuts):
        if len(part):
            opt.tell(ids[part], y[part])
            opt.predict()
    mean, leverage = exact_posterior(opt.kernel, X, ids, y, lam)
    np.testing.assert_allclose(opt.predict()[0], mean, atol=1e-6)
    np.testing.assert_allclose(opt.predict()[1] ** 2, lam * leverage, atol=1e-6)


def test_pending_points_shrink_the_variance_and_never_move_the_mean():
    X, _, rng = problem()
    ids = rng.integers(len(X), size=10)
    opt = nr.GPUCB(X, KERNEL, lam=0.1)
    y = evaluate(opt, ids)
    mean, std = opt.predict()
    first = opt.ask(4)
    second = opt.ask(3)
    after_mean, after_std = opt.predict()
    np.testing.assert_array_equal(after_mean, mean)
    assert np.all(after_std <= std + 1e-12)
    assert np.all(after_std[first.ids] < std[first.ids])
    asked = np.concatenate([ids, first.ids, second.ids])
    _, leverage = exact_posterior(KERNEL, X, asked, np.zeros(len(asked)), 0.1)
    np.testing.assert_allclose(after_std**2, 0.1 * leverage, atol=1e-9)
    assert opt.recommend().upper - opt.recommend().mean == pytest.approx(
        opt.beta * std[opt.recommend().id]
    )
    assert len(y) == opt.t


def test_pending_points_shrink_sparse_variances_outside_the_dictionary_too():
    X, f, rng = problem(arms=100)
    opt = nr.BBKB(X, nr.RBF(0.1), noise=0.1, lam=0.1, qbar=0.3, seed=0)
    run(opt, f, 0.1, rng, 60)
    mean, std = opt.predict()
    batch = opt.ask()
    after_mean, after_std = opt.predict()
    np.testing.assert_array_equal(after_mean, mean)
    assert np.all(after_std[batch.ids] < std[batch.ids])
    assert np.all(after_std <= std + 1e-12)


@pytest.mark.parametrize("frozen", [False, True])
def test_covariances_say_what_more_evaluations_would_do(frozen):
    X, _, rng = problem()
    opt = nr.GPUCB(X, KERNEL, lam=0.1)
    ids = rng.integers(len(X), size=30)
    evaluate(opt, ids)
    opt.beta  # noqa: B018
    pending = np.zeros(len(opt._model.arms), dtype=np.int64)
    pending[[0, 2]] = [1, 3]
    view = PosteriorView(opt._model, pending, frozen)
    arms = opt._observations.ids
    unseen = np.setdiff1d(np.arange(len(X)), ids)
    picks = arms[[1, 4]] if frozen else unseen[:2]
    everything = np.concatenate([ids, arms[[0, 2, 2, 2]], picks[[0, 0, 1]]])
    _, expected = exact_posterior(KERNEL, X, everything, np.zeros(len(everything)), 0.1)
    both = np.concatenate([picks, unseen[2:4], arms[:3]])
    covariance = view.covariance(view.block(both), view.block(both))
    at = np.array([0, 0, 1])
    inner = covariance[np.ix_(at, at)] + np.eye(3)
    shrunk = covariance - covariance[:, at] @ np.linalg.solve(inner, covariance[at])
    falls = (covariance - shrunk).diagonal()
    np.testing.assert_allclose(view.leverage[both] - falls, expected[both], atol=1e-8)


def test_information_gain_is_half_the_log_determinant():
    X, _, rng = problem()
    opt = nr.GPUCB(X, KERNEL, lam=0.5)
    ids = rng.integers(len(X), size=30)
    for id_ in ids:
        opt.tell([id_], [0.0])
        opt.predict()
    K = KERNEL(X[ids], X[ids])
    expected = 0.5 * np.linalg.slogdet(K / 0.5 + np.eye(30))[1]
    assert opt.information_gain() == pytest.approx(expected, rel=1e-9)
    effective = np.trace(np.linalg.solve(K + 0.5 * np.eye(30), K))
    assert opt.effective_dimension() == pytest.approx(effective, rel=1e-9)


def test_log_det_bound_is_one():
    X, f, rng = problem(arms=80)
    opt = nr.BBKB(X, KERNEL, noise=0.1, lam=0.3, qbar=0.5, seed=3)
    run(opt, f, 0.1, rng, 150)
    ids = opt.history.ids
    exact = np.linalg.slogdet(KERNEL(X[ids], X[ids]) / 0.3 + np.eye(len(ids)))[1]
    opt.beta  # noqa: B018
    assert opt._model.log_det() <= exact + 1e-9
    assert opt._model.log_det_bound() >= exact - 1e-9


def test_an_interrupted_update_is_made_good():
    X, f, rng = problem()
    calls = {"left": 10**9}

    def kernel(xs, ys):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise KeyboardInterrupt
        return nr.RBF(0.4)(xs, ys)

    opt = nr.BBKB(X, kernel, noise=0.1, lam=0.1, seed=1)
    run(opt, f, 0.1, rng, 20)
    for left in range(8):
        opt.tell([left], [f[left]])
        calls["left"] = left
        with contextlib.suppress(KeyboardInterrupt):
            opt.ask()
        calls["left"] = 10**9
        mean, std = opt.predict()
    history = opt.history
    inducing = X[opt.dictionary]
    expected, _ = sparse_posterior(nr.RBF(0.4), X, history.ids, history.rewards, 0.1, inducing)
    np.testing.assert_allclose(mean, expected, atol=1e-8)


def test_pivoted_cholesky_drops_dependent_points():
    points = np.array([[0.0], [1.0], [0.0], [1.0], [2.0]])
    lower, kept = pivoted_cholesky(KERNEL(points, points), 1e-10)
    assert sorted(points[kept, 0]) == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(lower @ lower.T, KERNEL(points[kept], points[kept]))


@pytest.mark.parametrize(("m", "k"), [(0, 3), (1, 1), (7, 5), (40, 9), (300, 33)])
def test_row_products_are_plain_products(m, k):
    rng = np.random.default_rng(0)
    buffer = rng.standard_normal((3000, m + 3))
    vectors = rng.standard_normal((k, m))
    np.testing.assert_allclose(
        row_products(buffer[:, :m], vectors), buffer[:, :m] @ vectors.T, atol=1e-10
    )


def test_arms_in_the_span_cost_no_rebuild():
    """A smooth kernel on a fine line: hundreds of arms, a dozen directions."""
    x = np.linspace(0, 1, 400)[:, None]
    kernel = nr.RBF(0.5)
    model = SparseGP(kernel, 0.1, x, kernel.diag(x))
    model.see_points(x, kernel.diag(x))
    counts = np.zeros(len(x), dtype=np.int64)
    for row in np.random.default_rng(0).permutation(len(x))[:300]:
        counts[row] += 1
        model.advance(counts, np.sin(x[:, 0]) * counts, np.flatnonzero(counts))
    assert model.size < 30
    root = model.root
    counts[5] += 1
    model.advance(counts, np.sin(x[:, 0]) * counts, np.flatnonzero(counts))
    assert model.root is root
