"""Where a log ends, and what its operations say of candidates that are set aside."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.study.storage.rows import Head, Operation, SetAside

STATUSES = ("pending", "told", "failed")


statuses = st.sampled_from(STATUSES)
moves = st.lists(st.tuples(st.integers(0, 11), statuses), max_size=20)


@given(st.lists(statuses, max_size=12), moves)
def test_the_head_counts_the_trials_of_each_status(made, moves):
    head, trials = Head(operation=3, chain=7, history=2, noted=5), []
    for status in made:
        head = head.moved(None, status)
        trials.append(status)
    for i, status in moves:
        if i < len(trials):
            head, trials[i] = head.moved(trials[i], status), status
    counts = Counter(trials)
    assert {status: getattr(head, status) for status in STATUSES} == {
        status: counts[status] for status in STATUSES
    }
    assert head.trials == len(trials)
    assert (head.operation, head.chain, head.history, head.noted) == (3, 7, 2, 5)


def test_many_trials_move_at_a_time():
    head = Head().moved(None, "pending", 5).moved("pending", "told", 3)
    assert (head.pending, head.told, head.trials) == (2, 3, 5)


@dataclass
class Failed:
    """What is asked of a failed trial."""

    id: int
    done_by: int | None
    origin: str = "run"


#: operations on candidates that are set aside
CHANGES = ("aside", "retry")

kinds = st.sampled_from([*CHANGES, "ask", "tell"])
logs = st.lists(st.tuples(kinds, st.sets(st.integers(0, 4))), max_size=12)


def operation(number, kind, ids):
    """An operation of the log."""
    return Operation(number, kind, None, 0.0, {"ids": sorted(ids)} if kind in CHANGES else None)


@given(logs)
def test_the_last_word_on_a_candidate_counts(log):
    found = SetAside.by([operation(number, *one) for number, one in enumerate(log, 1)])
    for id_ in range(5):
        said = {n: kind for n, (kind, ids) in enumerate(log, 1) if kind in CHANGES and id_ in ids}
        last = said[max(said)] if said else None
        retry = max((n for n, kind in said.items() if kind == "retry"), default=None)
        assert (id_ in found.ids) == (last == "aside")
        assert found.retried.get(id_) == retry
        for done_by in range(1, len(log) + 2):
            assert found.counts(Failed(id_, done_by)) == (retry is None or done_by > retry)


@pytest.mark.parametrize("origin", ["history", "ask"])
def test_only_failures_of_runs_count(origin):
    assert not SetAside().counts(Failed(0, 3, origin))
    assert SetAside().counts(Failed(0, 3))
