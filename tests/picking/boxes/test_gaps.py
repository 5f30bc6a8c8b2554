"""Proved gaps on a box, against bounds on a fine grid, which they may exceed only a little."""

import numpy as np
import pytest

import noregret as nr
from noregret.picking.boxes.gaps import Difference

NOISE = 0.1


def played(kernel, d=2, seed=0, steps=60, algorithm=nr.GPBUCB, norm=2.0, **options):
    """An optimiser on the unit box, and a function of this norm."""
    rng = np.random.default_rng(seed)
    centres, weights = rng.uniform(size=(12, d)), rng.standard_normal(12)
    weights *= norm / np.sqrt(weights @ kernel(centres, centres) @ weights)

    def f(points):
        return kernel(np.atleast_2d(points), centres) @ weights

    box = nr.Box([(0, 1)] * d)
    opt = algorithm(box, kernel, noise=NOISE, norm=norm, seed=seed, **options)
    while opt.t < steps:
        batch = opt.ask(steps - opt.t)
        opt.tell(batch, f(batch.points) + NOISE * rng.standard_normal(len(batch)))
    return opt, f


def on_grid(opt, point, n):
    """The largest bound of f(x) − f(y) on a grid, from the run's own posterior and widths."""
    bounds = opt.situation(pending=False).bounds
    grid = opt.domain.grid(n).points
    fantasy = bounds.fantasy
    return bounds.differences(fantasy.block(grid), fantasy.block(np.asarray(point)[None])).max()


@pytest.mark.parametrize(
    ("kernel", "d", "n"),
    [
        (nr.RBF(0.4), 1, 2001),
        (nr.RBF(0.4), 2, 201),
        (nr.RBF([0.3, 0.8]), 2, 201),
        (nr.Matern(0.5, nu=2.5), 2, 201),
        (nr.Matern(0.5, nu=1.5), 1, 2001),
        (2.0 * nr.RBF(0.5), 3, 41),
    ],
    ids=repr,
)
def test_the_gap_is_hardly_more_than_that_of_a_fine_grid(kernel, d, n):
    opt, f = played(kernel, d)
    best = opt.recommend()
    assert opt.proved
    expected = on_grid(opt, best.point, n)
    assert expected * (1 - 1e-9) <= best.gap <= 1.03 * expected + 1e-3
    assert f(opt.domain.grid(n).points).max() - f(best.point)[0] <= best.gap


def test_rough_functions_have_no_tangents_but_gaps():
    opt, f = played(nr.Matern(0.5, nu=0.5), d=1, steps=100)
    best = opt.recommend()
    assert on_grid(opt, best.point, 2001) <= best.gap < 4.0
    assert f(opt.domain.grid(2001).points).max() - f(best.point)[0] <= best.gap


@pytest.mark.parametrize("algorithm", [nr.GPUCB, nr.BBKB, nr.TrustRegionUCB])
def test_gaps_hold_for_every_algorithm(algorithm):
    options = {"width": "theory"} if algorithm is nr.TrustRegionUCB else {}
    opt, f = played(nr.RBF(0.4), algorithm=algorithm, steps=40, **options)
    assert opt.proved
    for one in opt.top(3):
        assert f(opt.domain.grid(101).points).max() - f(one.point)[0] <= one.gap


def test_a_certificate_of_a_box_says_what_a_certificate_of_a_list_says():
    opt, f = played(nr.RBF(0.4), steps=120)
    found = opt.certify(tol=1.0)
    assert found.certified
    assert found.alive is None
    assert f(opt.domain.grid(101).points).max() - f(found.point)[0] <= found.gap
    assert found.lower <= f(found.point)[0] <= found.upper
    assert opt.certify(norm=4.0).gap > found.gap
    assert found.largest_norm > 2.0
    assert opt.certify(norm=0.9 * found.largest_norm).gap <= 1.0
    assert opt.certify(norm=1.1 * found.largest_norm).gap > 1.0
    assert str(found).startswith("Certified: the value at [")
    assert "no point is better by more than" in str(found)


def test_points_with_names_are_shown_by_name():
    opt = nr.GPUCB({"rate": (0, 1), "depth": (1.0, 3.0)}, nr.RBF(0.5), seed=0)
    opt.tell([{"rate": 1 / 3, "depth": 2.0}], [0.1])
    assert "the value at rate=0.3333, depth=2 lies in" in str(opt.certify())


def test_intervals_are_the_intersection_over_all_lambdas():
    opt, f = played(nr.RBF(0.4))
    best = opt.recommend()
    mean, std = opt.predict(best.point[None])
    assert mean[0] - opt.beta * std[0] <= best.lower <= best.upper <= mean[0] + opt.beta * std[0]
    assert best.lower <= f(best.point)[0] <= best.upper
    found = opt.certify()
    assert best.lower == pytest.approx(found.lower, abs=1e-4)
    assert best.upper == pytest.approx(found.upper, abs=1e-4)


def test_the_sparse_posterior_is_used_where_there_are_many_points(monkeypatch):
    monkeypatch.setattr("noregret.picking.certify._MOST_POINTS", 10)
    opt, f = played(nr.RBF(0.4), algorithm=nr.BBKB)
    found = opt.certify()
    assert found.certified
    assert f(opt.domain.grid(101).points).max() - f(found.point)[0] <= found.gap
    covered = nr.PiGPUCB(nr.Box([(0, 1)]), nr.Matern(0.3), seed=0)
    covered.tell(np.linspace(0, 1, 20)[:, None], np.zeros(20))
    with pytest.raises(ValueError, match="at most 10 different points here, got 20"):
        covered.certify()


def test_a_bound_is_valid_however_little_work_there_is():
    opt, _ = played(nr.RBF(0.4))
    bounds = opt.situation(pending=False).bounds
    one = np.asarray(opt.recommend().point)[None]
    difference = Difference(bounds.posterior, opt.domain, one)
    found = [difference.largest(bounds.widths, 2.0, work) for work in (0.0, 1e6, 1e7, 1e9)]
    assert (np.diff(found) <= 1e-12).all()
    assert found[0] > found[-1] >= on_grid(opt, one[0], 101)


def test_cells_cover_the_box():
    opt, _ = played(nr.Matern([0.4, 0.7], nu=2.5), steps=30)
    now = opt.situation(pending=False)
    difference = Difference(now.bounds.posterior, opt.domain, opt.history.points[:1])
    cells = difference.cells(now.bounds.widths, 2.0, 1e8)
    assert len(cells.bounds) > 20
    assert np.prod(2.0 * cells.halves, axis=1).sum() == pytest.approx(1.0)
    points = np.random.default_rng(0).uniform(size=(200, 2))
    inside = (np.abs(points[:, None] - cells.centres) <= cells.halves).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()


@pytest.mark.parametrize("noise", [0.0, 1e-5])
def test_almost_exact_values_need_few_cells(noise, monkeypatch):
    """There slopes have large rounding errors, and cells were cut until they had no width."""
    opt = nr.TrustRegionUCB(nr.Box([(0, 1)]), nr.RBF(0.3), noise=noise, norm=2.0, seed=0)
    while opt.t < 8:
        batch = opt.ask()
        opt.tell(batch, -np.square(batch.points[:, 0] - 0.3))
    computed = []
    bounded = Difference._bounded
    monkeypatch.setattr(
        Difference,
        "_bounded",
        lambda self, cells, *rest: (
            computed.append(len(cells.bounds)) or bounded(self, cells, *rest)
        ),
    )
    best = opt.recommend()
    assert opt.proved
    assert sum(computed) < 10_000
    grid = np.linspace(0, 1, 1001)[:, None]
    assert best.gap >= np.max(np.square(best.point[0] - 0.3) - np.square(grid - 0.3))


def test_a_box_with_constant_sides_and_nothing_told():
    box = nr.Box([(0, 1), (0.5, 0.5)])
    opt = nr.GPUCB(box, nr.RBF(0.3), norm=1.5, seed=0)
    farthest = np.sqrt(2.0 * (1.0 - np.exp(-0.5 * (0.5 / 0.3) ** 2)))  # ‖φ(x) − φ(y)‖
    assert 1.5 * farthest <= opt.recommend().gap <= 1.03 * 1.5 * farthest
    point = nr.GPUCB(nr.Box([(0.5, 0.5)]), nr.RBF(0.3), seed=0)
    assert point.recommend().gap == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(
    "opt",
    [
        nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(0.3), width=2.0, seed=0),
        nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(0.3), width="paper", seed=0),
        nr.GPUCB(nr.Box([(0, 1)]), "auto", seed=0),
        nr.GPUCB(nr.Box([(0, 1)]), nr.Linear(), seed=0),
        nr.GPUCB(nr.Box([(0, 1)] * 9), nr.RBF(1.0), seed=0),
        nr.PiGPUCB(nr.Box([(0, 1)]), nr.Matern(0.3), seed=0),
    ],
    ids=["number", "paper", "learnt", "kernel", "dimension", "cover"],
)
def test_what_is_searched_is_not_called_proved(opt):
    opt.tell(np.full((1, opt.domain.dimension), 0.3), [0.1])
    assert not opt.proved
    assert np.isfinite(opt.recommend().gap)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [nr.GPBUCB, nr.BBKB])
def test_gaps_hold_as_often_as_promised(algorithm):
    """At every batch, also early in a run; ``delta`` is 0.1."""
    grid, failed = nr.Box([(0, 1)] * 2).grid(101).points, 0
    for seed in range(100):
        opt, f = played(nr.RBF(0.4), seed=seed, steps=1, algorithm=algorithm)
        rng, highest, held = np.random.default_rng([7, seed]), f(grid).max(), True
        while opt.t < 40:
            batch = opt.ask(40 - opt.t)
            opt.tell(batch, f(batch.points) + NOISE * rng.standard_normal(len(batch)))
            best = opt.recommend()
            held &= bool(highest - f(best.point)[0] <= best.gap)
        failed += not held
    assert failed <= 10
