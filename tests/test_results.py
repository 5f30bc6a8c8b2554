"""Batches in parts, recommendations and the history, as they are handed out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr

X = np.random.default_rng(0).uniform(size=(30, 2))


def asked(domain=X, n=6):
    opt = nr.GPUCB(domain, nr.RBF(0.3), seed=0)
    return opt, opt.ask(n)


BATCH = asked()[1]

positions = (
    st.integers(-6, 5)
    | st.slices(6)
    | st.lists(st.integers(-6, 5), max_size=8)
    | st.lists(st.booleans(), min_size=6, max_size=6).map(np.array)
)


@given(positions)
def test_a_part_of_a_batch_has_the_entries_at_its_positions(which):
    which = np.array(which, dtype=int) if isinstance(which, list) else which
    batch, chosen = BATCH, np.atleast_1d(np.arange(6)[which])
    part = batch[which]
    assert len(part) == len(chosen)
    np.testing.assert_array_equal(part.ids, batch.ids[chosen])
    np.testing.assert_array_equal(part.points, batch.points[chosen])
    assert all((one == batch.points[i]).all() for one, i in zip(part, chosen, strict=True))
    assert all(part.values[i] is batch.values[j] for i, j in enumerate(chosen))
    assert part.info is None


@pytest.mark.parametrize("domain", [X, nr.Box([(0, 1)] * 2)], ids=["list", "box"])
def test_a_batch_is_told_in_parts(domain):
    (one, whole), (other, batch) = asked(domain), asked(domain)
    y = np.arange(6.0)
    one.tell(whole, y)
    for which in ([4, 0], [1], [2, 3, 5]):
        other.tell(batch[which], y[which])
    order = [4, 0, 1, 2, 3, 5]
    np.testing.assert_array_equal(other.history.points, one.history.points[order])
    np.testing.assert_array_equal(other.history.rewards, one.history.rewards[order])
    assert (other.t, other.pending) == (6, 0)


@pytest.mark.parametrize("which", [6, [0, 7]])
def test_there_are_no_parts_beyond_the_batch(which):
    with pytest.raises(IndexError):
        asked()[1][which]


def test_a_batch_says_why_it_looks_as_it_does():
    opt, first = asked()
    assert first.uniform
    opt.tell(first, first.points[:, 0])
    beta, size = opt.beta, len(opt.dictionary)
    info = opt.ask(2).info
    assert (info.beta, info.ratio, info.dictionary_size) == (beta, 1.0, size)
    assert info.upper.shape == (2,)


def test_recommendations_are_equal_whatever_their_points_are():
    opt, batch = asked()
    opt.tell(batch, batch.points[:, 0])
    assert opt.recommend() == opt.recommend()
    assert opt.recommend() != opt.top(2)[1]
