"""Trials as they are handed out, as kept, and what their choices are."""

import polars as pl
import pytest

import noregret as nr
from noregret.study.trials import choices_of, new_trials, trials_of

LIST = nr.Candidates(pl.DataFrame({"dose": [1.0, 2.0, 4.0, 8.0]}))
NAMES = pl.Series(["A", "B", "C", "D"])
BOX = nr.Box([(0, 1), (0, 2)])


def kept(domain, given, values=None):
    """New trials of these choices."""
    ids, points = domain.locate(given)
    return new_trials(5, domain.pack(ids, points), values, "ask", 7, 1000.0)


def test_trials_are_numbered_on_and_pending_until_they_are_told():
    pending, told = kept(LIST, [3, 1]), kept(LIST, [3, 1], [0.5, 0.25])
    assert [trial.number for trial in pending] == [5, 6]
    assert {(one.status, one.value, one.done_by, one.done_at) for one in pending} == {
        ("pending", None, None, None)
    }
    assert [(one.status, one.value, one.done_by) for one in told] == [
        ("told", 0.5, 7),
        ("told", 0.25, 7),
    ]


@pytest.mark.parametrize(
    ("domain", "given"), [(LIST, [3, 1, 3]), (BOX, [[0.5, 1.5], [1.0, 0.0], [0.5, 1.5]])]
)
def test_choices_of_trials_are_those_they_were_made_of(domain, given):
    assert choices_of(kept(domain, given), domain).tolist() == given


def test_parts_of_trials_keep_names_and_values_together():
    found = trials_of(kept(LIST, [3, 1, 0]), LIST, NAMES)
    assert list(found) == [5, 6, 7]
    assert found.names == ("D", "B", "A")
    part = found[1:]
    assert (len(part), list(part), part.names) == (2, [6, 7], ("B", "A"))
    assert part.values == [{"dose": 2.0}, {"dose": 1.0}]
    assert part.points.tolist() == [[2.0], [1.0]]
    assert found[2].ids.tolist() == [0]
    assert trials_of(kept(LIST, [0]), LIST)[:1].names is None
