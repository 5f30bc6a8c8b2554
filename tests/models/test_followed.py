"""Points that are followed: the same as computing their posterior again."""

import numpy as np
import pytest
from reference import problem

import noregret as nr
from noregret.linalg import threads
from noregret.models import followed as followed_points
from noregret.models.followed import Followed, row_products
from noregret.models.sparse import SparseGP

KERNEL = nr.Matern(0.4, nu=1.5)


def told_once(X):
    """A model that was told the first arm once, with counts and sums of its rewards."""
    model = SparseGP(KERNEL, (0.1,), X[:0], 1.0)
    counts, sums = np.zeros(len(X), dtype=np.int64), np.zeros(len(X))
    counts[0] = 1
    model.rebuild(X, counts, sums, np.array([0]))
    return model, counts, sums


@pytest.mark.parametrize("piece", [4, 2048])
def test_followed_points_keep_up_with_every_update(monkeypatch, piece):
    monkeypatch.setattr(threads, "_ROWS", piece)
    monkeypatch.setattr(followed_points, "_CHUNK", 4 * piece)
    X, _, rng = problem(arms=80)
    model, counts, sums = told_once(X)
    followed = Followed(X[:0])
    posterior = model.posterior()
    followed.append(X[:50], posterior.embed(X[:50]), posterior)
    for i in range(60):
        rows = rng.integers(80, size=3)
        np.add.at(counts, rows, 1)
        sums[rows] += rng.standard_normal(3)
        model.advance(X, counts, sums, rows[: i % 3])
        assert model.updates
        followed.apply(KERNEL, model.updates[-1])
        if i == 30:
            followed.keep(np.arange(0, 50, 2))
            posterior = model.posterior()
            followed.append(X[50:], posterior.embed(X[50:]), posterior)
        mean, leverage = model.posterior().evaluate(followed.points)
        np.testing.assert_allclose(followed.mean, mean, atol=1e-9)
        np.testing.assert_allclose(followed.leverage(0.1), leverage, atol=1e-8)
        some = rng.permutation(len(followed))[:20]
        Z = model.posterior().embed(followed.points[some])
        np.testing.assert_allclose(followed.features(some), Z, atol=1e-7)
    assert len(followed) == 55


def test_followed_points_keep_up_where_each_arm_told_is_an_inducing_point():
    X, _, rng = problem(arms=40)
    model, counts, sums = told_once(X)
    followed = Followed.all_of(X, model.posterior())
    for i in range(40):
        rows = rng.integers(40, size=1 + i % 3)
        np.add.at(counts, rows, 1)
        np.add.at(sums, rows, rng.standard_normal(len(rows)))
        model.advance(X, counts, sums, np.unique(rows))
        update = model.updates[-1]
        grew = update.new_points is not None and update.root is None
        assert (update.columns_by_rank is not None) == grew
        if grew:  # the shorter way is the same as the longer one
            np.testing.assert_allclose(
                update.columns_by_rank @ update.rank, update.columns, atol=1e-12
            )
        followed.apply(KERNEL, update)
        mean, leverage = model.posterior().evaluate(X)
        np.testing.assert_allclose(followed.mean, mean, atol=1e-9)
        np.testing.assert_allclose(followed.leverage(0.1), leverage, atol=1e-8)


def test_leverages_may_wait_until_they_are_asked_for():
    X, _, rng = problem(arms=80)
    model, counts, sums = told_once(X)
    followed = Followed(X[:0])
    followed.append(X, model.posterior().embed(X), model.posterior())
    for i in range(40):
        rows = rng.integers(80, size=3)
        np.add.at(counts, rows, 1)
        sums[rows] += rng.standard_normal(3)
        model.advance(X, counts, sums, rows[: i % 3])
        followed.apply(KERNEL, model.updates[-1], falls=False)
        mean, leverage = model.posterior().evaluate(X)
        np.testing.assert_allclose(followed.mean, mean, atol=1e-9)
        assert (followed.leverage(0.1) >= leverage - 1e-9).all()
        followed.make_exact(model.posterior(), rows)
        np.testing.assert_allclose(followed.leverage(0.1, rows), leverage[rows], atol=1e-8)
    assert not followed.exact
    assert (followed.leverage(0.1) > leverage + 0.01).any()
    followed.make_exact(model.posterior())
    assert followed.exact
    np.testing.assert_allclose(followed.leverage(0.1), leverage, atol=1e-8)


def test_updates_wait_and_are_applied_together(monkeypatch):
    monkeypatch.setattr(followed_points, "_LATE", 7)
    X, _, rng = problem(arms=80)
    model, counts, sums = told_once(X)
    followed, waited = Followed.all_of(X, model.posterior()), 0
    for i in range(60):
        rows = rng.integers(80, size=1)
        counts[rows] += 1
        sums[rows] += rng.standard_normal(1)
        model.advance(X, counts, sums, rows)
        before, size = followed.mean.copy(), followed.numbers
        if followed.put_off(model.updates[-1]):
            waited += 1
            np.testing.assert_array_equal(followed.mean, before)
            assert followed.numbers == size
        else:
            followed.apply(KERNEL, model.updates[-1])
            assert not followed.late
        mean, leverage = model.posterior().evaluate(X)
        if followed.late:
            some = rng.permutation(80)[:20]
            found = followed.ahead(KERNEL, 0.1, some)
            np.testing.assert_allclose(found[0], mean[some], atol=1e-9)
            np.testing.assert_allclose(found[1], leverage[some], atol=1e-8)
            width = np.sqrt(2.0**2 + followed.growth)
            limit = followed.mean + width * np.sqrt(followed.leverage(0.1))
            assert (limit >= mean + 2.0 * np.sqrt(leverage) - 1e-9).all()
        if i % 20 == 19:
            followed.make_exact(model.posterior())
        if not followed.late:
            np.testing.assert_allclose(followed.mean, mean, atol=1e-9)
            np.testing.assert_allclose(followed.leverage(0.1), leverage, atol=1e-8)
    assert waited > 40


def test_updates_do_not_wait_if_bounds_after_them_are_not_known():
    X, _, rng = problem(arms=80)
    model, counts, sums = told_once(X)
    followed = Followed.all_of(X, model.posterior())
    counts[5:9] += 1
    model.advance(X, counts, rng.standard_normal(80), np.arange(5, 6))
    assert not followed.put_off(model.updates[-1])  # arms without an inducing point of their own
    followed.apply(KERNEL, model.updates[-1], falls=False)
    counts[0] += 1
    model.advance(X, counts, rng.standard_normal(80), np.arange(0))
    assert not followed.put_off(model.updates[-1])  # leverages are upper bounds


@pytest.mark.parametrize("grow", [0, 40])
def test_many_evaluations_at_once_are_followed_without_new_features(grow):
    X, _, rng = problem(arms=120)
    model = SparseGP(KERNEL, (0.1,), X[:0], 1.0)
    counts, sums = np.zeros(120, dtype=np.int64), np.zeros(120)
    counts[:3] = 1
    model.rebuild(X, counts, sums, np.arange(3))
    followed = Followed(X[:0])
    followed.append(X, model.posterior().embed(X), model.posterior())
    counts += 1
    model.advance(X, counts, rng.standard_normal(120), np.arange(3, 3 + grow))
    followed.apply(KERNEL, model.updates[-1], falls=False)
    mean, leverage = model.posterior().evaluate(X)
    np.testing.assert_allclose(followed.mean, mean, atol=1e-9)
    np.testing.assert_allclose(followed.leverage(0.1), leverage, atol=1e-8)


@pytest.mark.parametrize(("m", "k"), [(0, 3), (1, 1), (7, 5), (40, 9), (300, 33)])
def test_row_products_are_plain_products(m, k):
    rng = np.random.default_rng(0)
    buffer = rng.standard_normal((3000, m + 3))
    vectors = rng.standard_normal((k, m))
    np.testing.assert_allclose(
        row_products(buffer[:, :m], vectors), vectors @ buffer[:, :m].T, atol=1e-10
    )
