"""Lists made from a list: the first candidates, others of the same kind, more at the end."""

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.spaces.other_lists import first_of, joined, of_the_same_kind

FRAME = pl.DataFrame({"dose": [1.0, 2.0, 4.0], "solvent": ["water", "dmf", "water"]})


def words(candidates):
    """The dicts that a user's function gets."""
    return candidates.labels(np.arange(len(candidates)), candidates.points)


@pytest.mark.parametrize("given", [np.arange(6.0).reshape(3, 2), ["a", "b", "c"], FRAME])
def test_a_list_is_its_first_candidates_with_the_rest_joined(given):
    whole = nr.Candidates(given)
    start = first_of(whole, 2)
    assert len(start) == 2
    rest = of_the_same_kind(whole, given[2:])
    again = joined(start, rest)
    assert again.points.tolist() == whole.points.tolist()
    assert list(map(str, words(again))) == list(map(str, words(whole)))


def test_columns_are_matched_by_name_and_words_become_the_same_coordinates():
    old = nr.Candidates(FRAME)
    more = pl.DataFrame({"solvent": ["dmf"], "dose": [3.0]})
    found = of_the_same_kind(old, more)
    assert found.points.tolist() == [[3.0, *old.points[1, 1:]]]
    assert words(joined(old, found))[-1] == {"dose": 3.0, "solvent": "dmf"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"solvent": ["acetone"], "dose": [3.0]}, "acetone"),
        ({"solvent": ["dmf"]}, "dose"),
        ({"solvent": ["dmf"], "dose": [3.0], "time": [1.0]}, "time"),
    ],
)
def test_words_and_columns_that_the_list_does_not_have_are_refused(more, message):
    with pytest.raises(ValueError, match=message):
        of_the_same_kind(nr.Candidates(FRAME), pl.DataFrame(more))


def test_words_are_no_coordinates_of_a_list_without_names():
    with pytest.raises(ValueError, match="must be rows of numbers, because the list was made"):
        of_the_same_kind(nr.Candidates(np.eye(2)), FRAME)


def test_a_list_in_a_file_does_not_grow(tmp_path):
    np.save(tmp_path / "points.npy", np.eye(3))
    held = nr.Candidates.open(tmp_path / "points.npy")
    with pytest.raises(ValueError, match="candidates can be added to a list in memory"):
        joined(held, nr.Candidates(np.eye(3)))
