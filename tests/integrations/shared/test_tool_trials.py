"""Trials that another tool keeps, and rows of tables: what every integration shares."""

import math

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.integrations.shared.table_rows import TableRows
from noregret.integrations.shared.tool_trials import ToolTrials

LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto", "width": 2.0, "seed": 0}


def trials_of(rows=40):
    """Trials on a list of points, each evaluated once."""
    return ToolTrials(nr.BBKB(np.linspace(0, 1, rows)[:, None], **LEARNT, repeats=1))


def test_every_trial_gets_a_choice_of_its_own_until_none_is_left():
    trials = trials_of()
    chosen = []
    for key in range(40):
        chosen.append(trials.ask(key))
        assert trials.finish([(key, chosen[-1], chosen[-1] / 40)]) == []
    assert sorted(chosen) == list(range(40))
    assert trials.ask(40) is None
    assert trials.opt.t == 40


def test_choices_made_elsewhere_are_passed_over():
    trials = trials_of()
    first = trials.ask("a")
    assert trials.expect("b", 7) == [7]
    assert trials.expect("b", 7) == []  # known by now
    assert trials.expect("c", 41) == []  # no row
    assert trials.finish([("d", 8, 0.5)]) == [8]
    later = [trials.ask(key) for key in range(37)]
    assert not {first, 7, 8} & set(later)


def test_a_choice_that_is_given_up_is_free_again():
    trials = trials_of(3)
    trials.ask("a")
    trials.give_up("a")
    trials.expect("b", 0)
    trials.expect("b", 1)  # the trial took another choice
    assert {trials.ask(1), trials.ask(2)} == {0, 2}


def test_failures_and_choices_outside_the_domain_are_not_told():
    trials = trials_of(6)
    one, two = trials.ask(1), trials.ask(2)
    trials.finish([(1, one, math.nan), (2, None, 0.3)])
    assert trials.opt.t == 0
    left = {trials.ask(key) for key in range(3, 8)}
    assert one not in left
    assert two in left


def test_rows_are_found_by_their_values():
    rows = TableRows("table", pl.DataFrame({"x": [1.0, 2.0, 2.0], "salt": ["Na", "K", "Na"]}))
    assert rows.values(2) == {"x": 2.0, "salt": "Na"}
    assert rows.find({"salt": "K", "x": 2.0, "more": 1}) == 1
    assert rows.find({"salt": "K", "x": 1.0}) is None
    assert rows.find({"x": 1.0}) is None
    with pytest.raises(TypeError, match="pool must be a pandas or polars frame, or a dict"):
        TableRows("pool", [1.0, 2.0])
