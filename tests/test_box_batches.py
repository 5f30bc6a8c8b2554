"""Batches on a box: BBKB's Lemma 3 for all points at once, and draws moved uphill."""

import numpy as np
import pytest

import noregret as nr
from noregret.batching import GlobalRatio, SpectralRatio
from noregret.models.sparse import SparseGP
from noregret.models.surface import Surface
from noregret.picking.box import BoxSearch
from noregret.picking.draws import thompson_box_batch

BOX = nr.Box([(0, 1), (0, 1)])


def surface_of(rng, arms=15, inducing=8, lam=0.05, frozen=True):
    """A sparse posterior of random data."""
    kernel = nr.Matern(0.4)
    X = rng.uniform(size=(arms, 2))
    model = SparseGP(kernel, lam, X[:0], np.empty(0), 1.0)
    model.see_points(X, kernel.diag(X))
    model.rebuild(np.ones(arms, dtype=int), rng.normal(size=arms), np.arange(inducing))
    return Surface(model, np.zeros(arms, dtype=int), frozen)


def told_kernel(surface, X, Y):
    """k̃_fb of BBKB eq. 2, by its definition."""
    model = surface.model
    inducing = model.arms.points[model.dictionary]
    inverse = np.linalg.inv(model.kernel(inducing, inducing))
    kx, ky = model.kernel(X, inducing), model.kernel(Y, inducing)
    ka = model.kernel(model.arms.points, inducing)
    # z'V⁻¹z in the dual: V = ZᵀZ + λI with Z = k_S K_S^(-1/2).
    root = np.linalg.cholesky(inverse)
    zx, zy, za = kx @ root, ky @ root, ka @ root
    V = za.T @ (za * model.counts[:, None]) + model.lam * np.eye(len(inducing))
    return (model.kernel(X, Y) - zx @ zy.T) / model.lam + zx @ np.linalg.solve(V, zy.T)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_holds_lemma_3_everywhere_and_is_at_most_lemma_1(seed):
    rng = np.random.default_rng(seed)
    surface = surface_of(rng)
    rule = SpectralRatio(1.0, surface.told_covariance, pending=0.3)
    first = GlobalRatio(1e9, pending=0.3)
    picks, tests = rng.uniform(size=(12, 2)), rng.uniform(size=(500, 2))
    picks[7] = picks[2]
    leverage = np.diag(told_kernel(surface, tests, tests))
    for i, pick in enumerate(picks):
        start, now = surface.note(pick)
        assert start == pytest.approx(told_kernel(surface, pick[None], pick[None])[0, 0])
        assert rule.add(i, start, now)  # beyond the threshold from the first pick on
        first.add(i, start, now)
        cross = told_kernel(surface, tests, picks[: i + 1])
        lemma3 = 1.3 + (np.square(cross).sum(axis=1) / leverage).max()
        matrix = told_kernel(surface, picks[: i + 1], picks[: i + 1])
        assert rule.ratio == pytest.approx(1.3 + np.linalg.eigvalsh(matrix)[-1])
        assert lemma3 <= rule.ratio + 1e-9
        assert rule.ratio <= first.ratio + 1e-9


def test_deviations_shrink_by_no_more_than_the_ratio():
    """σ̃²_fb/σ̃²_t ≤ 1 + λ_max at any point, the dictionary's span alone or all of it followed."""
    rng = np.random.default_rng(0)
    tests = rng.uniform(size=(300, 2))
    for frozen in (False, True):
        surface = surface_of(rng, frozen=frozen)
        before = surface.evaluate(tests)[1]
        rule = SpectralRatio(1.5, surface.told_covariance)
        for i, pick in enumerate(rng.uniform(size=(8, 2))):
            rule.add(i, *surface.note(pick))
            surface.add(pick)
            shrunk = before / surface.evaluate(tests)[1]
            assert shrunk.max() <= rule.ratio + 1e-9
        assert shrunk.max() > 1.1


def test_cheap_steps_end_the_batch_where_eigenvalues_would():
    """The eigenvalue is computed only where its bound is not enough: the answer is the same."""
    rng = np.random.default_rng(1)
    surface = surface_of(rng)
    picks = rng.uniform(size=(60, 2))
    rule = SpectralRatio(12.0, surface.told_covariance)
    for i, pick in enumerate(picks):
        ended = rule.add(i, *surface.note(pick))
        matrix = told_kernel(surface, picks[: i + 1], picks[: i + 1])
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


# -- Thompson sampling ---------------------------------------------------------------------------


@pytest.mark.parametrize("outside", [0.0, 1.3, -0.7])
def test_gradients_of_drawn_functions_against_finite_differences(outside):
    rng = np.random.default_rng(2)
    surface = surface_of(rng)
    theta = rng.normal(size=surface.model.size)
    X = rng.uniform(size=(6, 2))
    values, gradients = surface.drawn(X, theta, outside)
    Z = surface.model.embed(X)
    np.testing.assert_allclose(values, Z @ theta + outside * np.sqrt(surface.residual(Z, X)))
    for i, step in enumerate(1e-6 * np.eye(2)):
        up, down = (surface.drawn(X + sign * step, theta, outside)[0] for sign in (1, -1))
        np.testing.assert_allclose(gradients[:, i], (up - down) / 2e-6, rtol=1e-4, atol=1e-5)


class _Limited:
    """A rule that never ends a batch."""

    ratio = 1.0

    def add(self, id_, start, now):
        return False


def test_draws_of_a_known_function_are_its_maximiser():
    """Where nearly all is known draws are the mean: every pick is its top, between Sobol points."""
    rng = np.random.default_rng(3)
    kernel = nr.RBF(0.6)
    X = BOX.grid(12).points
    model = SparseGP(kernel, 1e-6, X[:0], np.empty(0), 1.0)
    model.see_points(X, kernel.diag(X))
    y = np.exp(-2.0 * np.square(X - [0.37, 0.61]).sum(axis=1))
    model.rebuild(np.ones(len(X), dtype=int), y, np.arange(len(X)))
    surface = Surface(model, np.zeros(len(X), dtype=int), True)
    search = BoxSearch(BOX)
    picks = thompson_box_batch(search, surface, _Limited(), 8, X[:1], rng)
    assert picks.shape == (8, 2)
    screen = BOX.spread(search.screen_size, rng)
    nearest = np.sqrt(np.square(screen - [0.37, 0.61]).sum(axis=1).min())
    apart = np.sqrt(np.square(picks - [0.37, 0.61]).sum(axis=1))
    assert apart.max() < 0.01
    assert apart.max() < nearest


def test_draws_of_an_unknown_function_are_spread_over_the_box():
    """With no data and no dictionary there is nothing to climb: Sobol points as they are."""
    model = SparseGP(nr.RBF(0.2), 0.1, np.empty((0, 2)), np.empty(0), 1.0)
    surface = Surface(model, np.zeros(0, dtype=int), True)
    rng = np.random.default_rng(4)
    picks = thompson_box_batch(BoxSearch(BOX), surface, _Limited(), 40, np.empty((0, 2)), rng)
    assert len(np.unique(picks, axis=0)) > 35
    assert np.all(np.abs(picks.mean(axis=0) - 0.5) < 0.2)
    assert np.all(picks.std(axis=0) > 0.2)
