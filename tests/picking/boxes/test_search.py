"""Search of a box: against random points, and batches that are greedy on shrinking bounds."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import exact_posterior

import noregret as nr
from noregret.models.fantasy import Fantasy
from noregret.models.sparse import SparseGP
from noregret.picking.boxes.search import BoxSearch, maximise


def test_frozen_picks_shrink_as_in_a_list():
    """BBKB on a grid of the box: the same leverages as the list's model after the same picks."""
    rng = np.random.default_rng(2)
    box = nr.Box([(0, 1), (0, 1)])
    grid = box.grid(6).points
    ids = rng.integers(36, size=8)
    kernel = nr.RBF(0.4)
    on_list = nr.BBKB(grid, kernel, norm=9.0, seed=0, lam=0.1)
    on_box = nr.BBKB(box, kernel, norm=9.0, seed=0, lam=0.1)
    y = rng.normal(size=8)
    on_list.tell(ids, y)
    on_box.tell(grid[ids], y)
    np.testing.assert_allclose(on_box.predict(grid), on_list.predict(), atol=1e-9)
    on_box.expect(grid[on_list.ask().ids])
    np.testing.assert_allclose(on_box.predict(grid), on_list.predict(), atol=1e-9)


# The same seeds each time: a search of finitely many points misses one problem in some hundreds.
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 6))
@example(seed=5069, dimension=2)  # the joint climb carries the best start off
@example(seed=557, dimension=6)  # needs more than 2,048 points
def test_the_search_is_never_below_ten_thousand_random_points(seed, dimension):
    rng = np.random.default_rng(seed)
    kernel = nr.Matern(0.2 * np.sqrt(dimension) * rng.uniform(0.5, 2.0))
    X = rng.uniform(size=(30, dimension))
    model = SparseGP(kernel, (0.01,), X[:0], 1.0)
    told = np.arange(30) < 26
    model.rebuild(X, told.astype(int), told * rng.normal(size=30), np.arange(20))
    fantasy = Fantasy(model.posterior(), X[~told], np.full(4, 2))
    search = BoxSearch(nr.Box([(0, 1)] * dimension))

    def objective(X):
        return fantasy.bound(X, 0.2)

    anchors = X[np.argsort(-model.mean(np.arange(30)))[:5]]
    point, value = maximise(search, objective, lambda X: objective(X)[0], anchors, rng)
    assert value == pytest.approx(objective(point[None])[0][0])
    rivals = objective(rng.uniform(size=(10_000, dimension)))[0]
    assert value >= rivals.max() - 1e-9


def test_batches_are_greedy_on_the_shrinking_bounds():
    """Each pick of an exact batch is the largest bound given the picks before it."""
    rng = np.random.default_rng(3)
    box = nr.Box([(-1, 2), (10, 30)])
    opt = nr.GPUCB(box, nr.RBF([0.8, 6.0]), noise=0.1, width=2.0, seed=0)
    X = box.sample(6, rng)[1]
    opt.tell(X, np.sin(X[:, 0]))
    batch = opt.ask(5)
    kernel, told = opt.kernel, np.concatenate([X, batch.points])
    rivals = box.sample(5000, rng)[1]
    y = np.sin(X[:, 0])
    for i in range(5):
        every = np.concatenate([rivals, batch.points[i : i + 1], told[: 6 + i]])
        ids = np.arange(5001, len(every))
        mean, _ = exact_posterior(kernel, every, ids[:6], y, opt.assumed.lam)
        _, leverage = exact_posterior(kernel, every, ids, np.zeros(len(ids)), opt.assumed.lam)
        upper = mean + 2.0 * np.sqrt(np.maximum(opt.assumed.lam * leverage, 0))
        assert upper[5000] >= upper[:5000].max() - 1e-6
        assert batch.info.upper[i] == pytest.approx(upper[5000], abs=1e-6)


def test_what_a_box_cannot_do_is_refused():
    box, wide = nr.Box([(0, 1)]), nr.Box([(0, 1)] * 4)
    with pytest.raises(ValueError, match="search"):
        nr.GPUCB(wide, nr.RBF(), search="direct")
    with pytest.raises(ValueError, match="search"):
        nr.GPUCB(box, nr.RBF(), search="prayer")


def test_dicts_on_a_named_box():
    opt = nr.GPUCB(nr.Box({"a": (0, 1), "b": (0, 2)}), nr.RBF(), seed=0)
    opt.tell([{"b": 1.5, "a": 0.5}], [1.0])
    np.testing.assert_array_equal(opt.history.points, [[0.5, 1.5]])
