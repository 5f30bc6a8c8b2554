"""Maximisers in a box of functions drawn with features of the prior."""

import warnings

import numpy as np
import pytest

import noregret as nr
from noregret.models.features import FourierFeatures
from noregret.models.pathwise import Paths
from noregret.picking.boxes.paths import BoxPaths
from noregret.picking.boxes.search import BoxSearch
from noregret.picking.lists.room import Room

BOX, KERNEL = nr.Box([(0, 1), (2, 4)]), nr.RBF([0.2, 0.4])
DRAWN = BoxPaths(BoxSearch(BOX))


def test_no_point_of_a_grid_is_above_the_maximisers():
    """Each of its own function, beside the values of the same functions on a fine grid."""
    opt = nr.ThompsonSampling(BOX, KERNEL, lam=0.1, seed=0)
    X = BOX.sample(15, np.random.default_rng(0))[1]
    opt.tell(X, np.sin(5 * X[:, 0]))
    now, features = opt.situation(), FourierFeatures(KERNEL, 2, np.random.default_rng(1))
    functions = Paths(now.bounds.posterior, features, 40, np.random.default_rng(2))
    rng, grid = np.random.default_rng(2), BOX.grid(41).points
    ids, points = DRAWN.maximisers(now, 40, features, rng, Room(), keep=False)
    assert set(ids.tolist()) == {-1}
    assert np.all((points >= BOX.lower) & (points <= BOX.upper))
    found = functions.values(points).diagonal()
    assert np.all(found >= functions.values(grid).max(axis=0) - 1e-9)


def mode(points, means, box=BOX):
    """The mode of draws (n × d)."""
    drawn = BoxPaths(BoxSearch(box))
    return points[drawn.mode(np.full(len(points), -1), points, means)]


def test_the_mode_has_the_largest_mean_where_most_draws_gather():
    rng = np.random.default_rng(0)
    many = [0.8, 2.2] + 0.02 * rng.standard_normal((60, 2)) * [1, 2]
    points = np.concatenate([rng.uniform([0, 2], [1, 4], size=(20, 2)), many])
    means = -np.abs(points[:, 0] - 0.81)
    means[0] = 1.0  # alone
    assert np.abs(mode(points, means) - [0.81, 2.2]).max() < 0.15
    assert abs(mode(points, means)[0] - 0.81) < 0.005


def test_sides_of_a_box_count_alike():
    rng = np.random.default_rng(0)
    one = np.column_stack([rng.normal(0.2, 0.01, 40), rng.normal(200, 10, 40)])
    other = np.column_stack([rng.uniform(size=30), rng.normal(800, 0.1, 30)])
    points = np.concatenate([one, other])
    found = mode(points, points[:, 0], nr.Box([(0, 1), (0, 1000)]))
    assert abs(found[1] - 200) < 50


def test_of_two_hills_the_place_between_them_is_not_the_mode():
    """Scott's bandwidth is so wide there that the densest place lies between."""
    rng = np.random.default_rng(0)
    hills = np.column_stack([np.repeat([0.2, 0.5, 0.8], [4, 3, 4]), np.full(11, 3.0)])
    points = np.concatenate([hills + 0.01 * rng.standard_normal((11, 2)), [[0.5, 2], [0.5, 4]]])
    assert abs(abs(mode(points, np.abs(points[:, 0] - 0.5))[0] - 0.5) - 0.3) < 0.1


def test_mercer_features_are_taken_where_they_leave_out_almost_nothing():
    rough = nr.RBF(0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DRAWN.mercer(nr.RBF(0.5), named=False).missing <= 1e-3
        assert DRAWN.mercer(rough, named=False) is None
        assert DRAWN.mercer(nr.Matern(0.5), named=False) is None
    with pytest.warns(UserWarning, match="leave out"):
        assert DRAWN.mercer(rough, named=True).missing > 1e-3


def test_mercer_features_that_leave_much_out_say_so():
    """The kernel of 100 lengthscales a side needs more than 1,000 eigenfunctions."""
    box, rough = nr.Box([(0, 1)] * 2), nr.RBF(0.01)
    with pytest.warns(UserWarning, match=r"leave out \d+% of the prior variance"):
        nr.ThompsonSampling(box, rough, features="mercer")
    nr.ThompsonSampling(box, rough)  # random Fourier features instead, and no warning
