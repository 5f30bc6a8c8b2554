"""Slices show the posterior that the optimiser itself works with."""

import itertools

import numpy as np
import pytest

import noregret as nr
from noregret.reporting import slices
from noregret.spaces.encoding import GAP_FLAG

#: a grid whose first axis has the values that a slice along it passes
AXIS = np.linspace(0.0, 1.0, 60)
KERNEL = nr.RBF(0.3, variance=50.0)
GRID = np.array(list(itertools.product(AXIS, [0.0, 0.5, 1.0])))


def told(path, algorithm, domain=GRID, **options):
    """A study of 60 noisy answers around 100 with one trial pending."""
    study = nr.Study.create(path, domain, algorithm, seed=0, **options)
    rng = np.random.default_rng(1)
    while study.counts()["told"] < 60:
        trials = study.ask(5)
        signal = np.sin(5 * trials.points[:, 0]) + trials.points[:, 1]
        study.tell(trials, 100 + 7 * signal + rng.standard_normal(len(trials)))
    study.ask(1)
    return study


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("bbkb", {"kernel": "auto", "noise": "auto", "width": 2.0}),
        (
            "bbkb",
            {"kernel": nr.RBF(0.3, variance=50.0), "noise": 1.0, "norm": 5, "prior_mean": 100.0},
        ),
        ("tgpucb", {"kernel": nr.RBF(0.3, variance=50.0), "alpha": 1.0, "v": 1e4, "width": 2.0}),
        ("atagpucb", {"kernel": nr.RBF(0.3, variance=50.0), "alpha": 1.0, "v": 1e4, "width": 2.0}),
    ],
)
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_slice_is_the_posterior_in_the_users_units(path, algorithm, options, direction):
    """Learnt scales and robust means included; pending trials are left out."""
    with told(path, algorithm, direction=direction, **options) as study:
        (along,) = [one for one in slices.through_best(study) if one.name == "x0"]
        best = study.best()
        ids = np.flatnonzero(GRID[:, 1] == best.point[1])
        mean, deviation = study.optimizer.predict(ids, pending=False)
        assert along.x == pytest.approx(AXIS)
        assert along.best == best.point[0]
        assert along.mean == pytest.approx(study.units.values(mean), rel=1e-6)
        assert along.upper - along.lower == pytest.approx(4 * deviation, rel=1e-4)
        assert (along.lower < along.mean).all()


def test_a_slice_on_a_box(path):
    box = nr.Box({"dose": (0, 1), "heat": (0, 1)})
    with told(path, "gpucb", box, kernel="auto", noise="auto", width=2.0) as study:
        first, second = slices.through_best(study)
        assert {first.name, second.name} == {"dose", "heat"}
        assert first.range >= second.range
        line = np.repeat(box.encode([study.best().point]), len(first.x), axis=0)
        line[:, box.names.index(first.name)] = first.x
        mean, deviation = study.optimizer.predict(line, pending=False)
        assert first.mean == pytest.approx(mean, rel=1e-6)
        assert first.upper - first.lower == pytest.approx(4 * deviation, rel=1e-4)


def test_a_feature_of_categories_moves_from_one_to_the_next(path):
    points = np.column_stack([np.tile(AXIS, 2), np.repeat(np.eye(2), 60, axis=0)])
    columns = [
        {"name": "dose", "mean": 10.0, "deviation": 4.0},
        {"name": "solvent", "category": "water"},
        {"name": "solvent", "category": "dmso"},
    ]
    options = {"kernel": nr.RBF(1.0, variance=50.0), "prior_mean": 100.0, "noise": 1.0, "norm": 10}
    with told(path, "gpucb", points, about={"columns": columns}, **options) as study:
        found = {one.name: one for one in slices.through_best(study)}
        assert found["solvent"].categories == ("water", "dmso")
        assert found["solvent"].mean[0] > found["solvent"].mean[1]  # its column adds to the value
        assert found["dose"].x == pytest.approx(10 + 4 * AXIS)
        id_ = int(study.best().id)
        other = (id_ + 60) % 120
        mean, _ = study.optimizer.predict(sorted([id_, other]), pending=False)
        assert found["solvent"].mean == pytest.approx(study.units.values(mean), rel=1e-6)


def test_a_flag_for_gaps_is_no_feature_of_its_own(path):
    names = ("dose", f"dose{GAP_FLAG}")
    columns = [{"name": name, "mean": 0.0, "deviation": 1.0} for name in names]
    points = np.column_stack([AXIS, AXIS > 0.9])
    options = {"kernel": KERNEL, "prior_mean": 100.0, "noise": 1.0, "norm": 10}
    with told(path, "gpucb", points, about={"columns": columns}, **options) as study:
        assert [one.name for one in slices.through_best(study)] == ["dose"]
        assert slices.importances(study)["feature"].to_list() == ["dose"]


def test_a_feature_that_spans_decades_has_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    X = np.column_stack([10.0 ** rng.uniform(-4, 0, 80), rng.uniform(size=80)])
    opt = nr.GPUCB(X, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    opt.tell(range(40), np.log(X[:40, 0]) + X[:40, 1])
    found = {one.name: one for one in slices.through_best(opt)}
    assert [found["x0"].log, found["x1"].log] == [True, False]
    assert found["x0"].x == pytest.approx(np.geomspace(X[:, 0].min(), X[:, 0].max(), 60))
    assert found["x1"].x == pytest.approx(np.linspace(X[:, 1].min(), X[:, 1].max(), 60))


def test_lengthscales_have_the_names_of_their_features(path):
    kernel = nr.RBF([0.5, 0.25])
    with nr.Study.create(path, GRID, "gpucb", kernel=kernel, seed=0) as study:
        table = slices.lengthscales(study)
        assert table.rows() == [("x1", 0.25), ("x0", 0.5)]


def test_features_that_nothing_measured_differs_in_have_no_slice():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=(40, 2)), np.arange(40) == 39])
    opt = nr.GPUCB(X, nr.RBF(0.5), noise=0.1, width=2.0, seed=0)
    opt.tell(range(20), 5 + X[:20, 0])
    assert {one.name for one in slices.through_best(opt)} == {"x0", "x1"}
    opt.tell([39], [5.0])
    assert {one.name for one in slices.through_best(opt)} == {"x0", "x1", "x2"}
