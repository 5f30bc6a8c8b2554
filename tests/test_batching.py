"""The rules that end a batch, by hand, and the bounds they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import assert_close, exact_posterior, problem, run, sparse_posterior

import noregret as nr

KERNEL = nr.RBF(0.3)


def started(cls=nr.BBKB, arms=80, steps=20, seed=0, **options):
    X, f, rng = problem(seed, arms=arms)
    options = {"noise": 0.1, "lam": 0.05, "seed": seed, "width": 2.0, **options}
    opt = cls(X, KERNEL, **options)
    return X, f, rng, run(opt, f, 0.1, rng, steps, limit=1)


@pytest.mark.parametrize("rule", ["global", "local"])
@pytest.mark.parametrize("seed", range(5))
def test_both_ratio_bounds_hold(rule, seed):
    """Lemmas 1 and 3: no deviation shrinks by more than C̃ before the last pick of a batch."""
    X, _, _, opt = started(seed=seed, ratio=2.0, batch_rule=rule, qbar=1.0)
    ids = opt.history.ids
    batch = opt.ask()
    inducing = X[opt.dictionary]
    _, start = sparse_posterior(KERNEL, X, ids, np.zeros(len(ids)), opt.lam, inducing)
    for length in range(1, len(batch)):
        now = np.concatenate([ids, batch.ids[:length]])
        _, leverage = sparse_posterior(KERNEL, X, now, np.zeros(len(now)), opt.lam, inducing)
        assert np.all(np.sqrt(start / leverage) <= 2.0 + 1e-9)
        lemma1 = 1 + start[batch.ids[:length]].sum()
        assert np.all(start / leverage <= lemma1 + 1e-9)
    assert batch.info.ratio > 2.0


def test_local_rule_gives_longer_batches():
    lengths = {}
    for rule in ("global", "local"):
        total = 0
        for seed in range(5):
            X, f, rng, opt = started(seed=seed, ratio=2.0, batch_rule=rule, steps=40)
            total += len(opt.ask())
        lengths[rule] = total
    assert lengths["local"] > lengths["global"]


@pytest.mark.parametrize("cls", [nr.BBKB, nr.GPBUCB])
@pytest.mark.parametrize("seed", range(4))
def test_local_rule_is_the_ratio_itself_by_hand(cls, seed):
    """Section 4: a batch ends where a variance has shrunk by more than C̃; picks are new arms."""
    X, f, rng = problem(seed, arms=200)
    kernel, options = nr.RBF(0.15), {"lam": 1.0, "width": 2.0, "batch_rule": "local"}
    opt = run(cls(X, kernel, seed=seed, **options), f, 0.1, rng, 30, limit=1)
    ids = opt.history.ids
    inducing = X[opt.dictionary]
    batch = opt.ask()
    assert len(np.setdiff1d(batch.ids, ids)) > 3
    cross = kernel(inducing, X)
    Q = cross.T @ np.linalg.solve(kernel(inducing, inducing), cross)
    inner = np.linalg.solve(Q[np.ix_(ids, ids)] + np.eye(len(ids)), Q[ids])
    start = kernel(X, X) - Q[:, ids] @ inner
    ratios = []
    for length in range(1, len(batch) + 1):
        columns = start[:, batch.ids[:length]]
        inner = np.eye(length) + columns[batch.ids[:length]]
        falls = np.einsum("ij,ji->i", columns, np.linalg.solve(inner, columns.T))
        ratios.append((start.diagonal() / (start.diagonal() - falls)).max())
    assert max(ratios[:-1]) <= 2.0 < ratios[-1]


@pytest.mark.parametrize("width", [2.0, "theory", "paper"])
@pytest.mark.parametrize("seed", range(5))
def test_local_rule_sees_what_the_last_pick_does_to_other_candidates(width, seed):
    """With a linear kernel a pick often shrinks another variance more than its own."""
    X, kernel = np.random.default_rng(seed).normal(size=(40, 4)), nr.Linear()
    options = {"width": width, "bounds": "current", "batch_rule": "local"}
    opt = nr.GPBUCB(X, kernel, noise=1.0, lam=1.0, ratio=1.5, seed=seed, **options)
    for _ in range(15):
        ids = opt.history.ids
        batch = opt.ask()
        told = [exact_posterior(kernel, X, ids, np.zeros(len(ids)), 1.0)[1]]
        for length in range(1, len(batch)):
            now = np.concatenate([ids, batch.ids[:length]])
            told.append(exact_posterior(kernel, X, now, np.zeros(len(now)), 1.0)[1])
        assert max((told[0] / after).max() for after in told) <= 1.5 + 1e-9
        now = np.concatenate([ids, batch.ids])
        _, last = exact_posterior(kernel, X, now, np.zeros(len(now)), 1.0)
        if not batch.uniform:
            assert_close(batch.info.ratio, (told[0] / last).max())
        opt.tell(batch, X[batch.ids, 0])


def test_local_rule_never_ends_a_batch_before_the_global_one():
    """Lemma 1 bounds the ratio, also where covariances outside the dictionary are negative."""
    for seed in range(5):
        X, _, _, opt = started(seed=seed, ratio=2.0, batch_rule="local", steps=30, qbar=0.5)
        ids = opt.history.ids
        batch = opt.ask()
        inducing = X[opt.dictionary]
        _, start = sparse_posterior(KERNEL, X, ids, np.zeros(len(ids)), opt.lam, inducing)
        assert 1 + start[batch.ids].sum() > 2.0


def test_product_rule_is_proposition_1_by_hand():
    X, _, _, opt = started(nr.GPBUCB, ratio=2.0, batch_rule="product", steps=40)
    ids = list(opt.history.ids)
    batch = opt.ask()
    product = 1.0
    for i, pick in enumerate(batch.ids):
        _, leverage = exact_posterior(KERNEL, X, ids, np.zeros(len(ids)), opt.lam)
        product *= 1 + leverage[pick]
        ids.append(int(pick))
        assert (product > 2.0) == (i == len(batch) - 1)
    assert batch.info.ratio == pytest.approx(product)


def test_sum_rule_is_lemma_1_by_hand():
    X, _, _, opt = started(nr.GPBUCB, ratio=3.0, batch_rule="global", steps=40)
    ids = opt.history.ids
    _, start = exact_posterior(KERNEL, X, ids, np.zeros(len(ids)), opt.lam)
    batch = opt.ask()
    sums = 1 + np.cumsum(start[batch.ids])
    assert len(batch) > 1
    assert np.all(sums[:-1] <= 3.0)
    assert sums[-1] > 3.0
    assert batch.info.ratio == pytest.approx(sums[-1])


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BKB])
def test_several_points_at_once_are_spread_out(cls):
    """Arms outside the dictionary count as evaluated once they are picked."""
    X = np.arange(20.0)[:, None]
    opt = cls(X, nr.RBF(0.1), noise=0.1, lam=0.01, seed=0)
    opt.tell([3], [0.0])
    assert len(np.unique(opt.ask(15).ids)) == 15


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 12), rounds=st.integers(1, 4), seed=st.integers(0, 5))
def test_ask_n_is_exact_for_sequential_rules_and_an_upper_bound_for_adaptive_ones(n, rounds, seed):
    X, f, _ = problem(arms=30)
    for cls in (nr.GPUCB, nr.BKB):
        opt = cls(X, KERNEL, norm=4.0, seed=seed)
        for _ in range(rounds):
            batch = opt.ask(n)
            assert len(batch) == n
            opt.tell(batch, f[batch.ids])
    for cls in (nr.GPBUCB, nr.BBKB):
        opt = cls(X, KERNEL, norm=4.0, seed=seed)
        for _ in range(rounds):
            batch = opt.ask(n)
            assert 1 <= len(batch) <= n
            opt.tell(batch, f[batch.ids])


def test_a_local_batch_ends_where_the_dictionary_leaves_its_picks_out():
    """With two inducing points at most, most variances do not shrink within a batch."""
    X = np.random.default_rng(0).uniform(size=(200, 3))
    opt = nr.BBKB(
        X,
        nr.RBF(0.3),
        noise=0.01,
        lam=1e-4,
        width="practical",
        batch_rule="local",
        qbar=1e-9,
        seed=0,
    )
    opt.tell([0, 1], [0.0, 1.0])
    for _ in range(3):
        batch = opt.ask(1000)
        assert len(batch) < 1000
        assert batch.info.ratio > 2
        opt.tell(batch, X[batch.ids, 0])


def test_a_plate_reports_the_ratio_that_all_of_its_picks_reached():
    X, kernel = np.random.default_rng(0).normal(size=(40, 4)), nr.Linear()
    opt = nr.GPBUCB(X, kernel, noise=1.0, lam=1.0, width=2.0, batch_rule="local", seed=0)
    opt.tell([0, 1, 2], [0.0, 1.0, -1.0])
    batch = opt.ask(20, fill=True)
    ids = np.array([0, 1, 2])
    start = exact_posterior(kernel, X, ids, np.zeros(3), 1.0)[1]
    now = np.concatenate([ids, batch.ids])
    after = exact_posterior(kernel, X, now, np.zeros(len(now)), 1.0)[1]
    assert batch.info.ratio == pytest.approx((start / after).max())
