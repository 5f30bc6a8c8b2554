"""Numbers read from the top: against a plain sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.picking.lists import columns
from noregret.picking.lists.columns import ListQueue, Tops


def by_hand(values):
    """All ids, the largest number first, ties in the order of ids."""
    return np.lexsort((np.arange(len(values)), -values))


numbers = st.lists(
    st.sampled_from([-1.0, 0.0, 0.5, 2.0]) | st.floats(-1e6, 1e6), min_size=1, max_size=60
)


def read_from(tops):
    """A queue of candidates that are their own points."""
    return ListQueue(tops, lambda ids: ids)


@pytest.fixture(params=[1, 3, 4096], autouse=True)
def block(request, monkeypatch):
    """Blocks so short that a short list has many of them."""
    monkeypatch.setattr(columns, "_BLOCK", request.param)


@settings(max_examples=60, deadline=None)
@given(values=numbers, counts=st.lists(st.integers(1, 20), min_size=60, max_size=60))
def test_numbers_are_read_in_the_order_of_a_sort(values, counts):
    values = np.array(values)
    order, reading, read = by_hand(values), read_from(Tops(values)), []
    for count in counts:
        left = order[len(read) :]
        if not len(left):
            break
        assert reading.floor == values[left[0]]
        assert reading.next_id == left[0]
        some = reading.take(count).ids.tolist()
        assert 1 <= len(some) <= count
        read += some
    assert read == order.tolist()
    assert reading.floor == -np.inf


@settings(max_examples=60, deadline=None)
@given(values=numbers, data=st.data())
def test_numbers_that_were_changed_are_read_as_they_are_now(values, data):
    held = Tops(np.array(values))
    for _ in range(3):
        ids = np.array(
            data.draw(st.lists(st.integers(0, len(values) - 1), unique=True, max_size=9))
        )
        new = data.draw(st.lists(st.floats(-3, 3), min_size=len(ids), max_size=len(ids)))
        held.put(ids.astype(int), np.array(new))
        count = data.draw(st.integers(1, len(values)))
        taken, reading = [], read_from(held)
        while len(taken) < count:
            taken += reading.take(count - len(taken)).ids.tolist()
        assert taken == by_hand(held.values)[:count].tolist()


def test_reading_changes_nothing():
    held = Tops(np.array([3.0, 1.0, 2.0]))
    read_from(held).take(2)
    assert read_from(held).take(1).ids.tolist() == [0]
    assert held.values.tolist() == [3.0, 1.0, 2.0]
