"""Candidates that fail again and again are set aside, and can be brought back."""

import numpy as np
import pytest
from studies import X, evaluate, f, new

import noregret as nr
from noregret.study import RunError
from noregret.study.storage import replay
from noregret.study.storage.file import StudyFile

#: every other one of the best
BROKEN = frozenset(np.argsort([-f(x) for x in X])[:30:2].tolist())
#: nothing is invented for failures here, so that they are asked for again
PROVED = {"algorithm": "gpucb", "width": "theory", "norm": 8.0}


def partly_broken(x):
    if int(np.flatnonzero((x == X).all(axis=1))[0]) in BROKEN:
        raise OSError("no connection\nto this one")
    return f(x)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


def failures(study):
    failed = study.trials().filter(status="failed")
    return dict(failed.group_by("id").len().iter_rows())


def test_a_candidate_that_always_fails_is_set_aside(path):
    """Not asked for more often than allowed; the others go on; the frame says who and why."""
    with new(path, **PROVED, names=[f"c{i}" for i in range(60)]) as study:
        study.run(partly_broken, 40, max_failures=None, max_failures_per_candidate=2)
        counts = failures(study)
        assert counts
        assert max(counts.values()) == 2
        aside = study.aside()
        assert aside["id"].to_list() == sorted(id_ for id_, n in counts.items() if n == 2)
        assert aside["name"][0] == f"c{aside['id'][0]}"
        assert aside["failures"].unique().to_list() == [2]
        assert aside["reason"].unique().to_list() == ["OSError: no connection"]
        assert study.counts()["told"] == 40
        assert not set(study.ask(10).ids.tolist()) & set(aside["id"].to_list())


def test_a_run_of_failures_ends_when_all_are_aside(path):
    with nr.Study.create(path, X[:5], "gpucb", kernel=nr.RBF(0.3), seed=0) as study:

        def never(x):
            raise OSError("no connection")

        why = study.run(never, 50, max_failures=None, max_failures_per_candidate=3)
        assert why == "exhausted"
        assert failures(study) == dict.fromkeys(range(5), 3)
        assert study.exhausted
        study.retry([3])
        assert not study.exhausted
        assert study.ask(1).ids.tolist() == [3]
        assert study.aside()["id"].to_list() == [0, 1, 2, 4]


def test_replay_sets_the_same_candidates_aside(path, tmp_path):
    """Closed and killed, with snapshots or from the log alone: the same questions."""
    plain, again = new(tmp_path / "plain.db", algorithm="gpucb"), new(path, algorithm="gpucb")
    for study in (plain, again):
        study.run(partly_broken, 12, max_failures=None, max_failures_per_candidate=1)
        assert len(study.aside())
    again._log.file.close()  # as a process that is killed: no snapshot at the end
    with nr.Study.open(path) as again:
        assert again.aside().equals(plain.aside())
        assert replay.dump(again.optimizer, candidates=True) == replay.dump(
            plain.optimizer, candidates=True
        )
        assert again.ask(5).ids.tolist() == plain.ask(5).ids.tolist()
    plain.close()


def test_a_killed_run_sets_aside_what_it_did_not_get_to(path):
    """The failure is on disk, the candidate not yet set aside: the next run does that first."""
    with new(path, algorithm="gpucb") as study:
        with pytest.raises(RunError):
            study.run(partly_broken, 40, max_failures=0, max_failures_per_candidate=None)
        (id_,) = failures(study)
        assert not len(study.aside())
        study.run(f, study.counts()["told"] + 1, max_failures_per_candidate=1)
        assert study.aside()["id"].to_list() == [id_]


def test_brought_back_is_as_if_it_had_never_failed(path):
    """Also from the log alone, where the snapshot is lost; and it may fail as often again."""
    with new(path, algorithm="gpucb", repeats=1) as study:
        study.run(partly_broken, 20, max_failures=None, max_failures_per_candidate=1)
        aside = study.aside()["id"].to_list()
        assert len(aside) > 1
        study.retry(aside[:1])
        assert study.aside()["id"].to_list() == aside[1:]
        assert study.optimizer.failing(1).tolist() == aside[1:]
        assert len(study.optimizer.history) == 20
        plate = study.ask(60)
        assert aside[0] in plate.ids
        assert not set(aside[1:]) & set(plate.ids.tolist())
        evaluate(study, plate[:3])
        kept = study.optimizer.aside.tolist()
    file = StudyFile.open(path, write=True)
    with file.transaction():
        file.execute("DELETE FROM blobs WHERE name LIKE 'snapshot/%'")
    file.close()
    with nr.Study.open(path) as study:
        with pytest.warns(RuntimeWarning, match="told them again"):
            rebuilt = study.optimizer
        assert rebuilt.aside.tolist() == kept
        assert study.aside()["id"].to_list() == aside[1:]


def test_set_aside_by_hand_and_refusals(path):
    with new(path) as study:
        study.set_aside([3, 5, 3])
        assert study.aside().rows() == [(3, "3", 0, None), (5, "5", 0, None)]
        for wrong in ([60], [-1], ["a"]):
            for call in (study.set_aside, study.retry):
                with pytest.raises((ValueError, TypeError), match="ids"):
                    call(wrong)
        with pytest.raises(ValueError, match="max_failures_per_candidate"):
            study.run(f, 5, max_failures_per_candidate=0)
        with nr.Study.open(path, read_only=True) as reader:
            assert reader.optimizer.aside.tolist() == [3, 5]
            study.retry([3])
            assert reader.optimizer.aside.tolist() == [5]
    with (
        nr.Study.create(path.with_name("box.db"), nr.Box([(0, 1)]), seed=0) as study,
        pytest.raises(TypeError, match="candidates of a list can be set aside"),
    ):
        study.set_aside([[0.5]])


def test_runs_in_memory_set_candidates_aside_too():
    calls = []

    def never(x):
        calls.append(x[0])
        raise OSError("no connection")

    result = nr.maximize(never, X[:4], 30, algorithm="gpucb", progress=False, seed=0)
    assert result.stopped == "exhausted"
    assert len(calls) == 12
