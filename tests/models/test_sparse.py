"""The sparse GP against naive computations: features, counts, increments, pending points."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import exact_posterior, precise_posterior, problem, run, sparse_posterior

import noregret as nr
from noregret.learning.beliefs import log_det_bounds
from noregret.models.followed import Followed
from noregret.models.sparse import SparseGP

KERNEL = nr.RBF(0.4)
EPS = np.finfo(float).eps


def evaluate(opt, ids, seed=0):
    y = np.random.default_rng(seed).standard_normal(len(ids))
    opt.tell(ids, y)
    return y


def model_of(kernel, lam, points):
    return SparseGP(kernel, (lam,), points[:0], float(kernel.diag(points).max()))


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
    opt = nr.BBKB(X, KERNEL, noise=0.1, lam=0.3, qbar=0.5, width=2.0, dictionary=mode, seed=3)
    run(opt, f, 0.1, rng, 150)
    history, inducing = opt.history, X[opt.dictionary]
    assert 1 < len(inducing) < len(np.unique(history.ids))
    expected = sparse_posterior(KERNEL, X, history.ids, history.rewards, 0.3, inducing)
    mean, std = opt.predict()
    np.testing.assert_allclose(mean, expected[0], atol=1e-8)
    np.testing.assert_allclose(std**2 / 0.3, expected[1], atol=1e-8)


def test_sparse_equals_exact_when_the_dictionary_is_every_pulled_arm():
    X, _, rng = problem()
    ids = rng.integers(len(X), size=50)
    sparse = nr.BKB(X, KERNEL, lam=0.01, qbar=1e9, width=2.0, seed=0)
    exact = nr.GPUCB(X, KERNEL, lam=0.01, width=2.0, seed=0)
    for opt in (sparse, exact):
        for part in np.array_split(np.arange(50), 25):
            opt.tell(ids[part], np.cos(ids[part]))
            opt.ask()
    np.testing.assert_allclose(
        sparse.predict(pending=False), exact.predict(pending=False), atol=1e-9
    )


def test_counts_equal_repeated_rows():
    X, _, rng = problem()
    ids = np.repeat([3, 7, 7, 9], [5, 1, 2, 4])
    y = rng.standard_normal(len(ids))
    one_by_one = nr.GPUCB(X, KERNEL, lam=0.2, width=2.0, seed=0)
    for id_, value in zip(ids, y, strict=True):
        one_by_one.tell([id_], [value])
        one_by_one.cancel(one_by_one.ask())
    mean, leverage = exact_posterior(KERNEL, X, ids, y, 0.2)
    np.testing.assert_allclose(one_by_one.predict()[0], mean, atol=1e-10)
    np.testing.assert_allclose(one_by_one.predict()[1] ** 2 / 0.2, leverage, atol=1e-9)


def test_incremental_equals_from_scratch_after_hundreds_of_steps():
    X, f, rng = problem(arms=300)
    kernel = nr.Matern(0.3, nu=1.5)
    opt = nr.BKB(X, kernel, noise=0.1, lam=0.01, width=2.0, seed=0)
    run(opt, f, 0.1, rng, 600)
    history = opt.history
    counts = np.bincount(history.ids, minlength=300)
    sums = np.bincount(history.ids, history.rewards, minlength=300)
    scratch = model_of(kernel, 0.01, X)
    scratch.rebuild(X, counts, sums, opt.dictionary)
    mean, leverage = scratch.posterior().evaluate(X)
    np.testing.assert_allclose(opt.predict()[0], mean, atol=1e-8)
    np.testing.assert_allclose(opt.predict()[1] ** 2 / 0.01, leverage, atol=1e-8)
    assert 2 * opt.information_gain() == pytest.approx(scratch.log_dets()[0], abs=1e-8)


def draw_moves(data, opt, f, noise):
    """Ask, tell, cancel and tell unasked in any order; what is told and pending, by arm."""
    told, sums, pending = np.zeros(len(f), int), np.zeros(len(f)), np.zeros(len(f), int)
    rng, flights = np.random.default_rng(data.draw(st.integers(0, 99))), []

    def tell(ids, **how):
        y = f[ids] + noise * rng.standard_normal(len(ids))
        opt.tell(ids, y, **how)
        np.add.at(told, ids, 1)
        np.add.at(sums, ids, y)

    tell(rng.integers(len(f), size=2), unasked=True)
    moves = st.sampled_from(["ask", "tell", "part", "cancel", "unasked"])
    for move in data.draw(st.lists(moves, min_size=3, max_size=14)):
        if move == "ask":
            flights.append(opt.ask(data.draw(st.integers(1, 5))))
            np.add.at(pending, flights[-1].ids, 1)
        elif move == "unasked":
            tell(rng.integers(len(f), size=data.draw(st.integers(1, 6))), unasked=True)
        elif flights:
            batch = flights.pop(data.draw(st.integers(0, len(flights) - 1)))
            if move == "part" and len(batch) > 1:
                flights.append(batch[1:])
                batch = batch[:1]
            np.add.at(pending, batch.ids, -1)
            if move == "cancel":
                opt.cancel(batch)
            else:
                tell(batch.ids)
    return told, sums, pending


@pytest.mark.parametrize(
    "kernel",
    [nr.RBF(0.3), nr.Matern(0.3, nu=2.5), nr.Linear(offset=0.5), nr.Matern(0.2, nu=0.5)],
    ids=repr,
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_after_any_moves_the_posterior_is_the_one_from_scratch(kernel, data):
    lam = 10.0 ** data.draw(st.integers(-8, 8))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    X = rng.uniform(size=(25, 2))
    X[20:] = X[:5]  # duplicates
    f = rng.standard_normal(25)  # of no finite norm: the hardest to follow
    noise = min(np.sqrt(lam), 1.0)
    opt = nr.GPUCB(X, kernel, lam=lam, noise=noise, width=2.0, seed=0)
    told, sums, pending = draw_moves(data, opt, f, noise)
    mean, std = opt.predict()
    expected, _ = precise_posterior(kernel, X, told, sums, lam)
    _, variance = precise_posterior(kernel, X, told + pending, sums, lam)
    condition = 1.0 + (told + pending).sum() * kernel.diag(X).max() / lam
    largest = np.abs(sums / np.maximum(told, 1)).max()
    np.testing.assert_allclose(mean, expected, atol=largest * (1e-11 + 100 * EPS * condition))
    np.testing.assert_allclose(std**2, variance, rtol=1e-10 + 100 * EPS * condition, atol=1e-15)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_directions_that_are_left_out_do_not_matter(data):
    """A smooth kernel: round-off eats directions, which hardly moves means and deviations."""
    lam = 10.0 ** data.draw(st.integers(-8, 2))
    rng, kernel = np.random.default_rng(data.draw(st.integers(0, 9))), nr.RBF(1.0)
    X = rng.uniform(size=(40, 2))
    f = kernel(X, X[:4]) @ rng.standard_normal(4)
    opt = nr.GPUCB(X, kernel, lam=lam, noise=np.sqrt(lam), width=2.0, seed=0)
    told, sums, pending = draw_moves(data, opt, f, np.sqrt(lam))
    mean, std = opt.predict(pending=False)
    expected, variance = precise_posterior(kernel, X, told, sums, lam)
    assert np.all(np.abs(mean - expected) <= 0.05 * std)
    np.testing.assert_allclose(std**2, variance, rtol=0.01)


@pytest.mark.parametrize(
    ("noise", "width", "chunks"), [(0.0, "theory", 0), (0.0, 2.0, 8), (1e-4, "theory", 8)]
)
def test_little_noise_and_much_pending(noise, width, chunks):
    """Twenty workers whose answers come ten at a time, with history in chunks before."""
    kernel, rng = nr.Matern(0.3, nu=2.5), np.random.default_rng(1)
    X = rng.uniform(size=(500, 2))
    f = np.sin(6 * X[:, 0]) * np.cos(4 * X[:, 1])
    opt = nr.GPUCB(X, kernel, noise=noise, norm=3.0, width=width, seed=0)
    for _ in range(chunks):
        ids = rng.integers(500, size=15)
        opt.tell(ids, f[ids])
        opt.predict()
    waiting = opt.ask(20).ids
    while opt.t < 200:
        done, waiting = waiting[:10], waiting[10:]
        opt.tell(done, f[done] + noise * rng.standard_normal(10))
        mean, _ = opt.predict()
        assert np.abs(mean).max() < 1.1
        waiting = np.concatenate([waiting, opt.ask(10).ids])
    history = opt.history
    told = np.bincount(history.ids, minlength=500)
    sums = np.bincount(history.ids, history.rewards, minlength=500)
    mean, std = opt.predict(pending=False)
    expected, variance = precise_posterior(kernel, X, told, sums, opt.assumed.lam)
    np.testing.assert_allclose(mean, expected, atol=1e-7)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-3)


def test_information_gain_is_half_the_log_determinant():
    X, _, rng = problem()
    opt = nr.GPUCB(X, KERNEL, lam=0.5, width=2.0, seed=0)
    ids = rng.integers(len(X), size=30)
    for id_ in ids:
        opt.tell([id_], [0.0])
        opt.ask()
    K = KERNEL(X[ids], X[ids])
    expected = 0.5 * np.linalg.slogdet(K / 0.5 + np.eye(30))[1]
    assert opt.information_gain() == pytest.approx(expected, rel=1e-9)
    effective = np.trace(np.linalg.solve(K + 0.5 * np.eye(30), K))
    assert opt.effective_dimension() == pytest.approx(effective, rel=1e-9)


def test_log_determinants_ridges_and_traces_by_hand():
    X, _, rng = problem(arms=30)
    ids, lams = rng.integers(30, size=60), (0.3, 3.0)
    y = rng.standard_normal(60)
    told, sums = np.bincount(ids, minlength=30), np.bincount(ids, y, minlength=30)
    scatter = float(((y - (sums / np.maximum(told, 1))[ids]) ** 2).sum())
    model = SparseGP(KERNEL, lams, X[:0], 1.0)
    model.rebuild(X, told, sums, np.unique(ids)[:6])
    inducing = X[np.unique(ids)[:6]]
    cross = KERNEL(inducing, X[ids])
    Q = cross.T @ np.linalg.solve(KERNEL(inducing, inducing), cross)
    K = KERNEL(X[ids], X[ids])
    assert model.trace() == pytest.approx(np.trace(K - Q))
    assert model.prior_sum() == pytest.approx(60.0)
    for i, lam in enumerate(lams):
        on_span, whole = (np.linalg.slogdet(M / lam + np.eye(60))[1] for M in (Q, K))
        assert model.log_dets()[i] == pytest.approx(on_span)
        assert log_det_bounds(model)[i] >= whole
        ridge = lam * y @ np.linalg.solve(Q + lam * np.eye(60), y)
        assert model.ridge(scatter)()[i] == pytest.approx(ridge)
        assert model.ridges_of(np.array([lam]), scatter)[0] == pytest.approx(ridge)


def test_what_is_kept_of_a_model_is_computed_again_after_each_change():
    X, _, rng = problem(arms=20)
    counts, sums = np.ones(20, dtype=np.int64), rng.standard_normal(20)
    model = model_of(KERNEL, 0.3, X)

    def check():
        fresh = model_of(KERNEL, 0.3, X)
        fresh.rebuild(X, model.counts.astype(np.int64), model.sums, model.dictionary)
        np.testing.assert_allclose(model.ridge(0.0)(), fresh.ridge(0.0)())
        np.testing.assert_allclose(log_det_bounds(model), log_det_bounds(fresh))

    model.rebuild(X, counts, sums, np.arange(5))
    check()
    other = model.copy()
    model.advance(X, counts + (np.arange(20) < 3), sums + 1.0, np.array([7]))
    check()
    before = model.ridge(0.0)()
    model.set_weights(np.zeros(model.size))
    assert model.ridge(0.0)() > before  # least squares has the smallest
    model = other
    check()


def test_an_interrupted_update_is_made_good():
    X, f, rng = problem()
    calls = {"left": 10**9}

    def kernel(xs, ys):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise KeyboardInterrupt
        return nr.RBF(0.4)(xs, ys)

    opt = nr.BBKB(X, kernel, noise=0.1, lam=0.1, width=2.0, seed=1)
    run(opt, f, 0.1, rng, 20)
    for left in range(8):
        opt.tell([left], [f[left]])
        calls["left"] = left
        with contextlib.suppress(KeyboardInterrupt):
            opt.ask()
        calls["left"] = 10**9
        mean, _ = opt.predict()
    history = opt.history
    inducing = X[opt.dictionary]
    expected, _ = sparse_posterior(nr.RBF(0.4), X, history.ids, history.rewards, 0.1, inducing)
    np.testing.assert_allclose(mean, expected, atol=1e-8)


def test_arms_in_the_span_cost_no_rebuild():
    """A smooth kernel on a fine line: hundreds of arms, a dozen directions."""
    x = np.linspace(0, 1, 400)[:, None]
    model = model_of(nr.RBF(0.5), 0.1, x)
    counts = np.zeros(len(x), dtype=np.int64)
    for row in np.random.default_rng(0).permutation(len(x))[:300]:
        counts[row] += 1
        model.advance(x, counts, np.sin(x[:, 0]) * counts, np.flatnonzero(counts))
    assert model.size < 30
    counts[5] += 1
    model.advance(x, counts, np.sin(x[:, 0]) * counts, np.flatnonzero(counts))
    assert model.updates
    assert model.updates[-1].new_points is None


def test_a_recounted_model_is_one_computed_from_scratch():
    X, _, rng = problem()
    counts, sums, points = rng.integers(1, 5, 12), rng.standard_normal(12), X[:12]
    old, new = model_of(KERNEL, 0.1, X), model_of(KERNEL, 0.1, X)
    old.rebuild(points, counts, sums, np.arange(12))
    before = old.mean(np.arange(12))
    more, sums_now = counts + (np.arange(12) == 3), sums + 0.5
    found = old.recounted(more, sums_now)
    new.rebuild(points, more, sums_now, np.arange(12))
    for one, other in zip(found.posterior().evaluate(X), new.posterior().evaluate(X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.log_dets(), new.log_dets())
    np.testing.assert_array_equal(found.ridge(1.0)(), new.ridge(1.0)())
    np.testing.assert_array_equal(old.mean(np.arange(12)), before)


def test_points_that_are_followed_follow_a_recounted_model():
    X, _, rng = problem()
    model = model_of(KERNEL, 0.1, X)
    model.rebuild(X[:6], np.ones(6, dtype=np.int64), rng.standard_normal(6), np.arange(6))
    followed = Followed.all_of(X, model.posterior())
    model = model.recounted(np.arange(1, 7), rng.standard_normal(6))
    followed.apply(model.kernel, model.updates[-1])
    mean, leverage = model.posterior().evaluate(X)
    np.testing.assert_allclose(followed.mean, mean, atol=1e-12)
    np.testing.assert_allclose(followed.residual / 0.1 + followed.quadratic, leverage, atol=1e-12)
