"""Answers to trials: told twice, changed, in the user's units."""

import numpy as np
import pytest
from studies import f, new

from noregret.study import StudyError


def test_telling_again_changes_nothing_and_another_value_is_refused(path):
    study = new(path)
    trials = study.ask(1)
    study.tell(trials, 1.5)
    operations = len(study.operations())
    study.tell(trials, 1.5)
    study.tell([0], [1.5])
    assert len(study.operations()) == operations
    with pytest.raises(StudyError, match=r"trial 0 has been told 1\.5 already.*overwrite=True"):
        study.tell(trials, 2.0)
    with pytest.raises(StudyError, match="trial 0 has been told"):
        study.tell(trials, failed="no")
    assert study.trials()["value"].to_list() == [1.5]


def test_minimising_mirrors_maximising(path, tmp_path):
    up, down = new(path), new(tmp_path / "b.db", direction="minimize")
    for _ in range(6):
        a, b = up.ask(2), down.ask(2)
        assert a.ids.tolist() == b.ids.tolist()
        values = [f(x) for x in a.points]
        up.tell(a, values)
        down.tell(b, [-value for value in values])
    high, low = up.best(), down.best()
    assert (low.id, low.mean, low.lower, low.upper) == (
        high.id,
        -high.mean,
        -high.upper,
        -high.lower,
    )
    assert low.gap == high.gap
    assert down.trials()["value"].to_list() == [-v for v in up.trials()["value"]]


def test_a_prior_mean_shifts_values_and_nothing_else(path, tmp_path):
    plain, high = new(path), new(tmp_path / "b.db", prior_mean=64.0)
    for _ in range(6):
        a, b = plain.ask(2), high.ask(2)
        assert a.ids.tolist() == b.ids.tolist()
        values = np.round([f(x) for x in a.points], 3)
        plain.tell(a, values)
        high.tell(b, values + 64)
    assert high.best().lower == pytest.approx(plain.best().lower + 64)
    assert high.best().gap == pytest.approx(plain.best().gap)
