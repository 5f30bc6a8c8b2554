"""Candidates awake and dozing inside a batch: pick for pick the same as looking at all."""

import pytest
from dense import beside, play
from reference import problem

from noregret.picking.lists import awake


@pytest.mark.parametrize("case", ["gpucb", "bbkb", "gpbucb product", "bbkb local"])
@pytest.mark.parametrize("width", ["theory", 2.0])
def test_candidates_doze_where_memory_is_short(case, width, monkeypatch):
    counts = {"add": 0, "wake": 0}

    class Counted(awake.Dozing):
        def add(self, *what):
            counts["add"] += 1
            super().add(*what)

        def wake(self, count):
            counts["wake"] += 1
            return super().wake(count)

    monkeypatch.setattr(awake, "_AWAKE", 500)
    monkeypatch.setattr(awake, "Dozing", Counted)
    X, f, _ = problem(4, arms=2000)
    dense = play(beside(case, X, width=width), f, rounds=8)
    assert dense.clear > 4
    assert bool(counts["add"]) == (case != "bbkb local")
    assert counts["wake"] or case != "gpucb"
