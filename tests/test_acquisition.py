"""Batches: the lazy argmax, the rules that end a batch, and the bounds they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import exact_posterior, greedy_batch, problem, run, sparse_posterior

import noregret as nr
from noregret.picking import lists as acquisition
from noregret.picking.lists import top

KERNEL = nr.RBF(0.3)


def started(cls=nr.BBKB, arms=80, steps=20, seed=0, **options):
    X, f, rng = problem(seed, arms=arms)
    options = {"noise": 0.1, "lam": 0.05, "seed": seed, "width": 2.0, **options}
    opt = cls(X, KERNEL, **options)
    return X, f, rng, run(opt, f, 0.1, rng, steps, limit=1)


def width(opt):
    return opt.beta * np.sqrt(opt.lam)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ratio", [1.5, 3.0, 20.0])
def test_lazy_argmax_equals_full_argmax_at_every_pick(seed, ratio, monkeypatch):
    monkeypatch.setattr(acquisition, "_POOL", 4)  # so that pools must be changed often
    monkeypatch.setattr(acquisition, "_LARGEST_POOL", 16)
    X, _, _, opt = started(seed=seed, ratio=ratio, qbar=0.5)
    batch = opt.ask()
    history = opt.history
    expected = greedy_batch(
        KERNEL, X, list(history.ids), history.rewards, opt.lam, X[opt.dictionary], width(opt), ratio
    )
    assert batch.ids.tolist() == expected


def test_lazy_argmax_breaks_ties_by_the_smaller_id():
    X = np.repeat(np.arange(6.0), 3)[:, None]
    opt = nr.GPBUCB(X, nr.RBF(0.01), lam=0.1, width=1.0, ratio=1e9, seed=0)
    opt.tell([0], [-1.0])
    batch = opt.ask(10)
    assert batch.ids[:5].tolist() == [3, 6, 9, 12, 15]


@given(
    values=st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.5]), min_size=1, max_size=30),
    size=st.integers(1, 30),
)
def test_top_holds_the_largest_and_the_floor_bounds_the_rest(values, size):
    upper = np.array(values)
    ids, floor = top(upper, size)
    assert len(ids) == min(size, len(values))
    assert np.all(np.diff(ids) > 0)
    rest = np.delete(upper, ids)
    assert floor == (rest.max() if len(rest) else -np.inf)
    assert not len(rest) or upper[ids].min() >= floor
    by_hand = np.sort(np.lexsort((np.arange(len(values)), -upper))[:size])
    np.testing.assert_array_equal(ids, by_hand)


def test_ratio_one_gives_batches_of_one_and_bkbs_choices():
    X, f, _ = problem(arms=100)
    chosen = []
    for cls, options in ((nr.BKB, {}), (nr.BBKB, {"ratio": 1.0})):
        opt = cls(X, KERNEL, noise=0.1, lam=0.05, width=2.0, seed=5, **options)
        rng = np.random.default_rng(9)
        while opt.t < 60:
            batch = opt.ask()
            assert len(batch) == 1
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
        chosen.append(opt.history.ids)
    np.testing.assert_array_equal(*chosen)


def test_with_an_exact_dictionary_bbkb_is_gp_bucb():
    X, f, _ = problem(arms=40)
    runs = []
    for cls, options in (
        (nr.GPBUCB, {"batch_rule": "global"}),
        (nr.BBKB, {"qbar": 1e12}),
    ):
        opt = cls(X, KERNEL, noise=0.1, lam=0.05, width=2.0, seed=5, ratio=2.0, **options)
        opt.tell(np.arange(40), f)  # from here on the dictionary spans every arm
        run(opt, f, 0.1, np.random.default_rng(9), 150)
        runs.append(opt)
    np.testing.assert_array_equal(runs[0].history.ids, runs[1].history.ids)
    np.testing.assert_allclose(runs[0].predict()[1], runs[1].predict()[1], atol=1e-10)


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


def test_local_rule_is_lemma_3_by_hand():
    X, _, _, opt = started(ratio=2.0, batch_rule="local", steps=40, qbar=1.0)
    ids, y = opt.history.ids, opt.history.rewards
    batch = opt.ask()
    inducing = X[opt.dictionary]
    lam = opt.lam
    values, vectors = np.linalg.eigh(KERNEL(inducing, inducing))
    keep = values > 1e-10 * values.max()
    Z = KERNEL(X, inducing) @ (vectors[:, keep] / np.sqrt(values[keep]))
    V = Z[ids].T @ Z[ids] + lam * np.eye(Z.shape[1])
    covariance = (KERNEL(X, X) - Z @ Z.T) / lam + Z @ np.linalg.solve(V, Z.T)
    start = covariance.diagonal()

    def full(picks):
        if 1 + start[picks].sum() <= 2.0:
            return False
        return (1 + (covariance[:, picks] ** 2).sum(axis=1) / start).max() > 2.0

    assert len(y) == 40
    assert [full(batch.ids[: i + 1]) for i in range(len(batch))] == [False] * (len(batch) - 1) + [
        True
    ]


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
    for cls in (nr.GPUCB, nr.BKB, nr.Uniform):
        opt = cls(X, KERNEL, seed=seed)
        for _ in range(rounds):
            batch = opt.ask(n)
            assert len(batch) == n
            opt.tell(batch, f[batch.ids])
    for cls in (nr.GPBUCB, nr.BBKB):
        opt = cls(X, KERNEL, seed=seed)
        for _ in range(rounds):
            batch = opt.ask(n)
            assert 1 <= len(batch) <= n
            opt.tell(batch, f[batch.ids])


def test_batches_grow_over_time():
    X, f, rng = problem(arms=200)
    opt = nr.BBKB(X, nr.RBF(0.5), noise=0.1, lam=0.1, width="practical", delta=0.01, seed=0)
    lengths = []
    while opt.t < 2000:
        batch = opt.ask()
        lengths.append(len(batch))
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
    assert np.mean(lengths[-3:]) > 20 * np.mean(lengths[:3])


def test_min_batch_explores_first_and_then_keeps_its_promise():
    X, f, rng = problem(arms=120)
    least = 30
    opt = nr.BBKB(
        X,
        KERNEL,
        noise=0.1,
        lam=1.0,
        ratio=2.0,
        min_batch=least,
        width="practical",
        qbar="theory",
        delta=0.1,
        seed=0,
    )
    first = opt.ask()
    _, leverage = exact_posterior(KERNEL, X, first.ids, np.zeros(len(first)), 1.0)
    assert leverage.max() <= 1 / least
    _, before = exact_posterior(KERNEL, X, first.ids[:-1], np.zeros(len(first) - 1), 1.0)
    assert before.max() > 1 / least
    opt.tell(first, f[first.ids])
    for _ in range(15):
        batch = opt.ask()
        assert len(batch) >= least * (2.0 - 1) / 3
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))


def test_min_batch_can_be_asked_for_in_parts():
    X, f, _ = problem(arms=40)
    whole = nr.BBKB(X, KERNEL, lam=1.0, min_batch=10, seed=0).ask().ids
    opt = nr.BBKB(X, KERNEL, lam=1.0, min_batch=10, seed=0)
    parts = []
    while sum(map(len, parts)) < len(whole):
        batch = opt.ask(7)
        parts.append(batch.ids)
        opt.tell(batch, f[batch.ids])
    np.testing.assert_array_equal(np.concatenate(parts)[: len(whole)], whole)
    np.testing.assert_array_equal(whole, _uncertainty_sampling(KERNEL, X, 1.0, 10))


def test_min_batch_explores_a_list_that_replaces_the_first():
    """What is left of the first plan is forgotten; the new list is explored with what is known."""
    X, f, _ = problem(arms=40)
    opt = nr.BBKB(X, KERNEL, lam=1.0, min_batch=10, seed=0)
    batch = opt.ask(7)
    opt.tell(batch, f[batch.ids])
    opt.replace_candidates(X[:5])
    picks = opt.ask().ids
    arms = np.concatenate([X[batch.ids], X[:5][picks]])
    both, told = np.concatenate([X[:5], arms]), 5 + np.arange(len(arms))
    _, leverage = exact_posterior(KERNEL, both, told, np.zeros(len(told)), 1.0)
    assert leverage[:5].max() <= 1 / 10
    _, before = exact_posterior(KERNEL, both, told[:-1], np.zeros(len(told) - 1), 1.0)
    assert before[:5].max() > 1 / 10


def _uncertainty_sampling(kernel, X, lam, least):
    """Algorithm 3 of BBKB with variances from scratch."""
    picks = []
    while True:
        if picks:
            _, leverage = exact_posterior(kernel, X, picks, np.zeros(len(picks)), lam)
        else:
            leverage = kernel.diag(X) / lam
        if leverage.max() <= 1 / least:
            return picks
        picks.append(int(np.argmax(leverage)))
