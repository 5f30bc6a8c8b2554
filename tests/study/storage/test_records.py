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
        ((operation, source),) = study.records.sources().items()
        assert source == {"file": "old.csv"}
        assert [value for _, value in study.records.told_by([operation])] == [1.0, 2.0]


def test_records_say_what_a_file_told_also_after_it_was_overwritten(path):
    with new(path) as study:
        trials = study.ask(3)
        study.tell(trials.numbers[:2], [1.0, 2.0], source={"file": "a.csv"})
        study.tell(trials.numbers[2], failed="spilt", source={"file": "b.csv"})
        study.tell(trials.numbers[:1], [1.5], overwrite=True, source={"file": "c.csv"})
        study.tell(trials.numbers[2:], [3.0], overwrite=True)
        sources = study.records.sources()
        told = {one["file"]: study.records.told_by([n]) for n, one in sources.items()}
        choices = [trial.packed for trial in study.rows()]
    assert sorted(told["a.csv"]) == sorted(zip(choices, [1.0, 2.0], strict=False))
    assert told["b.csv"] == [(choices[2], None)]
    assert told["c.csv"] == [(choices[0], 1.5)]


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
