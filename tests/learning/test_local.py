"""What is believed of one cell of a cover."""

import numpy as np
import pytest
from covers import KERNEL
from hypothesis import given
from hypothesis import strategies as st
from reference import assert_close, exact_posterior

from noregret.learning.local import CellBeliefs, joined, seen_before
from noregret.models.dictionary import Sparsifier
from noregret.models.sparse import SparseGP
from noregret.observations import Observations

LAM = 0.5


def observed(rng, arms=30):
    """Arms in a box, none of them told."""
    seen = Observations(np.empty((0, 2)))
    seen.rows(np.full(arms, -1), rng.random((arms, 2)))
    return seen


def cell_of(seen, rows):
    """The beliefs of a cell with some arms and all that was told of them."""
    model = SparseGP(KERNEL, (LAM,), seen.points[:0], 1.0)
    model.rebuild(seen.points[rows], seen.told[rows], seen.sums[rows], np.arange(len(rows)))
    return CellBeliefs((0, 0), rows, model, Sparsifier("complete"))


@pytest.mark.parametrize("grown", [0, 4])
def test_arms_with_new_evaluations_are_seen_as_they_were_before(grown):
    rng = np.random.default_rng(0)
    seen, rows = observed(rng), np.array([3, 7, 12, 20, 21])
    first = rng.choice(rows, 12)
    seen.tell(first, y := rng.standard_normal(12))
    old = cell_of(seen, np.unique(first))
    news = np.concatenate([first[:3], np.setdiff1d(np.arange(30), rows)[:grown]])
    seen.tell(news, rng.standard_normal(len(news)))
    cell = cell_of(seen, joined(old.rows, news))

    which, mean, root = seen_before(old, cell, seen)
    assert sorted(cell.rows[which]) == sorted(set(news.tolist()))
    expected, leverage = exact_posterior(KERNEL, seen.points, first, y, LAM)
    assert_close(mean, expected[cell.rows[which]])
    assert_close(root, np.sqrt(leverage[cell.rows[which]]))


def test_a_cell_counts_evaluations_and_measures_their_information():
    rng = np.random.default_rng(1)
    seen, rows = observed(rng), np.arange(5, 11)
    told = rng.choice(rows, 20)
    seen.tell(told, rng.standard_normal(20))
    cell, X = cell_of(seen, rows), seen.points[told]
    log_det = np.linalg.slogdet(np.eye(20) + KERNEL(X, X) / LAM)[1]
    assert cell.count == 20
    assert_close([cell.log_det, cell.gain], [log_det, 0.5 * log_det])


distinct = st.lists(st.integers(0, 30), unique=True, max_size=20)


@given(distinct, distinct)
def test_new_rows_come_behind_those_that_are_known(known, rows):
    found = joined(np.array(known, dtype=int), np.array(rows, dtype=int)).tolist()
    assert found == known + [row for row in rows if row not in known]
