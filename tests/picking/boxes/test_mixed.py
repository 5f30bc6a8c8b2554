"""The search of spaces with several types, against looking at every point."""

import itertools

import numpy as np
import pytest

import noregret as nr
from noregret.picking.boxes.mixed import MixedSearch, search_of
from noregret.picking.boxes.search import BoxSearch, maximise

MIXED = nr.Space(
    {
        "x": nr.Float(-1, 1),
        "rate": nr.Float(1e-3, 1, log=True),
        "n": nr.Int(0, 40),
        "kind": nr.Choice(["a", "b", "c", "d"]),
        "flag": nr.Bool(),
    }
)
#: 2 · 201 · 201 · 5 points: too many to be screened whole
LARGE = nr.Space({"a": nr.Int(-100, 100), "b": nr.Int(1, 201), "c": nr.Choice([*"vwxyz"])})
SMALL = nr.Space({"a": nr.Int(1, 9, step=2), "b": nr.Choice(["u", "v"]), "c": nr.Bool()})


def drawn(space, seed, count=25):
    """A smooth function with several hills: values and gradients."""
    rng = np.random.default_rng(seed)
    span = space.upper - space.lower
    numbers = [i for i in range(space.dimension) if i not in space.categories]
    kernel = nr.Columns(nr.RBF(0.25 * span[numbers]), numbers) * nr.Columns(
        nr.Hamming(0.8), list(space.categories)
    )
    _, centres = space.sample(count, rng)
    weights = rng.normal(size=count)

    def objective(X):
        tiled = np.tile(weights, (len(X), 1))
        return kernel(X, centres) @ weights, kernel.pullback(X, centres, tiled)

    return objective, lambda X: kernel(X, centres) @ weights


@pytest.mark.parametrize("seed", range(4))
def test_the_maximum_of_a_space_with_numbers(seed):
    objective, values = drawn(MIXED, seed)
    rng = np.random.default_rng(seed)
    point, value = maximise(search_of(MIXED), objective, values, MIXED.nothing, rng)
    axes = [np.linspace(a, b, 21) for a, b in MIXED.corners.T[:2]]
    n, kinds, flags = (np.arange(a, b + 1) for a, b in MIXED.corners.T[2:])
    brute = max(
        values(np.array(list(itertools.product(*axes, n, [kind], [flag])))).max()
        for kind in kinds
        for flag in flags
    )
    assert value >= brute - 1e-6
    assert value == pytest.approx(values(point[None])[0])
    assert MIXED.snap(point[None]).tobytes() == point.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_of_a_space_of_many_points(seed):
    objective, values = drawn(LARGE, seed)
    rng = np.random.default_rng(seed)
    _, value = maximise(search_of(LARGE), objective, values, LARGE.nothing, rng)
    assert value == pytest.approx(values(LARGE.every(10**6)).max(), rel=1e-9)


def test_a_space_of_few_points_is_looked_at_whole():
    assert len(SMALL.every(100)) == SMALL.count == 20
    assert SMALL.every(19) is None
    for seed in range(5):
        objective, values = drawn(SMALL, seed, count=6)
        found = maximise(
            search_of(SMALL), objective, values, SMALL.nothing, np.random.default_rng(0)
        )
        assert found[1] == values(SMALL.every(100)).max()


def test_a_finite_space_is_played_to_the_end():
    opt = nr.TrustRegionUCB(SMALL, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    while opt.t < 40:
        batch = opt.ask()
        opt.tell(batch, [point["a"] + 3 * (point["b"] == "v") for point in batch.values])
    best = opt.recommend().point
    assert (best["a"], best["b"]) == (9, "v")


def test_who_searches():
    assert isinstance(search_of(nr.Box([(0, 1)])), BoxSearch)
    assert isinstance(search_of(nr.Space({"x": nr.Float(1, 2, log=True)})), BoxSearch)
    assert isinstance(search_of(SMALL), MixedSearch)
    with pytest.raises(ValueError, match="search must be 'gradients'"):
        nr.GPUCB(SMALL, "auto", search="direct")


@pytest.mark.parametrize("name", ["bbkb", "trustregionucb"])
def test_algorithms_find_the_best_setting(name):
    space = nr.Space(
        {
            "rate": nr.Float(1e-4, 1, log=True),
            "n": nr.Int(1, 12),
            "kind": nr.Choice(["a", "b", "c"]),
        }
    )
    rng = np.random.default_rng(0)

    def f(point):
        penalty = {"a": 0.5, "b": 0.0, "c": 1.0}[point["kind"]]
        return -((np.log10(point["rate"]) + 2) ** 2) - 0.1 * (point["n"] - 7) ** 2 - penalty

    opt = nr.make(name, space, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    while opt.t < 60:
        batch = opt.ask(min(60 - opt.t, 5) if opt.adaptive else None)
        opt.tell(batch, [f(point) + 0.05 * rng.normal() for point in batch.values])
    assert f(opt.recommend().point) > -0.4


def feasible(point):
    return point["x"] ** 2 + point["n"] / 40 < 0.5 and (point["kind"] != "b" or point["flag"])


LIMITED = nr.Space(dict(zip(MIXED.names, MIXED.parameters, strict=True)), feasible=feasible)


@pytest.mark.parametrize("seed", range(2))
def test_the_maximum_among_feasible_points(seed):
    objective, values = drawn(LIMITED, seed)
    rng = np.random.default_rng(seed)
    point, value = maximise(search_of(LIMITED), objective, values, LIMITED.nothing, rng)
    assert LIMITED.allowed(point[None])[0]
    _, tried = LIMITED.sample(30_000, rng)
    assert value >= values(tried).max() - 1e-3


@pytest.mark.parametrize("name", ["uniform", "trustregionucb", "bbkb", "epsilongreedy"])
def test_only_feasible_points_are_asked_for(name):
    opt = nr.make(name, LIMITED, "auto", noise="auto", norm="auto", width=2.0, seed=1)
    while opt.t < 18:
        batch = opt.ask(3)
        assert all(feasible(point) for point in batch.values)
        opt.tell(batch, [point["x"] + point["n"] / 40 for point in batch.values])
    assert feasible(opt.recommend().point)
