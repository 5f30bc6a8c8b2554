"""Frames of a study, against what was asked and told."""

import json
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from studies import X, f, new

import noregret as nr

NAMES = [f"c{i}" for i in range(len(X))]


@pytest.fixture
def study(path):
    table = pl.DataFrame({"mass": range(len(X)), "mean": ["ours"] * len(X)})
    with new(path, names=NAMES, table=table, direction="minimize") as study:
        yield study


def test_a_trial_is_a_row_from_the_question_to_the_answer(study):
    before = datetime.now(UTC) - timedelta(seconds=1)
    one, two = study.ask(1), study.ask(1)
    study.tell(one, [f(X[one.ids[0]])])
    study.tell(two, failed="no power")
    study.tell_history([4, 4], [1.5, 2.5])
    shown = study.trials()
    assert shown["trial"].to_list() == [0, 1, 2, 3]
    assert shown["id"].to_list() == [*one.ids, *two.ids, 4, 4]
    assert shown["name"].to_list() == [NAMES[i] for i in shown["id"]]
    assert shown["value"].to_list() == [f(X[one.ids[0]]), None, 1.5, 2.5]
    assert shown["status"].to_list() == ["told", "failed", "told", "told"]
    assert shown["origin"].to_list() == ["ask", "ask", "history", "history"]
    assert shown["reason"].to_list() == [None, "no power", None, None]
    now = datetime.now(UTC) + timedelta(seconds=1)
    for asked, done in shown.select("asked", "done").head(2).iter_rows():
        assert before < asked <= done < now


def test_the_best_choices_are_those_of_the_optimiser_in_the_users_units(study):
    study.tell_history(range(12), [f(x) for x in X[:12]])
    shown, found = study.top(3), study.optimizer.top(3)
    assert shown["id"].to_list() == [one.id for one in found]
    # What is minimised is told with the other sign, so bounds change places.
    assert shown["mean"].to_list() == pytest.approx([-one.mean for one in found])
    assert shown["lower"].to_list() == pytest.approx([-one.upper for one in found])
    assert shown["upper"].to_list() == pytest.approx([-one.lower for one in found])
    assert shown["measured"].to_list() == pytest.approx([f(X[one.id]) for one in found])
    assert shown["evaluations"].to_list() == [1, 1, 1]
    assert shown["mass"].to_list() == shown["id"].to_list()
    assert shown["mean_"].to_list() == ["ours"] * 3


def test_events_and_operations_in_their_order(study):
    study.tell(study.ask(2), [1.0, 2.0])
    study.set_aside([5, 3])
    events = study.events()
    assert events.columns == ["time", "event", "details"]
    assert all(isinstance(json.loads(details), dict) for details in events["details"])
    timed = events["time"].drop_nulls()
    assert timed.is_sorted()
    log = study.operations()
    assert log["operation"].to_list() == list(range(1, len(log) + 1))
    assert log["kind"].to_list()[-3:] == ["ask", "tell", "aside"]


def test_points_of_a_space_are_columns_by_parameter(path):
    space = nr.Space({"rate": nr.Float(0, 1), "kind": nr.Choice(["a", 3, None])})
    with nr.Study.create(path, space, seed=0) as study:
        points = [{"rate": 0.25, "kind": kind} for kind in ("a", 3, None)]
        study.tell_history(points, [1.0, 2.0, 3.0])
        shown = study.trials()
    assert shown["rate"].to_list() == [0.25] * 3
    assert shown["kind"].to_list() == ["a", "3", None]  # values of several types are texts
