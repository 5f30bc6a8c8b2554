import numpy as np
import pytest

import noregret as nr
from noregret.spaces.shorthand import as_parameter, is_pair


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ((0, 1), nr.Float(0, 1)),
        ([-1.5, 2], nr.Float(-1.5, 2)),
        (np.array([0.0, 3.0]), nr.Float(0, 3)),
        (["x", "y"], nr.Choice(["x", "y"])),
        (("x", "y"), nr.Choice(["x", "y"])),
        (["only"], nr.Choice(["only"])),
        ([True, False], nr.Choice([True, False])),
        ([None, 5, 10], nr.Choice([None, 5, 10])),
        (["auto", 0.1, 0.5, 1.0], nr.Choice(["auto", 0.1, 0.5, 1.0])),
        (np.array(["x", "y"]), nr.Choice(["x", "y"])),
        (nr.Int(1, 4), nr.Int(1, 4)),
    ],
)
def test_pairs_are_numbers_and_words_are_choices(given, meant):
    assert as_parameter("a", given) == meant


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([1, 2, 3], r"nr.Choice\(\[1, 2, 3\]\) if only these .* or nr.Int\(1, 3\) for all between"),
        ((0.5, 2.0, 1), r"nr.Float\(0.5, 2.0\) for all between"),
        ([3], r"write nr.Choice\(\[3\]\)"),
        (("0", "1"), r"numbers without quotes, or nr.Choice\(\['0', '1'\]\)"),
        ((1e-5, 1, "log-uniform"), r"or nr.Float\(1e-05, 1, log=True\) for a range with log scale"),
        (["int", 1, 8], r"write nr.Choice\(\['int', 1, 8\]\) if only these"),
        (range(0, 9, 2), r"nr.Int\(0, 8, step=2\)"),
        ({"y", "x"}, r"a set has no order: write nr.Choice\(\['x', 'y'\]\)"),
        (3, r"got 3$"),
        ([], r"got \[\]$"),
        ("relu", r"got 'relu'$"),
        ([["x", "y"]], r"got \[\['x', 'y'\]\]"),
    ],
)
def test_what_is_unclear_is_refused_with_how_to_write_it(given, hint):
    with pytest.raises(TypeError, match=f"^units must be a pair .*{hint}"):
        as_parameter("units", given)


@pytest.mark.parametrize("given", [(1, 0), (0, float("nan")), (float("-inf"), 0)])
def test_bounds_are_finite_and_in_order(given):
    with pytest.raises(ValueError, match="units must lie between finite bounds low ≤ high"):
        as_parameter("units", given)


def test_choices_that_are_refused_name_their_parameter():
    with pytest.raises(ValueError, match=r"^act: choices must be .* all different"):
        as_parameter("act", ["x", "x"])


def test_pairs():
    assert is_pair((0, np.int64(1)))
    assert not is_pair([True, False])
    assert not is_pair(("0", "1"))
    assert not is_pair((0, 1, 2))


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([(0, 1), (0, 1)], r"nr.Box\(\[\(0, 1\), \(0, 1\)\]\) or nr.Candidates\("),
        ((0, 1), r"nr.Box\(\[\(0, 1\)\]\) or nr.Candidates\(\[0, 1\]\)"),
    ],
)
def test_pairs_that_may_be_bounds_are_no_candidates(given, hint, tmp_path):
    with pytest.raises(ValueError, match=f"domain must say whether .*{hint}"):
        nr.GPUCB(given, nr.RBF(0.3))
    with pytest.raises(ValueError, match=f"domain must say whether .*{hint}"):
        nr.Study.create(tmp_path / "a.db", given)
    assert nr.GPUCB(np.array(given), nr.RBF(0.3)).domain.size == 2
