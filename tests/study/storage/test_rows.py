"""Where a log ends, and what its operations say of candidates that are set aside."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.study.storage.rows import Head, Operation, SetAside

STATUSES = ("pending", "told", "failed")


@given(
    st.lists(st.sampled_from(STATUSES), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from(STATUSES)), max_size=20),
)
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


kinds = st.sampled_from(["aside", "retry", "ask", "tell"])
logs = st.lists(st.tuples(kinds, st.sets(st.integers(0, 4))), max_size=12)


@given(logs)
def test_the_last_word_on_a_candidate_counts(log):
    operations = [
        Operation(
            number, kind, None, 0.0, {"ids": sorted(ids)} if kind in ("aside", "retry") else None
        )
        for number, (kind, ids) in enumerate(log, 1)
    ]
    found = SetAside.by(operations)
    for id_ in range(5):
        words = [
            (i, kind)
            for i, (kind, ids) in enumerate(log, 1)
            if kind in ("aside", "retry") and id_ in ids
        ]
        assert (id_ in found.ids) == (bool(words) and words[-1][1] == "aside")
        retries = [i for i, kind in words if kind == "retry"]
        assert found.retried.get(id_) == (retries[-1] if retries else None)
        for done_by in range(1, len(log) + 2):
            later = not retries or done_by > retries[-1]
            assert found.counts(Failed(id_, done_by)) == later


@pytest.mark.parametrize("origin", ["history", "ask"])
def test_only_failures_of_runs_count(origin):
    assert not SetAside().counts(Failed(0, 3, origin))
    assert SetAside().counts(Failed(0, 3))
