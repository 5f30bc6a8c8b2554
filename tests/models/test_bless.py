"""BLESS: dictionaries for many evaluations at once, beside exact leverages."""

import numpy as np
import pytest
from reference import exact_leverage, problem

import noregret as nr
from noregret.models.bless import bless
from noregret.models.sparse import SparseGP


@pytest.mark.parametrize("seed", range(2))
def test_bless_satisfies_lemma_2(seed):
    """A dictionary drawn for historical data is accurate, and small."""
    arms = 1000
    X, f, rng = problem(seed, arms=arms)
    kernel = nr.RBF(1.0)
    counts = np.bincount(rng.integers(arms, size=100_000), minlength=arms)
    lam = 1.0
    rows = bless(kernel, X, counts, lam, 20.0, rng)
    assert len(rows) < arms / 2
    model = SparseGP(kernel, (lam,), X[:0], 1.0)
    model.rebuild(X, counts, np.zeros(arms), rows)
    exact = exact_leverage(kernel, X, counts, lam)
    sparse = model.leverage()
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
        model = SparseGP(kernel, (0.1,), X[:0], 1.0)
        model.rebuild(X, counts, np.zeros(1500), rows)
        sizes.append(len(rows))
        worst.append(np.median(model.leverage() / exact))
    assert max(sizes) < 8 * dimension
    assert max(worst) < 3


def test_arms_that_were_told_are_drawn_and_no_others():
    X, _, rng = problem(arms=200)
    counts = np.where(np.arange(200) % 3 == 0, rng.integers(1, 9, size=200), 0)
    everything = bless(nr.RBF(0.1), X, counts, 1e-3, 1e9, np.random.default_rng(0))
    np.testing.assert_array_equal(everything, np.flatnonzero(counts))
    few = bless(nr.RBF(1.0), X, counts, 1.0, 1e-9, np.random.default_rng(0))
    np.testing.assert_array_equal(few, [0])  # one is needed


def test_arms_enter_by_their_leverages():
    """With probability about min(1, q̄·n·leverage), for n evaluations of an arm."""
    X, _, _ = problem(arms=30)
    counts, shares = 50 * (1 + np.arange(30) % 3), np.zeros(30)
    for seed in range(400):
        rows = bless(nr.RBF(0.3), X, counts, 5.0, 1.0, np.random.default_rng(seed))
        shares[rows] += 1 / 400
    expected = np.minimum(counts * exact_leverage(nr.RBF(0.3), X, counts, 5.0), 1.0)
    assert shares.sum() == pytest.approx(expected.sum(), rel=0.05)
    np.testing.assert_allclose(shares, expected, atol=0.1)
