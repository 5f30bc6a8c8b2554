"""Optimisers can be pickled, as joblib and notebooks do, and a copy goes on bit for bit."""

import math
import pickle

import numpy as np
import pytest

import noregret as nr
from noregret.algorithms import algorithms

X = np.random.default_rng(0).uniform(size=(60, 2))
KNOWN = {"kernel": nr.RBF(0.3), "noise": 0.1, "norm": 9.0}
LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto", "width": 2.0}
NEEDED = {"atagpucb": {"v": 2.0}, "tgpucb": {"v": 2.0}, "robustucb": {"v": 2.0}}
LISTS = sorted(set(algorithms) - {"trustregionucb"})
BOXES = sorted(set(algorithms) - {"plateucb", "regularizedevolution", "robustucb"})


def value(points):
    return np.sin(5 * points[:, 0]) + points[:, 1]


def play(opt, rounds):
    asked = []
    for _ in range(rounds):
        batch = opt.ask(2)
        opt.tell(batch, value(batch.points))
        asked.append(batch.points)
    return np.concatenate(asked)


def check(name, domain, settings):
    opt = nr.make(name, domain, seed=0, **settings, **NEEDED.get(name, {}))
    play(opt, 8)
    copied = pickle.loads(pickle.dumps(opt))
    np.testing.assert_array_equal(play(copied, 2), play(opt, 2))
    assert copied.recommend().mean == opt.recommend().mean


@pytest.mark.parametrize("name", LISTS)
def test_on_a_list(name):
    check(name, nr.Candidates(X), KNOWN)


@pytest.mark.parametrize("name", BOXES)
def test_on_a_box(name):
    check(name, nr.Box([(0, 1), (0, 1)]), KNOWN)


@pytest.mark.parametrize("name", ["bbkb", "gpucb", "hubergpucb", "plateucb", "thompsonsampling"])
def test_with_learnt_settings(name):
    check(name, nr.Candidates(X), LEARNT)


def own_width(e):
    return math.sqrt(1 + e.t)


def test_with_a_width_of_your_own():
    check("gpucb", nr.Candidates(X), {**KNOWN, "width": own_width})


def test_what_minimize_returned():
    space = {"a": (0, 1), "kind": ["x", "y"]}
    found = nr.minimize(lambda p: (p["a"] - 0.3) ** 2, space, 12, seed=0, progress=False)
    copied = pickle.loads(pickle.dumps(found))
    assert str(copied) == str(found)
    assert copied.to_frame().equals(found.to_frame())
    assert copied.algorithm.ask().values == found.algorithm.ask().values
