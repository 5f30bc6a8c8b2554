"""How often candidates may still be picked."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.picking.lists.room import Room


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    repeats=st.none() | st.integers(1, 3),
    each=st.none() | st.integers(1, 2),
    n=st.integers(1, 60),
    aside=st.sets(st.integers(0, 11)),
    seed=st.integers(0, 9),
)
def test_draws_keep_to_the_room(counts, repeats, each, n, aside, seed):
    """No candidate more often than it may be; all that is asked for while there is any left."""
    seen = np.flatnonzero(counts)
    out = np.array(sorted(i for i in aside if i < len(counts)), dtype=np.int64)
    room = Room(len(counts), repeats, seen, np.array(counts)[seen], each, out)
    left = [room.left(i) for i in range(len(counts))]
    assert not any(left[i] for i in out)
    drawn = np.bincount(room.draw(n, np.random.default_rng(seed)), minlength=len(counts))
    assert (drawn <= left).all()
    assert drawn.sum() == min(n, sum(left))
    assert room.closed.tolist() == [i for i, m in enumerate(left) if m == drawn[i]]
    assert room.open == len(counts) - len(room.closed)


def test_without_limits_draws_are_those_of_the_list():
    drawn = Room(50).draw(20, np.random.default_rng(3))
    np.testing.assert_array_equal(drawn, np.random.default_rng(3).integers(50, size=20))


def test_a_box_has_room_for_ever():
    room = Room()
    assert room.open
    assert not room.limited
    assert room.take(-1)


def test_a_copy_goes_its_own_way():
    room = Room(3, 1)
    other = room.copy()
    assert not other.take(1)
    assert (room.left(1), other.left(1)) == (1, 0)
