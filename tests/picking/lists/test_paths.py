"""Maximisers on a list of functions drawn with features of the prior."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.models.features import FourierFeatures
from noregret.models.pathwise import Paths, joint_values
from noregret.picking.lists import paths
from noregret.picking.lists.paths import ListPaths
from noregret.picking.lists.room import Room

X = np.random.default_rng(0).uniform(size=(90, 2))
KERNEL = nr.RBF(0.3)


def told():
    """What is known after 12 rewards."""
    opt = nr.ThompsonSampling(X, KERNEL, lam=0.1, seed=0)
    opt.tell(np.arange(12), np.sin(5 * X[:12, 0]))
    opt.cancel(opt.ask())
    return opt.situation()


@pytest.mark.parametrize("drawn", ["jointly", "with features"])
def test_each_function_has_its_own_maximiser(drawn):
    """Beside a pass over all values of the same functions."""
    now, space = told(), nr.Candidates(X)
    features = FourierFeatures(KERNEL, 2, np.random.default_rng(1))
    rng, again = np.random.default_rng(2), np.random.default_rng(2)
    if drawn == "jointly":
        features, values = None, joint_values(now.bounds.posterior, X, 200, again)
    else:
        values = Paths(now.bounds.posterior, features, 200, again).values(X)
    ids, points = ListPaths(space).maximisers(now, 200, features, rng, Room(), keep=False)
    np.testing.assert_array_equal(ids, values.argmax(axis=0))
    np.testing.assert_array_equal(points, X[ids])
    assert len(np.unique(ids)) > 5


def test_functions_share_what_room_there_is():
    """Each function in turn takes its best candidate that is left, until none is."""
    now, space = told(), nr.Candidates(X[:20])
    values = joint_values(now.bounds.posterior, space.points, 30, np.random.default_rng(2))
    room = Room(20, repeats=1)
    ids, _ = ListPaths(space).maximisers(now, 30, None, np.random.default_rng(2), room, keep=False)
    expected = []
    for column in values.T[:20]:
        left = np.setdiff1d(np.arange(20), expected)
        expected.append(left[column[left].argmax()])
    assert ids.tolist() == expected
    assert not room.open


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_the_mode_is_the_most_frequent_candidate_then_the_one_with_the_largest_mean(ids):
    means = np.array([0.3, -1.0, 2.0, 0.1, 0.7])
    at = ListPaths(nr.Candidates(X)).mode(np.array(ids), X[ids], means[ids])
    assert ids[at] == max(set(ids), key=lambda id_: (ids.count(id_), means[id_]))


def test_long_lists_need_features(monkeypatch):
    drawn = ListPaths(nr.Candidates(X))
    assert not drawn.need_features
    monkeypatch.setattr(paths, "_JOINT", 89)
    assert drawn.need_features


def test_a_list_has_no_mercer_features():
    drawn = ListPaths(nr.Candidates(X))
    assert drawn.mercer(KERNEL, named=False) is None
    with pytest.raises(ValueError, match="features 'mercer' need a box; on a list use 'nystrom'"):
        drawn.mercer(KERNEL, named=True)
