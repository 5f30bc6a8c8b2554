"""How much better than the recommended candidate another one can be."""

import numpy as np
import pytest
from reference import differences, problem, run

import noregret as nr
from noregret.picking.lists import gaps

KERNEL = nr.RBF(0.3)


def played(cls=nr.GPUCB, steps=60, **options):
    X, f, rng = problem(arms=100)
    options = {"noise": 0.1, "norm": 4.0, "lam": 0.01, "seed": 0, **options}
    return run(cls(X, KERNEL, **options), f, 0.1, rng, steps), f


@pytest.mark.parametrize("bounds", ["current", "intersected"])
def test_gaps_are_those_of_a_naive_computation(bounds):
    """With current bounds they are equal; bounds that only fall can make gaps smaller still."""
    opt, f = played(bounds=bounds)
    for best in opt.top(3):
        naive = np.delete(differences(opt, best.id), best.id).max()
        assert f.max() - f[best.id] <= best.gap <= naive + 1e-6
        if bounds == "current":
            assert best.gap == pytest.approx(max(naive, 0.0), abs=1e-6)


def test_differences_are_tighter_than_two_bounds():
    opt, _ = played()
    best = opt.recommend()
    plain = opt.replace(width=opt.beta).recommend()
    assert plain.id == best.id
    assert best.gap < 0.8 * plain.gap


def test_a_search_that_takes_too_long_gives_a_larger_gap(monkeypatch):
    opt, _ = played(steps=20)
    whole = opt.recommend()
    monkeypatch.setattr(gaps, "_MOST_WORK", -1.0)
    cut = opt.recommend()
    assert (cut.id, cut.lower) == (whole.id, whole.lower)
    assert cut.gap > whole.gap


@pytest.mark.parametrize("width", ["theory", 2.0])
def test_nothing_is_better_than_the_only_candidate(width):
    opt = nr.GPUCB([[0.5]], KERNEL, norm=2.0, width=width, seed=0)
    opt.tell([0, 0], [0.3, 0.4])
    assert opt.recommend().gap == opt.top_gap() == 0.0


def test_equal_candidates_differ_by_nothing():
    opt = nr.GPUCB([[0.5], [0.5], [0.5]], KERNEL, norm=2.0, seed=0)
    opt.tell([1, 1], [0.3, 0.4])
    assert opt.recommend().gap == pytest.approx(0.0, abs=1e-6)
    assert opt.alive == 3


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BBKB, nr.BKB])
def test_the_gap_of_one_is_the_gap_of_the_recommendation(cls):
    opt, _ = played(cls)
    assert opt.top_gap(1) == opt.recommend().gap
