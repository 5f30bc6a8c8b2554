"""The model is checked against the data: planted faults are found, good fits are left alone."""

import numpy as np
import pytest
from planted import GOOD, PLANTED, plates, run

import noregret as nr
from noregret.reporting.checks import check_model


def kinds(opt):
    return {one.kind for one in check_model(opt).findings}


#: runs of each kind: of planted faults 3 in 4 are named, of good fits none is doubted
SEEDS = range(200, 208)


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_named(name):
    options, named = PLANTED[name]
    found = [kinds(run(seed, **options)) for seed in SEEDS]
    assert all(found)
    assert sum(bool(one & named) for one in found) >= 6


@pytest.mark.parametrize("name", GOOD)
def test_good_fits_are_left_alone(name):
    seeds = SEEDS[: {"long": 2, "learnt": 4}.get(name)]
    assert not any(kinds(run(seed, **GOOD[name])) for seed in seeds)


def test_faults_of_plates_with_learnt_settings_are_named():
    seeds = SEEDS[:3]
    assert sum("tails" in kinds(plates(seed, outliers=0.05)) for seed in seeds) >= 2
    assert kinds(plates(seeds[0], constant=True)) == {"constant"}
    assert not any(kinds(plates(seed)) for seed in seeds[:2])


def test_before_anything_is_learnt_nothing_else_is_said():
    """Means and intervals of unlearnt settings mean nothing: nobody is told to raise the noise."""
    opt = nr.PlateUCB(np.linspace(0, 1, 50)[:, None], repeats=1, seed=0)
    batch = opt.ask(6, fill=True)
    opt.tell(batch, 40.0 + 30.0 * batch.points[:, 0])
    (found,) = check_model(opt).findings
    assert found.kind == "early"
    assert "too few answers yet to learn kernel, noise, norm: that takes 10" in found.text
    opt.tell(np.setdiff1d(np.arange(50), batch.ids)[:6], np.full(6, 50.0))
    assert "early" not in kinds(opt)


def test_looking_changes_nothing():
    opt = run(2, rounds=3)
    before = opt.ask(5).ids
    other = run(2, rounds=3)
    check_model(other)
    assert other.ask(5).ids.tolist() == before.tolist()


def test_boxes_and_objects_are_checked_too():
    box = nr.Box([(0, 1)])
    opt = nr.GPUCB(box, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    x = np.linspace(0, 1, 25)[:, None]
    noise = 0.1 * np.random.default_rng(0).standard_normal(25)
    opt.tell(x, 50 + np.sin(4 * x[:, 0]) + noise)
    assert "level" in kinds(opt)
    words = ["".join(w) for w in np.random.default_rng(0).choice(list("ab"), size=(30, 6))]
    opt = nr.GPUCB(
        words, lambda xs, ys: np.array([[float(x == y) for y in ys] for x in xs]), seed=0
    )
    opt.tell(range(15), np.zeros(15))
    assert len(check_model(opt).measured) > 10


@pytest.mark.slow
def test_rates_over_many_seeds():
    """At least 9 of 10 planted faults are named; of good fits at most 1 in 20 is doubted."""
    seeds = range(100, 160)
    for name, (options, named) in PLANTED.items():
        found = sum(bool(kinds(run(seed, **options)) & named) for seed in seeds)
        assert found >= 54, (name, found)
    for name in ("once", "three repeats", "long"):
        doubted = sum(bool(kinds(run(seed, **GOOD[name]))) for seed in seeds)
        assert doubted <= 3, (name, doubted)
