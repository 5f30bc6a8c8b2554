"""What has been seen: counts, sums, pending, scatter; against a plain list of rewards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.observations import Observations


def new():
    return Observations(np.empty((0, 1)))


def tell(seen, ids, rewards, **how):
    ids = np.array(ids)
    seen.tell(seen.rows(ids, ids[:, None].astype(float)), np.array(rewards, dtype=float), **how)


told = st.lists(
    st.lists(st.tuples(st.integers(0, 6), st.floats(-1e3, 1e3)), min_size=1, max_size=9),
    min_size=1,
    max_size=6,
)


@settings(max_examples=80, deadline=None)
@given(parts=told)
def test_totals_are_those_of_the_plain_list(parts):
    seen = new()
    for part in parts:
        tell(seen, *zip(*part, strict=True))
    whole = [pair for part in parts for pair in part]
    ids, rewards = (np.array(column) for column in zip(*whole, strict=True))
    assert seen.t == len(rewards)
    np.testing.assert_array_equal(seen.ids[seen.history_rows], ids)
    np.testing.assert_array_equal(seen.rewards, rewards)
    scatter = 0.0
    for row, id_ in enumerate(seen.ids):
        own = rewards[ids == id_]
        assert seen.told[row] == len(own)
        assert seen.sums[row] == pytest.approx(own.sum(), abs=1e-9)
        scatter += float(np.square(own - own.mean()).sum())
    assert seen.scatter == pytest.approx(scatter, rel=1e-9, abs=1e-7)


def test_scatter_keeps_its_digits_beside_a_large_mean():
    seen = new()
    tell(seen, [0, 0], [1e8, 1e8 + 1])
    tell(seen, [0], [1e8 + 2])
    assert seen.scatter == pytest.approx(2.0)


def test_pending_evaluations_are_told_or_cancelled():
    seen = new()
    rows = seen.rows(np.array([3, 3, 5]), np.array([[3.0], [3.0], [5.0]]))
    seen.ask(rows)
    assert seen.pending.tolist() == [2, 1]
    tell(seen, [3], [0.5])
    assert seen.pending.tolist() == [1, 1]
    tell(seen, [3, 5], [0.5, 0.5], unasked=True)
    assert (seen.pending.tolist(), seen.unasked) == ([1, 1], 2)
    tell(seen, [5, 5], [0.5, 0.5])
    assert (seen.pending.tolist(), seen.unasked) == ([1, 0], 3)
    with pytest.raises(ValueError, match="pending"):
        seen.cancel(np.array([1]))
    with pytest.raises(ValueError, match="pending"):
        seen.cancel(np.array([-1]))
    seen.cancel(np.array([0]))
    assert seen.pending.tolist() == [0, 0]


def test_points_of_a_box_are_known_by_their_numbers():
    seen, nobody = new(), np.array([-1, -1, -1])
    rows = seen.rows(nobody, np.array([[0.1], [0.2], [0.1]]))
    assert rows.tolist() == [0, 1, 0]
    assert seen.known_rows(nobody[:2], np.array([[0.2], [0.3]])).tolist() == [1, -1]


def test_a_replaced_list_keeps_its_arms():
    seen = new()
    tell(seen, [4], [1.0])
    seen.replace_list()
    assert (seen.ids.tolist(), seen.generation) == ([-1], 1)
    tell(seen, [4], [2.0])
    assert seen.ids.tolist() == [-1, 4]
    assert seen.sums.tolist() == [1.0, 2.0]


def test_rows_of_candidates_are_told_from_those_of_others():
    seen = new()
    tell(seen, [4, 2], [0.0, 0.0])
    assert seen.are_rows_of(np.array([2, 4]), np.array([1, 0]))
    assert not seen.are_rows_of(np.array([2, 4]), np.array([0, 1]))
    assert not seen.are_rows_of(np.array([2]), np.array([2]))
    assert not seen.are_rows_of(np.array([2]), None)
    seen.replace_list()
    assert not seen.are_rows_of(np.array([-1]), np.array([0]))


@pytest.mark.parametrize("unasked", [False, True])
def test_rewards_told_one_by_one_count_as_those_told_together(unasked):
    together, one_by_one = new(), new()
    ids, rewards = [3, 5, 3, 4], [1.0, -2.0, 0.5, 4.0]
    for seen in (together, one_by_one):
        asked = np.array([3, 4])
        seen.ask(seen.rows(asked, asked[:, None].astype(float)))
    tell(together, ids, rewards, unasked=unasked)
    for id_, reward in zip(ids, rewards, strict=True):
        tell(one_by_one, [id_], [reward], unasked=unasked)
    assert together.unasked == one_by_one.unasked == (4 if unasked else 2)
    for name in ("ids", "told", "pending", "sums", "history_rows", "rewards"):
        np.testing.assert_array_equal(getattr(together, name), getattr(one_by_one, name))
    np.testing.assert_allclose(together.scatters, one_by_one.scatters, rtol=1e-12)
