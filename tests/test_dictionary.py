"""The dictionary: draws, growth, compaction, BLESS, and what the theorems promise of them."""

import numpy as np
import pytest
from reference import problem, run, sparse_posterior

import noregret as nr
from noregret.models.dictionary import Sparsifier, bless, inclusion_probability
from noregret.models.sparse import SparseGP

KERNEL = nr.RBF(0.5)


def exact_leverage(kernel, X, counts, lam):
    """Exact leverages of all arms from counts, through the eigenvectors of the weighted kernel."""
    root = np.sqrt(counts)
    K = root[:, None] * kernel(X, X) * root
    seen = kernel(X, X) * root
    values = kernel.diag(X) - np.einsum(
        "ij,ji->i", seen, np.linalg.solve(K + lam * np.eye(len(X)), seen.T)
    )
    return values / lam


def test_inclusion_probability_is_one_draw_per_evaluation():
    leverage = np.array([0.1, 0.1, 0.01, 2.0, 0.3])
    counts = np.array([1, 3, 100, 1, 0])
    expected = [0.2, 1 - 0.8**3, 1 - 0.98**100, 1.0, 0.0]
    np.testing.assert_allclose(inclusion_probability(leverage, counts, 2.0), expected)


def test_draws_follow_the_inclusion_probability():
    X, _, rng = problem(arms=30)
    opt = nr.BKB(X, KERNEL, lam=1.0, qbar=0.7, seed=0)
    opt.tell(rng.integers(30, size=60), np.zeros(60))
    opt.beta  # noqa: B018
    model = opt._model
    counts = opt._observations.told
    chance = inclusion_probability(model.arms.leverage(1.0), counts, 0.7)
    sparsifier = Sparsifier("resample")
    drawn = np.zeros(len(counts))
    for seed in range(2000):
        drawn[sparsifier.plan(model, counts, 0.7, np.random.default_rng(seed)).rows] += 1
    np.testing.assert_allclose(drawn / 2000, chance, atol=0.05)


def test_a_grown_dictionary_contains_the_fresh_draw_and_the_old_points():
    X, f, rng = problem(arms=60)
    opt = nr.BBKB(X, nr.RBF(0.2), noise=0.1, lam=0.1, seed=0)
    before = set()
    while opt.t < 200:
        batch = opt.ask()
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        now = set(opt.dictionary.tolist())
        assert before <= now or any(event["event"] == "compact" for event in opt.events)
        before = now


def test_compaction_pays_only_when_the_surplus_has_cost_a_rebuild():
    sparsifier = Sparsifier("grow")
    assert not sparsifier._compaction_pays(100, 90.0, 1)
    rounds = 0
    while not sparsifier._compaction_pays(400, 50.0, 3):
        rounds += 1
    spent = (rounds + 1) * (400 - 50) * 4
    rebuild = 2 * 50**2 + 32 * 400
    assert rebuild < spent < rebuild + 2 * (400 - 50) * 4


def test_a_long_run_compacts_and_stays_right():
    X, f, rng = problem(arms=300)
    opt = nr.BKB(X, nr.Matern(0.2, nu=1.5), noise=0.1, lam=1.0, width=1.0, qbar=1e9, seed=0)
    opt.tell(np.arange(300), f)
    assert len(opt.dictionary) == 300
    opt.qbar = 1.0
    run(opt, f, 0.1, rng, 1500)
    events = [event for event in opt.events if event["event"] == "compact"]
    assert len(events) >= 1
    assert events[0]["after"] < 300
    history = opt.history
    inducing = X[opt.dictionary]
    mean, leverage = sparse_posterior(opt.kernel, X, history.ids, history.rewards, 1.0, inducing)
    np.testing.assert_allclose(opt.predict()[0], mean, atol=1e-8)
    np.testing.assert_allclose(opt.predict()[1] ** 2, leverage, atol=1e-8)


def test_resparsify_draws_again_with_another_qbar():
    X, f, rng = problem(arms=200)
    opt = nr.BBKB(X, nr.RBF(0.2), noise=0.1, lam=1.0, qbar=1.0, seed=0)
    run(opt, f, 0.1, rng, 300)
    small = len(opt.dictionary)
    mean = opt.predict()[0]
    opt.resparsify(qbar=1e9)
    assert opt.qbar == 1e9
    assert len(opt.dictionary) == len(np.unique(opt.history.ids)) > small
    exact = nr.GPUCB(X, opt.kernel, lam=1.0)
    exact.tell(opt.history.ids, opt.history.rewards)
    np.testing.assert_allclose(opt.predict(), exact.predict(), atol=1e-7)
    assert np.abs(mean - exact.predict()[0]).max() < 0.2
    assert opt.events[-1]["event"] == "resparsify"
    with pytest.raises(ValueError, match="qbar"):
        opt.resparsify(qbar=0)
    assert opt.qbar == 1e9


def test_resparsify_before_the_first_reward_does_nothing():
    opt = nr.BBKB(np.eye(3), KERNEL)
    opt.resparsify(qbar=5.0)
    assert opt.qbar == 5.0
    assert len(opt.dictionary) == 0


@pytest.mark.parametrize("seed", range(5))
def test_lemma_2_holds_with_the_theorems_qbar(seed):
    """σ²/3 ≤ σ̃² ≤ 3σ² (BBKB Lemma 2) on a dictionary much smaller than the arms seen."""
    X, f, rng = problem(seed, arms=500)
    kernel = nr.RBF(1.0)
    opt = nr.BBKB(
        X, kernel, noise=0.1, lam=1.0, delta=0.1, qbar="theory", dictionary="resample", seed=seed
    )
    for _ in range(6):
        ids = rng.integers(500, size=40_000)
        opt.tell(ids, f[ids])
        batch = opt.ask(2000)
        opt.tell(batch, f[batch.ids])
        opt.beta  # noqa: B018
        leverage = exact_leverage(kernel, X, np.bincount(opt.history.ids, minlength=500), 1.0)
        sparse = opt._model.table.leverage(1.0)
        assert np.all(sparse <= 3 * leverage)
        assert np.all(sparse >= leverage / 3)


@pytest.mark.parametrize("seed", range(5))
def test_bless_satisfies_lemma_2(seed):
    """A dictionary drawn for historical data is accurate, and small."""
    arms = 2000
    X, f, rng = problem(seed, arms=arms)
    kernel = nr.RBF(1.0)
    counts = np.bincount(rng.integers(arms, size=100_000), minlength=arms)
    lam = 1.0
    rows = bless(kernel, X, counts, lam, 20.0, rng)
    assert len(rows) < arms / 4
    model = SparseGP(kernel, lam, X, kernel.diag(X))
    model.see(np.arange(arms))
    model.rebuild(counts, np.zeros(arms), rows)
    exact = exact_leverage(kernel, X, counts, lam)
    sparse = model.table.leverage(lam)
    assert np.all(sparse <= 3 * exact)
    assert np.all(sparse >= exact / 3)


def test_bless_with_a_practical_qbar_is_small_and_fair():
    X, f, rng = problem(arms=1500)
    kernel = nr.RBF(0.3)
    counts = np.bincount(rng.integers(1500, size=100_000), minlength=1500)
    exact = exact_leverage(kernel, X, counts, 0.1)
    dimension = float(counts @ exact)
    sizes, worst = [], []
    for seed in range(5):
        rows = bless(kernel, X, counts, 0.1, 2.0, np.random.default_rng(seed))
        model = SparseGP(kernel, 0.1, X, kernel.diag(X))
        model.see(np.arange(1500))
        model.rebuild(counts, np.zeros(1500), rows)
        sizes.append(len(rows))
        worst.append(np.median(model.table.leverage(0.1) / exact))
    assert max(sizes) < 8 * dimension
    assert max(worst) < 3


def test_warm_start_takes_history_in_one_go():
    X, f, rng = problem(arms=2000)
    ids = rng.integers(2000, size=20_000)
    y = f[ids] + 0.1 * rng.standard_normal(len(ids))
    opt = nr.BBKB(X, nr.RBF(0.3), noise=0.1, lam=0.1, seed=0, width="practical")
    opt.tell(ids, y)
    batch = opt.ask(500)
    assert [event["event"] for event in opt.events] == ["warm start"]
    assert len(opt.dictionary) < 300
    assert opt.beta < 10  # judged as a whole, not as 20,000 points against the prior
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
            bound = 81 * ratio * (1 + 1 / lam) ** 2 * opt._qbar() * opt.effective_dimension()
            assert len(opt.dictionary) <= bound
        assert batches <= ratio / (ratio - 1) * 9 * (1 + 1 / lam) * trace


def test_dictionary_follows_the_effective_dimension_not_t():
    X, f, rng = problem(arms=1000)
    opt = nr.BBKB(X, nr.RBF(0.7), noise=0.1, lam=0.1, width="practical", seed=0)
    run(opt, f, 0.1, rng, 1000)
    early = len(opt.dictionary)
    run(opt, f, 0.1, rng, 10_000)
    assert len(opt.dictionary) < 1.5 * early + 10
    assert len(opt.dictionary) < 30 * opt.effective_dimension()
