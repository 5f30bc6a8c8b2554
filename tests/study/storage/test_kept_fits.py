"""What a look has fitted is kept in the file, and changes nothing of the run."""

import shutil

import numpy as np
import pytest

import noregret as nr
from noregret.learning import fit

X = np.random.default_rng(0).uniform(size=(200, 2))
F = np.sin(5 * X[:, 0]) + X[:, 1]


@pytest.fixture
def path(tmp_path):
    """A study whose next look fits: a plate was told after the last ask."""
    path = tmp_path / "a.db"
    with nr.Study.create(path, X, seed=0, repeats=1) as study:
        for _ in range(2):
            plate = study.ask(20)
            study.tell(plate, F[plate.ids])
    return path


@pytest.fixture
def fits(monkeypatch):
    """Counts fits."""
    made, plain = [], fit.fit_kernel

    def counted(*args, **options):
        made.append(1)
        return plain(*args, **options)

    monkeypatch.setattr(fit, "fit_kernel", counted)
    return made


def look(path, *, keep=False):
    with nr.Study.open(path, read_only=True) as study:
        found = study.top(5)
        assert not keep or study.keep_look()
    return found


def test_the_second_look_and_the_next_ask_fit_nothing(path, fits):
    first = look(path, keep=True)
    assert len(fits) == 1
    assert look(path, keep=True).equals(first)
    with nr.Study.open(path) as study:
        study.ask(20)
    assert len(fits) == 1


def test_looking_changes_nothing_of_the_run(path, tmp_path):
    other = tmp_path / "b.db"
    shutil.copy(path, other)
    look(path, keep=True)
    asked = []
    for one in (path, other):
        with nr.Study.open(one) as study:
            plate = study.ask(20)
            asked.append(plate.ids.tolist())
            study.tell(plate, F[plate.ids])
            asked[-1] += study.ask(20).ids.tolist()
            asked[-1].append(study.optimizer.events)
    assert asked[0] == asked[1]


def test_it_is_not_used_once_more_is_told(path, tmp_path, fits):
    other = tmp_path / "b.db"
    shutil.copy(path, other)
    look(path, keep=True)
    found = []
    for one in (path, other):
        with nr.Study.open(one) as study:
            unseen = np.setdiff1d(np.arange(200), study.trials()["id"])[:20]
            study.tell_history(unseen, F[unseen])
        found.append(look(one))
    assert found[0].equals(found[1])
    assert len(fits) == 3


def test_a_study_in_use_keeps_nothing(path):
    with nr.Study.open(path), nr.Study.open(path, read_only=True) as reader:
        reader.best()
        assert not reader.keep_look()


def test_where_no_fit_was_needed_nothing_is_kept(path):
    with nr.Study.open(path) as study:
        study.ask(20)
    with nr.Study.open(path, read_only=True) as study:
        study.best()
        assert not study.keep_look()


def test_what_another_version_has_kept_is_worked_out_again(path, fits, monkeypatch):
    first = look(path, keep=True)
    monkeypatch.setattr("noregret.running.ahead.LookedAhead.__module__", "noregret.elsewhere")
    assert look(path).equals(first)
    assert len(fits) == 2
