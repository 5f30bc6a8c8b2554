"""The dictionary: draws, growth, compaction, and what the theorems promise of them."""

import numpy as np
import pytest
from reference import exact_leverage, problem, run, sparse_posterior

import noregret as nr
from noregret.models.dictionary import Sparsifier, inclusion_probability
from noregret.models.sparse import SparseGP
from noregret.widths.gaussian import bbkb_qbar

KERNEL = nr.RBF(0.5)


def test_inclusion_probability_by_hand():
    leverage = np.array([0.1, 0.1, 0.01, 2.0, 0.3])
    counts = np.array([1, 3, 100, 1, 0])
    expected = [0.2, 0.6, 1.0, 1.0, 0.0]
    np.testing.assert_allclose(inclusion_probability(leverage, counts, 2.0), expected)


def test_draws_follow_the_inclusion_probability():
    X, _, rng = problem(arms=30)
    counts = np.bincount(rng.integers(30, size=60), minlength=30)
    model = SparseGP(KERNEL, (1.0,), X[:0], 1.0)
    model.rebuild(X, counts, np.zeros(30), np.flatnonzero(counts))
    chance = inclusion_probability(model.leverage(), counts, 0.7)
    sparsifier = Sparsifier("resample")
    drawn = np.zeros(30)
    for seed in range(1000):
        drawn[sparsifier.plan(model, X, counts, 0.7, np.random.default_rng(seed)).rows] += 1
    np.testing.assert_allclose(drawn / 1000, chance, atol=0.06)


@pytest.mark.parametrize("cls", [nr.BKB, nr.BBKB])
def test_arms_that_are_known_well_stay_in_the_dictionary(cls):
    """Twenty tells an arm, q̄ = 2, a fresh draw each time: no interval of 20 runs is broken."""
    X = np.linspace(0, 1, 30)[:, None]
    f = KERNEL(X, X[[3, 17]]) @ [1.0, -1.0]
    norm = float(np.sqrt([1.0, -1.0] @ KERNEL(X[[3, 17]], X[[3, 17]]) @ [1.0, -1.0]))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        options = {"dictionary": "resample", "qbar": 2.0, "noise": 0.1, "lam": 0.01, "seed": seed}
        opt = cls(X, KERNEL, norm=norm, width="practical", **options)
        ids = np.repeat(np.arange(30), 20)
        opt.tell(ids, f[ids] + 0.1 * rng.standard_normal(len(ids)))
        for _ in range(5):
            batch = opt.ask(10)
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
            mean, std = opt.predict()
            assert np.all(np.abs(mean - f) <= opt.beta * std)


def test_a_grown_dictionary_contains_the_fresh_draw_and_the_old_points():
    X, f, rng = problem(arms=60)
    opt = nr.BBKB(X, nr.RBF(0.2), noise=0.1, lam=0.1, width=2.0, seed=0)
    before = set()
    while opt.t < 200:
        batch = opt.ask(20)
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        now = set(opt.dictionary.tolist())
        assert before <= now or any(event["event"] == "compact" for event in opt.events)
        before = now


def test_a_long_run_compacts_and_stays_right():
    X, f, rng = problem(arms=400)
    kernel = nr.RBF(0.1)
    opt = nr.BKB(X, kernel, noise=0.1, lam=0.3, width=1.0, qbar=1.0, seed=1)
    for part in np.split(rng.permutation(400)[:300], 10):
        opt.tell(part, f[part])
        opt.cancel(opt.ask())
    run(opt, f, 0.1, rng, 500)
    (event,) = (event for event in opt.events if event["event"] == "compact")
    assert event["after"] < 0.7 * event["before"]
    history, inducing = opt.history, X[opt.dictionary]
    mean, leverage = sparse_posterior(kernel, X, history.ids, history.rewards, 0.3, inducing)
    np.testing.assert_allclose(opt.predict()[0], mean, atol=1e-8)
    np.testing.assert_allclose(opt.predict()[1] ** 2, 0.3 * leverage, atol=1e-8)


def test_another_qbar_draws_again():
    X, f, rng = problem(arms=200)
    opt = nr.BBKB(X, nr.RBF(0.2), noise=0.1, lam=1.0, qbar=1.0, width=2.0, seed=0)
    run(opt, f, 0.1, rng, 300)
    large = opt.replace(qbar=1e9)
    assert (opt.qbar, large.qbar) == (1.0, 1e9)
    assert len(large.dictionary) == len(np.unique(opt.history.ids)) > len(opt.dictionary)
    exact = nr.GPUCB(X, opt.kernel, lam=1.0, width=2.0, seed=0)
    exact.tell(opt.history.ids, opt.history.rewards)
    np.testing.assert_allclose(large.predict(), exact.predict(), atol=1e-7)


def test_proved_bounds_take_in_arms_until_the_rest_hardly_widens_them():
    """tr R is what the dictionary leaves out: small with width="theory", whatever q̄ is."""
    X, f, rng = problem(arms=200)
    wide, proved = (
        nr.BBKB(X, nr.RBF(0.2), noise=0.5, norm=8.0, lam=0.25, qbar=0.1, width=width, seed=0)
        for width in (2.0, "theory")
    )
    for opt in (wide, proved):
        ids = np.random.default_rng(1).integers(200, size=100)
        opt.tell(ids, f[ids])
    assert len(proved.dictionary) > len(wide.dictionary)
    complete = nr.GPUCB(X, nr.RBF(0.2), noise=0.5, norm=8.0, lam=0.25, seed=0)
    complete.tell(ids, f[ids])
    assert proved.beta < 1.1 * complete.beta


@pytest.mark.parametrize("seed", range(2))
def test_lemma_2_holds_with_the_theorems_qbar(seed):
    """σ²/3 ≤ σ̃² ≤ 3σ² (BBKB Lemma 2) on a dictionary much smaller than the arms seen."""
    X, f, rng = problem(seed, arms=500)
    kernel = nr.RBF(1.0)
    opt = nr.BBKB(X, kernel, lam=1.0, width=2.0, qbar="theory", dictionary="resample", seed=seed)
    for _ in range(3):
        ids = rng.integers(500, size=40_000)
        opt.tell(ids, f[ids])
        batch = opt.ask(2000)
        opt.tell(batch, f[batch.ids])
        leverage = exact_leverage(kernel, X, np.bincount(opt.history.ids, minlength=500), 1.0)
        sparse = opt.predict()[1] ** 2
        assert np.all(sparse <= 3 * leverage)
        assert np.all(sparse >= leverage / 3)


def test_warm_start_takes_history_in_one_go():
    X, f, rng = problem(arms=2000)
    ids = rng.integers(2000, size=20_000)
    y = f[ids] + 0.1 * rng.standard_normal(len(ids))
    opt = nr.BBKB(X, nr.RBF(0.3), noise=0.1, lam=0.1, norm=4.0, seed=0, width="practical")
    opt.tell(ids, y)
    batch = opt.ask(500)
    assert [event["event"] for event in opt.events] == ["warm start"]
    assert len(opt.dictionary) < 300
    assert opt.beta < 12  # judged as a whole, not as 20,000 points against the prior
    assert np.mean(f[batch.ids]) > f.max() - 0.1
    assert abs(opt.recommend().mean - f[opt.recommend().id]) < 0.1


def test_dictionary_size_and_number_of_batches_stay_within_theorem_1():
    """|S| ≤ 81 C̃(1+κ²/λ)² q̄ d_eff and B ≤ C̃/(C̃−1) · 9(1+κ²/λ) Σσ²_t(x_t) (BBKB C.1)."""
    lam, ratio = 1.0, 2.0
    for seed in range(5):
        X, f, rng = problem(seed, arms=300)
        opt = nr.BBKB(
            X,
            KERNEL,
            noise=0.1,
            lam=lam,
            ratio=ratio,
            qbar="theory",
            delta=0.1,
            norm=4.0,
            seed=seed,
            width="practical",
        )
        batches, trace = 0, 0.0
        while opt.t < 1500:
            batch = opt.ask(1500 - opt.t)
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
            batches += 1
            std = opt.predict(batch.ids)[1]
            trace += float((std**2).sum() / lam)
            qbar = bbkb_qbar(ratio, opt.t, 0.1)
            bound = 81 * ratio * (1 + 1 / lam) ** 2 * qbar * opt.effective_dimension()
            assert len(opt.dictionary) <= bound
        assert batches <= ratio / (ratio - 1) * 9 * (1 + 1 / lam) * trace


def test_dictionary_follows_the_effective_dimension_not_t():
    X, f, rng = problem(arms=1000)
    opt = nr.BBKB(X, nr.RBF(0.7), noise=0.1, lam=0.1, norm=4.0, width="practical", seed=0)
    run(opt, f, 0.1, rng, 1000)
    early = len(opt.dictionary)
    run(opt, f, 0.1, rng, 10_000)
    assert len(opt.dictionary) < 1.5 * early + 10
    assert len(opt.dictionary) < 30 * opt.effective_dimension()
