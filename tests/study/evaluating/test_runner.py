import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from studies import X, assert_answers, f, new

import noregret as nr
from noregret.study import RunError


@pytest.fixture
def study(path):
    with new(path) as study:
        yield study


def test_one_at_a_time_is_ask_and_tell(study, tmp_path):
    study.run(f, 30)
    assert_answers(study, 30)
    plain = nr.BBKB(X, nr.RBF(0.3), noise=0.1, width="practical", seed=3)
    while plain.t < 30:
        batch = plain.ask(30 - plain.t)
        plain.tell(batch, [f(x) for x in batch.points])
    assert study.trials()["id"].to_list() == plain.history.ids.tolist()


def test_threads_and_processes(study):
    study.run(f, 20, workers=4)
    with ThreadPoolExecutor(2) as threads:
        study.run(f, 30, executor=threads, workers=2)
    with ProcessPoolExecutor(2) as processes:
        study.run(f, 40, executor=processes, workers=2)
    assert_answers(study, 40)
    study.run(f, 40)  # nothing left to do
    assert_answers(study, 40)


def dies(x):
    os._exit(1)


def test_a_broken_pool_ends_the_run_and_blames_no_trial(study):
    with (
        ProcessPoolExecutor(1) as processes,
        pytest.raises(RunError, match="takes no more work: BrokenProcessPool"),
    ):
        study.run(dies, 5, executor=processes)
    assert study.counts()["failed"] == 0
    assert study.pending("run") == [0]
    study.run(f, 5)
    assert_answers(study, 5)


def test_an_interrupted_run_takes_up_its_pending_trials_only(study):
    by_hand = study.ask(1)  # in somebody's laboratory
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return f(x)

    with pytest.raises(KeyboardInterrupt):
        study.run(interrupted, 20, batch=5)
    told = study.counts()["told"]
    assert told == 7
    left = study.pending("run")
    assert left
    study.run(f, 20, batch=5)
    assert study.pending() == by_hand.numbers.tolist()
    frame = study.trials()
    assert frame.filter(frame["trial"].is_in(left))["status"].to_list() == ["told"] * len(left)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"budget": 0}, ValueError, "budget must be at least 1"),
        ({"workers": 0}, ValueError, "workers must be at least 1"),
        ({"executor": 3}, TypeError, "executor must have submit"),
        ({"timeout": 0}, ValueError, "timeout must be above 0"),
        ({"trial_timeout": 0}, ValueError, "trial_timeout must be above 0"),
        ({"f": 3}, TypeError, "f must be a function"),
        ({"stop": "now"}, ValueError, "stop must be one of 'converged'"),
        ({"stop": 3}, TypeError, "stop must be 'converged' or a function"),
        ({"stop": "converged"}, ValueError, "BBKB has no such rule"),
    ],
)
def test_bad_options_are_named_before_anything_is_asked(study, options, error, message):
    with pytest.raises(error, match=message):
        study.run(**({"f": f, "budget": 3} | options))
    assert len(study.trials()) == 0


def test_a_study_of_thompson_sampling_stops_where_it_has_converged(tmp_path):
    """Another run of the same study looks at once."""
    options = {"kernel": nr.RBF(0.6), "noise": 0.02, "n_init": 10, "seed": 0}
    with nr.Study.create(tmp_path / "a.db", X, "thompsonsampling", **options) as study:
        assert study.run(f, 200, stop="converged") == "converged"
        told = study.counts()["told"]
        assert 10 <= told < 150
        assert study.run(f, 200, stop="converged") == "converged"
        assert study.counts()["told"] == told


# -- Dask ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dask_with_a_worker_killed_during_the_run(study):
    """A real cluster on loopback: three worker processes, one of which dies."""
    distributed = pytest.importorskip("distributed", reason="Dask is an extra: noregret[dask]")
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        victims = list(client.run(os.getpid).values())
        killed = []

        def kill_one(progress):
            if progress.told == 15 and not killed:
                os.kill(victims[0], signal.SIGKILL)
                killed.append(victims[0])

        study.run(f, 60, executor=client, workers=3, callback=kill_one)
        assert killed
        where = set(client.run(os.getpid).values())
        assert killed[0] not in where
    assert_answers(study, 60)
    assert study.counts()["pending"] == 0


def test_a_misspelt_option_is_refused_with_the_nearest_one(study):
    with pytest.raises(TypeError, match=r"Study.run\(\) has no option 'worker'; .* 'workers'"):
        study.run(f, 5, worker=2)
    with pytest.raises(TypeError, match="no option 'stop_gab'; did you mean 'stop_gap'"):
        study.run(f, 5, stop_gab=0.1)
    assert study.counts()["told"] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_failures": "3"}, "max_failures must be a whole number, got '3'"),
        ({"max_failures": -1}, "max_failures must be at least 0, got -1"),
        ({"max_in_a_row": 0}, "max_in_a_row must be at least 1, got 0"),
        ({"max_failures_per_candidate": 1.5}, "max_failures_per_candidate must be a whole number"),
    ],
)
def test_limits_of_failures_are_checked_before_anything_is_evaluated(study, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        study.run(lambda x: pytest.fail("evaluated"), 5, **options)
    assert study.counts()["failed"] == 0
