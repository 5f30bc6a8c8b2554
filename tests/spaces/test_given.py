"""What candidates may be made from, and what is refused."""

import datetime

import graphs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    "given",
    [
        ROWS,
        [tuple(row) for row in ROWS],
        np.array(ROWS),
        np.array(ROWS, dtype=np.float32),
        np.array(ROWS, dtype=int),
        np.asfortranarray(ROWS),
        [np.array(row) for row in ROWS],
        pd.DataFrame(ROWS, columns=["a", "b"]),
        pl.DataFrame(ROWS, schema=["a", "b"], orient="row"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_rows_of_numbers_from_anywhere(given):
    candidates = nr.Candidates(given)
    np.testing.assert_array_equal(candidates.points, ROWS)
    assert len(candidates) == 3
    assert candidates.dimension == 2
    assert candidates.names == (("a", "b") if hasattr(given, "columns") else None)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_words_and_booleans_of_a_frame(kind):
    frame = kind({"a": [1, 2, 3], "wet": [True, False, True], "solvent": ["thf", "dmf", "thf"]})
    candidates = nr.Candidates(frame)
    assert candidates.names == ("a", "wet", "solvent = dmf", "solvent = thf")
    assert candidates.points.tolist() == [[1, 1, 0, 1], [2, 0, 1, 0], [3, 1, 0, 1]]


def test_a_vector_is_one_dimension():
    assert nr.Candidates([1, 2, 3]).points.shape == (3, 1)
    assert nr.Candidates(range(4)).points.shape == (4, 1)


def test_candidates_are_a_copy_that_cannot_be_changed():
    X = np.array(ROWS)
    candidates = nr.Candidates(X)
    X[0] = 99
    assert candidates.points[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        candidates.points[0] = 0


def test_objects_of_any_kind():
    assert nr.Candidates(["abc", "de"]).points.tolist() == ["abc", "de"]
    assert nr.Candidates([{1, 2}, {3}]).are_objects
    assert nr.Candidates([(1, 2), (3, 4)], objects=True).points[0] == (1, 2)
    assert nr.Candidates([graphs.path(3), graphs.path(4)]).are_objects


def test_a_lazy_frame_is_read():
    assert nr.Candidates(pl.DataFrame({"a": [1.0, 2.0]}).lazy()).points.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "empty"),
        (np.zeros((0, 3)), "empty"),
        (np.zeros((3, 0)), "shape"),
        (np.zeros((2, 2, 2)), "shape"),
        ([[1.0, np.nan]], "row 0, column 1"),
        ([[1.0], [np.inf]], "row 1, column 0"),
        ([[1.0, 2.0], [3.0]], "n × d"),
        (pd.DataFrame({"kind": [f"x{i}" for i in range(101)]}), "these have more: kind"),
        (pl.DataFrame({"kind": [f"x{i}" for i in range(101)]}), "these have more: kind"),
        (pl.DataFrame({"a": ["1", "2", "3..4"]}), "did you mean 3.4"),
        (pl.DataFrame({"a": [1.0, None]}), "row 1, column 0"),
        (pd.DataFrame({"day": pd.date_range("2024-01-01", periods=3)}), "'day' holds times"),
        (pl.DataFrame({"day": [datetime.date(2024, 1, 1)] * 3}), "'day' holds times"),
        (pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"]), "a comes twice"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}).set_axis(["a", "a"], axis=1), "a comes"),
        (pl.DataFrame({"a": [[1, 2], [3, 4]]}), "'a' holds lists"),
        (pd.DataFrame({"a": [[1], [3, 4]]}), "'a' holds lists"),
        (5.0, "shape"),
        (None, "got None"),
        ("library.csv", r"nr\.Candidates\.open"),
    ],
)
def test_bad_candidates_are_refused(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        nr.Candidates(given)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
def test_an_array_that_nobody_can_change_is_not_copied(kind):
    array = np.array(ROWS).astype(kind)
    assert not np.shares_memory(nr.Candidates(array).points, array)
    view = array.view()
    view.flags.writeable = False
    assert not np.shares_memory(nr.Candidates(view).points, array)  # its owner can change it
    array.flags.writeable = False
    assert np.shares_memory(nr.Candidates(array).points, array)
    assert nr.Candidates(np.frombuffer(array.tobytes(), kind)).points.tolist() == [
        [one] for one in array.ravel()
    ]


def test_a_file_that_is_mapped_is_not_copied(tmp_path):
    np.save(tmp_path / "library.npy", np.random.default_rng(0).uniform(size=(50, 2)))
    mapped = np.load(tmp_path / "library.npy", mmap_mode="r")
    candidates = nr.Candidates(mapped)
    assert np.shares_memory(candidates.points, mapped)
    opt = nr.BBKB(candidates, nr.RBF(0.3), seed=0)
    assert len(opt.ask(2)) == 1
    opt.tell([3], [1.0])
    assert type(opt.recommend().point) is np.ndarray


def test_a_frame_without_rows_is_refused():
    frame = pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Float64, "b": pl.String})
    with pytest.raises(ValueError, match="no rows"):
        nr.Candidates(frame)


def test_a_gap_in_a_frame_is_named_by_its_column():
    frame = pd.DataFrame({"solvent": ["thf", "dmf"], "heat": [1.0, np.nan]})
    with pytest.raises(ValueError, match=r"nan in row 1, column 2 \(heat\)"):
        nr.Candidates(frame)


@pytest.mark.parametrize(
    "given",
    [
        [1.5, "a", None],
        [[1, 2], [3]],
        np.array(["a", 2.5], dtype=object),
        [np.zeros(2), np.zeros(2)],
    ],
    ids=["mixed", "ragged", "array", "arrays"],
)
def test_any_entries_may_be_taken_as_objects(given):
    points = nr.Candidates(given, objects=True).points
    assert points.shape == (len(given),)
    assert points.dtype == object
    assert all(one is two for one, two in zip(points, given, strict=True))


def test_numbers_in_an_array_of_objects_are_numbers():
    points = nr.Candidates(np.array([[1, 2.5], [3, True]], dtype=object)).points
    assert points.dtype == np.float64
    assert points.tolist() == [[1.0, 2.5], [3.0, 1.0]]
