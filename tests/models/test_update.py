"""Updates of a model: what they do to any point, one by one and several at once."""

import numpy as np
import pytest
from reference import problem

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.models.update import Updates

KERNEL = nr.Matern(0.4, nu=1.5)
LAM = 0.1


class Told:
    """An exact model of the first arms of a list, and the rewards it was told."""

    def __init__(self, arms, first=3):
        self.X, _, self.rng = problem(arms=arms)
        self.model = SparseGP(KERNEL, (LAM,), self.X[:0], 1.0)
        self.counts, self.sums = np.zeros(arms, dtype=np.int64), np.zeros(arms)
        self.ids, self.y = [], []
        self.tell(np.arange(first))

    def tell(self, rows, grow=None):
        rewards = self.rng.standard_normal(len(rows))
        np.add.at(self.counts, rows, 1)
        np.add.at(self.sums, rows, rewards)
        self.ids += list(rows)
        self.y += list(rewards)
        grow = np.unique(rows) if grow is None else grow
        self.model.advance(self.X, self.counts, self.sums, grow)
        return self.model.updates[-1]

    def misfit(self):
        """The least of Σ (y − μ)² + λ‖μ‖² = λyᵀ(K + λI)⁻¹y."""
        points, y = self.X[self.ids], np.array(self.y)
        return LAM * y @ np.linalg.solve(KERNEL(points, points) + LAM * np.eye(len(y)), y)


@pytest.mark.parametrize("falls", [True, False])
@pytest.mark.parametrize("grows", [True, False])
def test_updates_in_a_row_are_applied_at_once(grows, falls):
    told = Told(60)
    posterior, X = told.model.posterior(), told.X
    Z = posterior.embed(X)
    mean, leverage = posterior.evaluate(X)
    residual = posterior.residual(Z, X)
    quadratic = leverage - residual / LAM
    updates = []
    for count in (1, 2, 1, 1, 3, 1):
        rows = told.rng.integers(60, size=count)
        updates.append(told.tell(rows, np.unique(rows) if grows else rows[:0]))
    assert all(update.root is None for update in updates)
    several = Updates(updates, Z.shape[1], falls=falls)
    fresh = several.apply(KERNEL, X, several.matrix @ Z.T, mean, quadratic, residual)
    now = told.model.posterior()
    np.testing.assert_allclose(np.concatenate([Z, fresh.T], axis=1), now.embed(X), atol=1e-9)
    np.testing.assert_allclose(mean, now.evaluate(X)[0], atol=1e-9)
    found, leverage = residual / LAM + quadratic, now.evaluate(X)[1]
    if falls:
        np.testing.assert_allclose(found, leverage, atol=1e-8)
    else:
        assert (found >= leverage - 1e-9).all()


def test_growth_is_what_the_misfit_grows_by():
    told = Told(40)
    misfit = told.misfit()
    for row in told.rng.integers(40, size=40):
        growth = told.tell(np.array([row])).growth
        misfit, before = told.misfit(), misfit
        assert growth == pytest.approx(misfit - before, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("count", [1, 4])
def test_growth_limits_bounds_by_those_before(count):
    told, tightest = Told(300), np.inf
    for _ in range(20):
        mean, leverage = told.model.posterior().evaluate(told.X)
        growth = told.tell(told.rng.choice(300, size=count, replace=False)).growth
        new_mean, new_leverage = told.model.posterior().evaluate(told.X)
        for width in (0.0, 0.5, 2.0, 50.0):
            limit = mean + np.hypot(width, np.sqrt(growth)) * np.sqrt(leverage)
            upper = new_mean + width * np.sqrt(new_leverage)
            assert (upper <= limit + 1e-9).all()
            tightest = min(tightest, float((limit - upper).min()))
    assert tightest < 0.01


def test_growth_is_not_known_where_old_evaluations_get_new_features():
    told = Told(40)
    told.tell(np.array([20]), np.array([], dtype=np.int64))  # no inducing point of its own
    assert told.model.updates[-1].growth is not None
    assert told.tell(np.array([30])).growth is None  # some of it is seen now


def test_growth_is_not_known_with_other_weights():
    told = Told(40)
    update = told.tell(np.array([20]))
    told.model.set_weights(np.zeros(told.model.size))
    assert update.growth is None
