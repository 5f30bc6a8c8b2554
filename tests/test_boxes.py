"""Algorithms on a box: the suite, the search against random points, batches against lists."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import exact_posterior

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.models.surface import Surface
from noregret.picking.box import BoxSearch
from noregret.testing import BoxSuite


class TestGPUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.GPUCB(domain, kernel, **options)


class TestGPUCBDirect(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.GPUCB(domain, kernel, search="direct", width=2.0, **options)


class TestGPBUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.GPBUCB(domain, kernel, **options)


class TestBKB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.BKB(domain, kernel, **options)


class TestBBKB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, **options)


class TestBBKBMinBatch(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, min_batch=2, width=2.0, dictionary="resample", **options)


class TestBBKBLocal(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, batch_rule="local", **options)


class TestUniform(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.Uniform(domain, kernel, **options)


def model_on_box(kernel, dimension, rng, arms=20, inducing=12, lam=0.01):
    """A sparse posterior of random data, and a surface on it with pending arms and picks."""
    X = rng.uniform(size=(arms, dimension))
    model = SparseGP(kernel, lam, X[:0], np.empty(0), 1.0)
    model.see_points(X, kernel.diag(X))
    told = np.arange(arms) < arms - 4
    model.rebuild(told.astype(int), told * rng.normal(size=arms), np.arange(inducing))
    return model, np.where(told, 0, 2)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("kernel", [nr.RBF(0.4), nr.Matern(0.5, nu=1.5) + nr.Linear(0.1)])
def test_gradients_of_bounds_against_finite_differences(kernel, frozen):
    rng = np.random.default_rng(0)
    model, pending = model_on_box(kernel, 3, rng)
    surface = Surface(model, pending, frozen)
    for point in rng.uniform(size=(3, 3)):
        surface.add(point)
        surface.add(point)
    X = rng.uniform(size=(5, 3))
    values, gradients = surface.bound(X, 2.0)
    mean, leverage = surface.evaluate(X)
    np.testing.assert_allclose(values, mean + 2 * np.sqrt(leverage))
    for i, step in enumerate(1e-6 * np.eye(3)):
        numerical = (surface.bound(X + step, 2.0)[0] - surface.bound(X - step, 2.0)[0]) / 2e-6
        np.testing.assert_allclose(gradients[:, i], numerical, rtol=1e-4, atol=1e-5)


def test_picks_condition_the_exact_gp_exactly():
    rng = np.random.default_rng(1)
    kernel, lam = nr.Matern(0.5), 0.01
    X, y = rng.uniform(size=(15, 2)), rng.normal(size=15)
    model = SparseGP(kernel, lam, X[:0], np.empty(0), 1.0)
    model.see_points(X, kernel.diag(X))
    model.rebuild(np.ones(15, dtype=int), y, np.arange(15))
    surface = Surface(model, np.zeros(15, dtype=int))
    picks, tests = rng.uniform(size=(40, 2)), rng.uniform(size=(6, 2))
    for point in picks:
        surface.add(point)
    every = np.concatenate([tests, X, picks])
    ids = np.arange(6, len(every))
    values = np.concatenate([y, np.zeros(40)])
    _, leverage = exact_posterior(kernel, every, ids, values, lam)
    np.testing.assert_allclose(surface.evaluate(tests)[1], leverage[:6], atol=1e-8)


def test_frozen_picks_shrink_as_in_a_list():
    """BBKB on a grid of the box: the same leverages as the list's model after the same picks."""
    rng = np.random.default_rng(2)
    box = nr.Box([(0, 1), (0, 1)])
    grid = box.grid(6).points
    ids = rng.integers(36, size=8)
    kernel = nr.RBF(0.4)
    on_list = nr.BBKB(grid, kernel, seed=0, lam=0.1)
    on_box = nr.BBKB(box, kernel, seed=0, lam=0.1)
    y = rng.normal(size=8)
    on_list.tell(ids, y)
    on_box.tell(grid[ids], y)
    np.testing.assert_allclose(on_box.predict(grid), on_list.predict(), atol=1e-9)
    asked = on_list.ask()
    on_box._observations.ask(on_box._observations.point_rows(grid[asked.ids]))
    np.testing.assert_allclose(on_box.predict(grid), on_list.predict(), atol=1e-9)


# The same seeds each time: a search of finitely many points misses one problem in some hundreds.
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 6))
@example(seed=5069, dimension=2)  # the joint climb carries the best start off
@example(seed=557, dimension=6)  # needs more than 2,048 points
def test_the_search_is_never_below_ten_thousand_random_points(seed, dimension):
    rng = np.random.default_rng(seed)
    kernel = nr.Matern(0.2 * np.sqrt(dimension) * rng.uniform(0.5, 2.0))
    model, pending = model_on_box(kernel, dimension, rng, arms=30, inducing=20)
    surface = Surface(model, pending)
    search = BoxSearch(nr.Box([(0, 1)] * dimension))

    def objective(X):
        return surface.bound(X, 0.2)

    anchors = model.arms.points[np.argsort(-model.arms.mean)[:5]]
    point, value = search.maximise(objective, lambda X: objective(X)[0], anchors, rng)
    assert value == pytest.approx(objective(point[None])[0][0])
    rivals = objective(rng.uniform(size=(10_000, dimension)))[0]
    assert value >= rivals.max() - 1e-9


def test_batches_are_greedy_on_the_shrinking_bounds():
    """Each pick of an exact batch is the largest bound given the picks before it."""
    rng = np.random.default_rng(3)
    box = nr.Box([(-1, 2), (10, 30)])
    opt = nr.GPUCB(box, nr.RBF([0.8, 6.0]), noise=0.1, width=2.0, seed=0)
    X = box.sample(6, rng)
    opt.tell(X, np.sin(X[:, 0]))
    batch = opt.ask(5)
    kernel, told = opt.kernel, np.concatenate([X, batch.points])
    rivals = box.sample(5000, rng)
    y = np.sin(X[:, 0])
    for i in range(5):
        every = np.concatenate([rivals, batch.points[i : i + 1], told[: 6 + i]])
        ids = np.arange(5001, len(every))
        mean, _ = exact_posterior(kernel, every, ids[:6], y, opt.lam)
        _, leverage = exact_posterior(kernel, every, ids, np.zeros(len(ids)), opt.lam)
        upper = mean + 2.0 * np.sqrt(np.maximum(opt.lam * leverage, 0))
        assert upper[5000] >= upper[:5000].max() - 1e-6
        assert batch.info.upper[i] == pytest.approx(upper[5000], abs=1e-6)


@pytest.mark.parametrize("name", ["gpucb", "gpbucb", "bkb", "bbkb"])
def test_finds_the_top_of_a_hill(name):
    box = nr.Box({"x": (0.0, 10.0), "y": (-1.0, 1.0)})
    opt = nr.make(name, box, nr.RBF([2.0, 0.5]), noise=0.05, norm=2.0, width=3.0, seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 50:
        batch = opt.ask(min(8, 50 - opt.t)) if opt.adaptive else opt.ask()
        x, y = batch.points.T
        values = np.exp(-((x - 6.3) ** 2) / 4 - (y - 0.2) ** 2)
        opt.tell(batch, values + 0.05 * rng.standard_normal(len(batch)))
    best = opt.recommend()
    assert best.point[0] == pytest.approx(6.3, abs=0.4)
    assert best.point[1] == pytest.approx(0.2, abs=0.25)
    assert best.lower <= 1.0 <= best.lower + best.gap
    assert opt.dictionary_points.shape[1] == 2


def test_what_a_box_cannot_do_is_refused():
    box, wide = nr.Box([(0, 1)]), nr.Box([(0, 1)] * 4)
    with pytest.raises(ValueError, match="srinivas"):
        nr.GPUCB(box, nr.RBF(), width="srinivas")
    with pytest.raises(ValueError, match="search"):
        nr.GPUCB(wide, nr.RBF(), search="direct")
    with pytest.raises(ValueError, match="search"):
        nr.GPUCB(box, nr.RBF(), search="prayer")


def test_constant_rewards_and_one_dimension():
    opt = nr.BBKB(nr.Box([(0, 1)]), nr.RBF(0.2), noise=0.1, seed=0)
    for _ in range(3):
        batch = opt.ask()
        opt.tell(batch, np.zeros(len(batch)))
    assert np.all(opt.predict([[0.5]])[0] == 0.0)
    assert opt.recommend().gap > 0


def test_dicts_on_a_named_box():
    opt = nr.GPUCB(nr.Box({"a": (0, 1), "b": (0, 2)}), nr.RBF(), seed=0)
    opt.tell([{"b": 1.5, "a": 0.5}], [1.0])
    np.testing.assert_array_equal(opt.history.points, [[0.5, 1.5]])


class TestTGPUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.TGPUCB(domain, kernel, v=4.0, **options)


class TestATAGPUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ATAGPUCB(domain, kernel, v=4.0, ratio=2.0, **options)


class TestIGPUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.IGPUCB(domain, kernel, **options)


class TestATAGPUCBQuadrature(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ATAGPUCB(domain, kernel, v=4.0, features="qff", nodes=12, **options)


class TestHuberGPUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.HuberGPUCB(domain, kernel, ratio=2.0, **options)


def test_heavy_tails_on_a_box_have_limits_of_their_own():
    box = nr.Box([(0, 1)])
    with pytest.raises(ValueError, match="RBF"):
        nr.ATAGPUCB(box, nr.Matern(), features="qff")
    with pytest.raises(ValueError, match="lengthscale"):
        nr.ATAGPUCB(box, "auto", features="qff")
    with pytest.raises(TypeError, match="box"):
        nr.RobustUCB(box, nr.RBF())
