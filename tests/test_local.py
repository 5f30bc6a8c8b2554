"""Local GPs against the textbook's formulas."""

import numpy as np
import pytest

import noregret as nr
from noregret.models import local as local_module
from noregret.models.local import LocalGP
from noregret.models.local_sparse import SparseLocal

KERNEL = nr.Matern(0.4, nu=1.5)
LAM = 0.3


def textbook(points, history, rewards, where, lam=LAM):
    """Mean, variance and ½ log det(I + K/λ), one row per evaluation."""
    X = points[history]
    K = KERNEL(X, X)
    k = KERNEL(X, where)
    solved = np.linalg.solve(K + lam * np.eye(len(X)), k)
    variance = KERNEL.diag(where) - np.einsum("ij,ij->j", k, solved)
    gain = 0.5 * np.linalg.slogdet(np.eye(len(X)) + K / lam)[1]
    return solved.T @ rewards, variance, gain


def make(points, sparse=False):
    prior = KERNEL.diag(points)
    if sparse:
        return SparseLocal(KERNEL, LAM, points, prior, np.random.default_rng(0))
    return LocalGP(KERNEL, LAM, points, prior)


def condition(model, history, rewards):
    """Evaluations in bulk: unique points with counts and sums."""
    index, inverse = np.unique(history, return_inverse=True)
    counts = np.bincount(inverse).astype(float)
    model.condition(index, counts, np.bincount(inverse, rewards))


@pytest.fixture
def points():
    return np.random.default_rng(0).random((25, 2))


@pytest.mark.parametrize("n", [1, 7, 60, 300])
def test_one_by_one_in_bulk_and_textbook_agree(points, n):
    rng = np.random.default_rng(n)
    history = rng.integers(len(points), size=n)
    rewards = rng.standard_normal(n)
    mean, variance, gain = textbook(points, history, rewards, points)
    singly, bulk = make(points), make(points)
    for i, y in zip(history, rewards, strict=True):
        singly.condition(np.array([i]), np.ones(1), np.array([y]))
    condition(bulk, history[: n // 2], rewards[: n // 2]) if n > 1 else None
    condition(bulk, history[n // 2 :], rewards[n // 2 :])
    for model in (singly, bulk):
        assert np.allclose(model.mean, mean, atol=1e-9)
        assert np.allclose(model.variance, variance, atol=1e-9)
        assert model.gain == pytest.approx(gain, rel=1e-10)


def test_any_point_can_be_predicted_and_followed(points):
    rng = np.random.default_rng(1)
    history = rng.integers(len(points), size=40)
    rewards = rng.standard_normal(40)
    others = rng.random((6, 2))
    model = make(points)
    condition(model, history[:20], rewards[:20])
    model.append(others, KERNEL.diag(others))
    condition(model, history[20:], rewards[20:])
    model.condition(np.array([27]), np.ones(1), np.array([0.5]))  # an appended point
    everything = np.concatenate([points, others])
    mean, variance, gain = textbook(
        everything, np.append(history, 27), np.append(rewards, 0.5), everything
    )
    assert np.allclose(model.mean, mean, atol=1e-9)
    assert np.allclose(model.variance, variance, atol=1e-9)
    assert model.gain == pytest.approx(gain)
    elsewhere = rng.random((5, 2))
    mean, variance, _ = textbook(
        everything, np.append(history, 27), np.append(rewards, 0.5), elsewhere
    )
    predicted = model.predict(elsewhere)
    assert np.allclose(predicted[0], mean, atol=1e-9)
    assert np.allclose(predicted[1], variance, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_pending_evaluations_shrink_the_variance_and_leave_the_mean(points, sparse):
    rng = np.random.default_rng(2)
    history = rng.integers(len(points), size=15)
    rewards = rng.standard_normal(15)
    model = make(points, sparse)
    condition(model, history, rewards)
    told = model.mean.copy(), model.variance.copy()
    view = model.hallucinate(np.array([3, 8]), np.array([1.0, 4.0]))
    assert np.array_equal(view.mean, told[0])
    assert np.array_equal(model.variance, told[1])
    more = np.concatenate([history, [3], [8] * 4])
    _, variance, _ = textbook(points, more, np.zeros(len(more)), points)
    if sparse:
        assert np.all(view.variance <= told[1] + 1e-12)
        assert view.variance[8] < told[1][8]
    else:
        assert np.allclose(view.variance, variance, atol=1e-9)
    mean_at, variance_at = view.predict(points)
    assert np.allclose(mean_at, view.mean, atol=1e-9)
    assert np.allclose(variance_at, view.variance, atol=1e-9)


def test_products_computed_ahead_change_nothing(points, monkeypatch):
    rng = np.random.default_rng(3)
    history = rng.integers(len(points), size=45)
    rewards = rng.standard_normal(45)
    plain, ahead = make(points), make(points)
    for i, y in zip(history, rewards, strict=True):
        plain.condition(np.array([i]), np.ones(1), np.array([y]))
    monkeypatch.setattr(local_module, "_LARGE", 100)
    served = 0
    for i, y in zip(history, rewards, strict=True):
        ahead.expect(rng.random(len(points)))
        served += int(i in ahead._ahead)
        ahead.condition(np.array([i]), np.ones(1), np.array([y]))
    assert 0 < served < 45  # both ways were taken
    assert np.allclose(ahead.mean, plain.mean, atol=1e-11)
    assert np.allclose(ahead.variance, plain.variance, atol=1e-11)
    assert ahead.gain == pytest.approx(plain.gain, rel=1e-12)


def test_sparse_cell_with_everything_in_its_dictionary_is_exact(points):
    """With λ small beside q̄ the leverages make every arm an inducing point."""
    rng = np.random.default_rng(4)
    history = rng.permutation(25)[:12]
    rewards = rng.standard_normal(12)
    sparse = SparseLocal(KERNEL, 1e-3, points, KERNEL.diag(points), np.random.default_rng(0))
    for i, y in zip(history, rewards, strict=True):
        sparse.condition(np.array([i]), np.ones(1), np.array([y]))
    assert sparse.size == 12
    mean, variance, gain = textbook(points, history, rewards, points, lam=1e-3)
    assert np.allclose(sparse.mean, mean, atol=1e-6)
    assert np.allclose(sparse.variance, variance, atol=1e-8)
    assert sparse.gain == pytest.approx(gain, rel=1e-6)


def test_sparse_cell_has_a_small_dictionary_bounds_the_gain_and_follows_new_points():
    rng = np.random.default_rng(5)
    points = rng.random((200, 2))
    history = rng.integers(200, size=1000)
    rewards = rng.standard_normal(1000)
    sparse = SparseLocal(KERNEL, 2.0, points, KERNEL.diag(points), np.random.default_rng(0))
    for part in np.array_split(np.arange(1000), 40):
        condition(sparse, history[part], rewards[part])
    mean, variance, gain = textbook(points, history, rewards, points, lam=2.0)
    assert sparse.size < 150
    assert sparse.gain >= gain - 1e-9
    assert np.all(sparse.variance < 3 * variance)  # BKB Theorem 1
    assert np.all(sparse.variance > variance / 3)
    assert np.allclose(sparse.mean, mean, atol=0.1)
    others = rng.random((2, 2))
    before = sparse.predict(others)
    sparse.append(others, KERNEL.diag(others))
    assert np.allclose(sparse.mean[200:], before[0])
    assert np.allclose(sparse.variance[200:], before[1])
    sparse.condition(np.array([201]), np.array([500.0]), np.array([1000.0]))
    assert sparse.variance[201] < before[1][1] / 2
    assert sparse.mean[201] == pytest.approx(2.0, abs=0.2)


def test_duplicate_points_and_one_point():
    twins = np.array([[0.5, 0.5], [0.5, 0.5]])
    model = make(twins)
    condition(model, np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]))
    assert model.mean == pytest.approx(6 / (3 + LAM))
    assert model.variance == pytest.approx(LAM / (3 + LAM))
    assert model.gain == pytest.approx(0.5 * np.log1p(3 / LAM))
    alone = make(twins[:1])
    for _ in range(500):
        alone.condition(np.array([0]), np.ones(1), np.ones(1))
    assert alone.variance[0] == pytest.approx(LAM / (500 + LAM), rel=1e-9)
    assert alone.gain == pytest.approx(0.5 * np.log1p(500 / LAM), rel=1e-12)
