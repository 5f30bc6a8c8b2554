"""When is a batch on a box full? BBKB's Lemma 3 for all points at once."""

import numpy as np
import pytest

import noregret as nr
from noregret.batching import GlobalRatio
from noregret.models.fantasy import Fantasy
from noregret.models.sparse import SparseGP
from noregret.picking.boxes.spectral_ratio import SpectralRatio

BOX = nr.Box([(0, 1), (0, 1)])


def model_of(rng, arms=15, inducing=8, lam=0.05):
    """A sparse GP of random data, and its arms."""
    X = rng.uniform(size=(arms, 2))
    model = SparseGP(nr.Matern(0.4), (lam,), X[:0], 1.0)
    model.rebuild(X, np.ones(arms, dtype=int), rng.normal(size=arms), np.arange(inducing))
    return model, X


def fantasy_of(model, *, frozen=True):
    nothing = np.empty((0, 2))
    return Fantasy(model.posterior(), nothing, np.empty(0, dtype=int), frozen=frozen)


def told_kernel(model, arms, X, Y):
    """k̃_fb of BBKB eq. 2, by its definition."""
    inducing = arms[model.dictionary]
    inverse = np.linalg.inv(model.kernel(inducing, inducing))
    kx, ky = model.kernel(X, inducing), model.kernel(Y, inducing)
    ka = model.kernel(arms, inducing)
    # z'V⁻¹z in the dual: V = ZᵀZ + λI with Z = k_S K_S^(-1/2).
    root = np.linalg.cholesky(inverse)
    zx, zy, za = kx @ root, ky @ root, ka @ root
    V = za.T @ (za * model.counts[:, None]) + model.lam * np.eye(len(inducing))
    return (model.kernel(X, Y) - zx @ zy.T) / model.lam + zx @ np.linalg.solve(V, zy.T)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_holds_lemma_3_everywhere_and_is_at_most_lemma_1(seed):
    rng = np.random.default_rng(seed)
    model, arms = model_of(rng)
    fantasy = fantasy_of(model)
    rule = SpectralRatio(1.0, fantasy.posterior, pending=0.3)
    first = GlobalRatio(1e9, pending=0.3)
    picks, tests = rng.uniform(size=(12, 2)), rng.uniform(size=(500, 2))
    picks[7] = picks[2]
    leverage = np.diag(told_kernel(model, arms, tests, tests))
    for i, pick in enumerate(picks):
        block = fantasy.block(pick[None])
        expected = told_kernel(model, arms, pick[None], pick[None])[0, 0]
        assert block.told[0] == pytest.approx(expected)
        assert rule.add(block, 0)  # beyond the threshold from the first pick on
        first.add(block, 0)
        cross = told_kernel(model, arms, tests, picks[: i + 1])
        lemma3 = 1.3 + (np.square(cross).sum(axis=1) / leverage).max()
        matrix = told_kernel(model, arms, picks[: i + 1], picks[: i + 1])
        assert rule.ratio == pytest.approx(1.3 + np.linalg.eigvalsh(matrix)[-1])
        assert lemma3 <= rule.ratio + 1e-9
        assert rule.ratio <= first.ratio + 1e-9


def test_deviations_shrink_by_no_more_than_the_ratio():
    """σ̃²_fb/σ̃²_t ≤ 1 + λ_max at any point, the dictionary's span alone or all of it followed."""
    rng = np.random.default_rng(0)
    tests = rng.uniform(size=(300, 2))
    for frozen in (False, True):
        fantasy = fantasy_of(model_of(rng)[0], frozen=frozen)
        before = fantasy.evaluate(tests)[1]
        rule = SpectralRatio(1.5, fantasy.posterior)
        for pick in rng.uniform(size=(8, 2)):
            block = fantasy.block(pick[None])
            rule.add(block, 0)
            fantasy.add(block, 0)
            shrunk = before / fantasy.evaluate(tests)[1]
            assert shrunk.max() <= rule.ratio + 1e-9
        assert shrunk.max() > 1.1


def test_cheap_steps_end_the_batch_where_eigenvalues_would():
    """The eigenvalue is computed only where its bound is not enough: the answer is the same."""
    rng = np.random.default_rng(1)
    model, arms = model_of(rng)
    fantasy = fantasy_of(model)
    picks = rng.uniform(size=(60, 2))
    rule = SpectralRatio(12.0, fantasy.posterior)
    for i, pick in enumerate(picks):
        ended = rule.add(fantasy.block(pick[None]), 0)
        matrix = told_kernel(model, arms, picks[: i + 1], picks[: i + 1])
        exact = 1.0 + np.linalg.eigvalsh(matrix)[-1]
        assert ended == (exact > 12.0)
        assert rule.ratio >= exact - 1e-9
        if ended:
            break
    assert 3 < i < 59


def test_local_batches_are_longer():
    """Picks far apart: their leverages add up, the eigenvalue hardly grows."""
    sizes = {}
    for name in ("global", "local"):
        opt = nr.BBKB(BOX, nr.RBF(0.1), noise=0.3, batch_rule=name, ratio=30.0, width=2.0, seed=0)
        opt.tell(BOX.grid(3).points, np.zeros(9))
        batch = opt.ask(25)
        sizes[name] = len(batch)
        # Below the limit it is the pick that crosses the threshold which ends a batch.
        assert (batch.info.ratio > 30.0) == (len(batch) < 25)
    assert sizes["local"] > 2 * sizes["global"]
