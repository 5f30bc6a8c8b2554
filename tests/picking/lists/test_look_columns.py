"""What is kept of candidates that were looked at, beside a plain record of every look."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.picking.lists.look_columns import LookColumns, with_slack
from noregret.picking.lists.prior import PriorRoot

SPACE = nr.Candidates(np.random.default_rng(0).normal(size=(9, 2)))
PRIOR = PriorRoot(nr.Linear(offset=0.5), lam=0.3)
NOBODY, NOTHING = np.empty(0, dtype=int), np.empty(0)

ids = st.integers(0, 8)
numbers = st.floats(-3, 3)
#: a look at a candidate on a date: mean and √leverage; or a date that is forgotten
looks = st.tuples(ids, numbers, st.floats(0, 3), st.integers(1, 3))
steps = st.lists(looks | st.integers(1, 3), max_size=12)
reaches = st.tuples(*[st.floats(0, 3) | st.just(np.inf)] * 3)


def root(id_):
    """√(k(x, x)/λ)."""
    x = SPACE.points[id_]
    return np.sqrt((x @ x + 0.5) / 0.3)


def kept(steps):
    """The columns after some steps, and the last look at each candidate."""
    columns, last = LookColumns.fresh(PRIOR, SPACE), {}
    for step in steps:
        if isinstance(step, int):
            columns.forget([step])
            last = {id_: look for id_, look in last.items() if look[2] != step}
        else:
            columns.put(np.array(step[:1]), np.array([step[1]]), np.array([step[2]]), step[3])
            last[step[0]] = step[1:]
    return columns, last


def read(columns, reach, known=(NOBODY, NOTHING), skipped=NOBODY):
    """All that a queue gives: ids and bounds."""
    queue = columns.read(lambda ids: ids, np.array(reach), *known, skipped)
    taken = []
    while queue.floor > -np.inf:
        some = queue.take(4)
        taken += zip(some.ids.tolist(), some.stale.tolist(), strict=True)
    return taken


@settings(max_examples=60)
@given(steps, st.floats(0, 3), reaches, st.dictionaries(ids, numbers), st.sets(ids))
def test_stale_bounds_are_those_of_the_last_look_or_of_the_prior(steps, first, others, own, closed):
    """The smaller one; the prior's where the date bounds nothing; smaller ones that are known."""
    columns, last = kept(steps)
    expected = {}
    for id_ in set(range(9)) - closed:
        expected[id_] = first * root(id_)
        if id_ in last and np.isfinite(others[last[id_][2] - 1]):
            mean, deviation, date = last[id_]
            expected[id_] = min(expected[id_], mean + others[date - 1] * deviation)
        expected[id_] = own.get(id_, expected[id_])
    known = np.array([*own], dtype=int), np.array([*own.values()], dtype=float)
    found = read(columns, [first, *others], known, np.array([*closed], dtype=int))
    assert sorted(id_ for id_, _ in found) == sorted(expected)
    for id_, bound in found:
        assert expected[id_] <= bound <= expected[id_] + 1e-7
    bounds = [bound for _, bound in found]
    assert bounds == sorted(bounds, reverse=True)


@given(steps)
def test_it_is_counted_how_many_have_each_date(steps):
    columns, last = kept(steps)
    dates = [look[2] for look in last.values()]
    assert columns.used(4).tolist() == [9 - len(dates), *(dates.count(date) for date in (1, 2, 3))]


def test_candidates_that_are_added_start_from_the_prior():
    columns, _ = kept([(2, 0.5, 0.1, 1)])
    longer = nr.Candidates(np.concatenate([SPACE.points, SPACE.points[:1]]))
    grown = columns.extended(longer)
    assert (len(columns), len(grown)) == (9, 10)
    before, after = dict(read(columns, [2.0, 1.0])), dict(read(grown, [2.0, 1.0]))
    assert after == {**before, 9: before[0]}


@given(numbers, st.floats(0, 3))
def test_slack_only_enlarges(stale, deviation):
    found = with_slack(np.array([stale]), np.array([deviation]))[0]
    assert stale <= found <= stale + 1e-8
