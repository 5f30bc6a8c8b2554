"""What a study's file holds can be read back."""

import pytest
from studies import new

from noregret.study import StudyError


def test_records_say_who_told_what(path):
    with new(path) as study:
        study.note("calibrated", by="Ada")
        study.note("moved", to="room 2")
        study.tell_history([3, 5], [1.0, 2.0], source={"file": "old.csv"})
        assert study.records.noted("calibrated") == [{"by": "Ada"}]
        ((operation, source),) = study.records.imports().items()
        assert source == {"file": "old.csv"}
        told = study.records.told_by(operation)
        assert [value for _, value in told] == [1.0, 2.0]


def test_the_last_batch_and_its_trials(path):
    with new(path) as study:
        assert study.records.last_batch() is None
        trials = study.ask(4)
        study.tell(trials.numbers[:1], [1.0])
        assert study.records.last_batch() is not None
        assert study.records.trial(int(trials.numbers[0])).status == "told"
        assert study.records.trial(99) is None
        assert [one.number for one in study.records.find([2, 1])] == [2, 1]
        with pytest.raises(StudyError, match="no trial 99"):
            study.records.find([1, 99])
