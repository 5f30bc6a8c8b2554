"""Lists that replace the list of a run or are added to it, and what is refused."""

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.running.changed_lists import domain_for

X = np.random.default_rng(0).uniform(size=(12, 2))
BITS = np.random.default_rng(0).integers(0, 256, size=(9, 4), dtype=np.uint8)


def on(points, kernel=None):
    return nr.GPUCB(points, kernel or nr.RBF(0.5), norm=2.0, seed=0)


@pytest.mark.parametrize("way", ["replace_candidates", "add_candidates"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (X[:, :1], "of the same kind as"),
        (["a", "b"], "of the same kind as"),
        (np.zeros((0, 2)), "empty"),
        ([[0.0, np.nan]], "row 0, column 1"),
    ],
)
def test_another_kind_of_candidates_is_refused_and_nothing_changes(way, given, words):
    opt = on(X)
    opt.tell([3], [1.0])
    with pytest.raises((ValueError, TypeError), match=words):
        getattr(opt, way)(given)
    assert len(opt.domain) == 12
    assert opt.counts([3]) == 1
    assert len(opt.ask().ids) == 1


@pytest.mark.parametrize("way", ["replace_candidates", "add_candidates"])
def test_a_box_has_no_list_to_change(way):
    opt = nr.GPUCB(nr.Box([(0, 1)] * 2), nr.RBF(0.5), seed=0)
    with pytest.raises(TypeError, match="list"):
        getattr(opt, way)(X)


def test_candidates_are_added_behind_the_others_in_their_type():
    opt = on(X.astype(np.float32))
    opt.add_candidates(X[:3] + 1.0)
    assert opt.domain.points.dtype == np.float32
    expected = np.concatenate([X, X[:3] + 1.0]).astype(np.float32)
    np.testing.assert_array_equal(opt.domain.points, expected)
    opt.replace_candidates(X[:5])
    np.testing.assert_array_equal(opt.domain.points, X[:5])


def test_a_kernel_that_cannot_take_the_new_candidates_refuses_them():
    def kernel(xs, ys):
        return np.exp(-np.abs(np.sqrt(xs[:, None] - 0.0) - np.sqrt(ys[None] - 0.0)).sum(axis=2))

    opt = on(X, kernel)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="finite"):
        opt.replace_candidates(-1.0 - X)
    assert len(opt.domain) == 12


@pytest.mark.parametrize("kernel", ["auto", nr.Tanimoto(), 2.0 * nr.Tanimoto()])
def test_bytes_are_bits_for_kernels_that_take_bits(kernel):
    assert domain_for(kernel, nr.Candidates(BITS)).are_bits


def test_bytes_are_numbers_for_other_kernels():
    opt = on(BITS, nr.RBF(100.0))
    assert not opt.domain.are_bits
    np.testing.assert_array_equal(opt.domain.points, BITS)
    opt.add_candidates(BITS[:2])
    assert not opt.domain.are_bits
    assert len(opt.domain) == 11


def test_numbers_are_not_added_to_bits():
    opt = on(BITS, nr.Tanimoto())
    with pytest.raises(ValueError, match="of the same kind as"):
        opt.add_candidates(BITS.astype(float))
    opt.add_candidates(BITS[:2])
    assert opt.domain.are_bits
    assert opt.domain.points.tolist() == [*BITS.tolist(), *BITS[:2].tolist()]


def test_columns_are_matched_by_their_names():
    opt = on(pl.DataFrame({"a": [1.0, 2.0], "b": [5.0, 6.0]}))
    opt.add_candidates(pl.DataFrame({"b": [7.0], "a": [3.0]}))
    assert opt.domain.points.tolist() == [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]
