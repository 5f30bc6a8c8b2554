"""What people read of a study."""

import numpy as np
import polars as pl

import noregret as nr
from noregret.reporting.words import choices_in_words
from noregret.study.evaluating.stopping import StopRule, status_in_words


def words(path, domain, **options):
    with nr.Study.create(path, domain, seed=0, **options) as study:
        return choices_in_words(study)


def test_choices_are_named_as_people_know_them(tmp_path):
    X = np.random.default_rng(0).uniform(size=(1200, 3))
    assert words(tmp_path / "a.db", X) == "1,200 candidates of 3 numbers"
    bits = np.packbits(np.eye(64, dtype=np.uint8), axis=1)
    assert words(tmp_path / "b.db", bits) == "64 candidates of 64 bits"
    assert words(tmp_path / "c.db", nr.Box([(0, 1), (1, 9)])) == "2 parameters: x0, x1"
    assert words(tmp_path / "e.db", {"rate": (0, 1)}) == "1 parameter: rate"
    frame = pl.DataFrame({f"column{i}": np.arange(5.0) + i for i in range(10)})
    about = {"columns": [{"name": name} for name in [*frame.columns, "column0 (gap)"]]}
    found = words(tmp_path / "d.db", frame.to_numpy(), about=about)
    assert found.startswith("5 candidates, described by column0, column1")
    assert found.endswith("column7 and 2 more")


def test_before_anything_is_learnt_no_gap_is_told_and_nothing_is_enough(tmp_path):
    X = np.linspace(0, 1, 40)[:, None]
    rule = StopRule(gap=100.0, target=0.0)
    with nr.Study.create(tmp_path / "a.db", X, seed=0, repeats=1) as study:
        plate = study.ask(5)
        study.tell(plate, 40 + plate.points[:, 0])
        assert rule.reached(study) is None
        assert "too few answers yet" in status_in_words(study, rule)
        plate = study.ask(10)
        study.tell(plate, 40 + plate.points[:, 0])
        assert rule.reached(study) == "target"
        assert "by the model no other should be better by more than" in status_in_words(study, rule)


def test_the_gap_of_the_best_few_is_told(tmp_path):
    X = np.random.default_rng(0).uniform(size=(30, 1))
    options = {"kernel": nr.RBF(0.3), "noise": 0.1, "width": 2.0, "aim": 3}
    with nr.Study.create(tmp_path / "a.db", X, "gpucb", seed=0, **options) as study:
        study.tell_history([0], [1.0])
        assert "fewer than 3 candidates have been measured" in status_in_words(study, StopRule())
        study.tell_history([1, 2, 3], [1.0, 2.0, 3.0])
        said = status_in_words(study, StopRule())
    assert "no candidate outside the best 3 should be better than the last of them" in said
