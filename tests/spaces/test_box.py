"""Boxes: bounds, names, points inside."""

import numpy as np
import pytest

import noregret as nr


def test_box_grids_and_names():
    box = nr.Box({"rate": (0.0, 1.0), "depth": (2, 4)})
    grid = box.grid(3)
    assert grid.points.shape == (9, 2)
    assert grid.names == box.names == ("rate", "depth")
    np.testing.assert_array_equal(grid.points[[0, 4, 8]], [[0, 2], [0.5, 3], [1, 4]])
    for named in ({"depth": 3, "rate": 0.5}, [{"depth": 3, "rate": 0.5}]):
        ids, points = box.locate(named)
        np.testing.assert_array_equal(points, [[0.5, 3.0]])
        assert ids.tolist() == [-1]
        np.testing.assert_array_equal(box.unpack(box.pack(ids, points)), points)
    assert box.labels(ids, points) == [{"rate": 0.5, "depth": 3.0}]
    spread = box.spread(10, np.random.default_rng(0))
    assert spread.shape == (10, 2)
    np.testing.assert_array_equal(box.locate(spread)[1], spread)
    assert "rate: [0, 1]" in repr(box)


def test_functions_get_dicts_of_a_grid_with_names(tmp_path):
    grid = nr.Box({"a": (0, 1), "b": (2, 3)}).grid(3)
    result = nr.maximize(lambda x: x["a"] - x["b"], grid, 9, seed=0, progress=False)
    assert result.failures == 0
    assert result.to_frame().columns[2:4] == ["a", "b"]
    opt = nr.BBKB(grid, nr.RBF(0.3), noise=0.1, seed=0)
    opt.tell([1], [1.0])
    opt.save(tmp_path / "run.npz")
    for one in (opt, nr.load(tmp_path / "run.npz")):
        assert one.recommend().point == {"a": 0.0, "b": 2.5}
        assert one.predict_points({"b": 2.5, "a": 0.0}) == one.predict([1])
        assert set(one.ask(2).values[0]) == {"a", "b"}
    assert isinstance(nr.Box([(0, 1)]).grid(3).labels([0], [np.zeros(1)])[0], np.ndarray)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([], "pair"),
        ([(1, 0)], "lo ≤ hi"),
        ({"rate": (1, 0)}, "rate"),
        ({1: (0, 1), 2: (0, 1)}, "names that are texts, got 1"),
        ([[0, 0, 0], [1, 1, 1]], r"got \[\[0, 0, 0\], .* upper bounds: np.transpose\(bounds\)"),
        ([(0, np.inf)], "finite"),
        ([(0, 1, 2)], "pair"),
        ([("a", "b")], "numbers"),
        (3, "pair"),
    ],
)
def test_bad_boxes_are_refused(bounds, words):
    with pytest.raises((ValueError, TypeError), match=words):
        nr.Box(bounds)


@pytest.mark.parametrize(
    "points", [[0.5], [[0.5, 2.0]], [[np.nan, 0.5]], [["a", "b"]], [[0.5, -0.1]]]
)
def test_points_outside_a_box_are_refused(points):
    with pytest.raises((ValueError, TypeError), match="points"):
        nr.Box([(0, 1), (0, 1)]).locate(points)


def test_a_box_has_no_list_of_its_points():
    with pytest.raises(ValueError, match="points must be given"):
        nr.Box([(0, 1)]).locate_all()


def test_points_on_the_boundary_may_be_off_by_round_off():
    ids, points = nr.Box([(0, 1)]).locate([[1.0 + 1e-12]])
    assert points[0, 0] == 1.0


def test_a_named_point_with_a_name_missing():
    with pytest.raises(ValueError, match="depth"):
        nr.Box({"rate": (0, 1), "depth": (0, 1)}).locate({"rate": 0.5})
