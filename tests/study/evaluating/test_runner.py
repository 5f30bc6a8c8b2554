import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import noregret as nr
from noregret.study import RunError

X = np.random.default_rng(0).uniform(size=(80, 2))


def f(x):
    return float(np.sin(5 * x[0]) + np.cos(3 * x[1]))


@pytest.fixture
def study(tmp_path):
    with nr.Study.create(
        tmp_path / "a.db", X, kernel=nr.RBF(0.3), noise=0.1, width="practical", seed=0
    ) as study:
        yield study


def assert_answers(study, budget):
    told = study.trials().filter(status="told")
    assert len(told) == budget
    assert told["value"].to_list() == [f(X[i]) for i in told["id"]]


def test_one_at_a_time_is_ask_and_tell(study, tmp_path):
    study.run(f, 30)
    assert_answers(study, 30)
    plain = nr.BBKB(X, nr.RBF(0.3), noise=0.1, width="practical", seed=0)
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


class Held:
    """An executor whose evaluations end when the test says so."""

    def __init__(self):
        self.submitted = []
        self.changed = threading.Condition()

    def submit(self, function, *arguments):
        future = Future()
        future.set_running_or_notify_cancel()
        with self.changed:
            self.submitted.append((future, function, arguments))
            self.changed.notify_all()
        return future

    def running(self):
        return sum(not future.done() for future, _, _ in self.submitted)

    def finish(self, which):
        future, function, arguments = self.submitted[which]
        future.set_result(function(*arguments))


@pytest.mark.parametrize("algorithm", ["gpucb", "bbkb"])
def test_workers_stay_full_while_a_straggler_runs(tmp_path, algorithm):
    """Also where adaptive batches are shorter than the number of workers."""
    held = Held()
    study = nr.Study.create(
        tmp_path / "a.db", X, algorithm, kernel=nr.RBF(0.3), noise=0.1, width="practical", seed=0
    )

    def drive():
        """End one evaluation after another, the first one last; each time all workers are busy."""
        for which in range(1, 20):
            full = min(3, 20 - which + 1)
            with held.changed:
                while held.running() != full:
                    assert held.changed.wait(timeout=30)
            held.finish(which)
        held.finish(0)

    with ThreadPoolExecutor(1) as thread:
        driven = thread.submit(drive)
        study.run(f, 20, executor=held, workers=3)
        driven.result()
    assert_answers(study, 20)
    # The straggler's trial was pending all the while and was not asked for twice.
    assert len(held.submitted) == 20


def test_failures_are_recorded_with_their_traceback(study):
    calls = []

    def fails_now_and_then(x):
        calls.append(x)
        if len(calls) % 3 == 0:
            raise ArithmeticError(f"no value at {x[0]:.3f}")
        return f(x)

    study.run(fails_now_and_then, 15, workers=3, max_failures=100)
    failed = study.trials().filter(status="failed")
    assert len(failed) == len(calls) // 3
    for id_, reason in failed.select("id", "reason").iter_rows():
        assert f"ArithmeticError: no value at {X[id_][0]:.3f}" in reason
        assert "in fails_now_and_then" in reason
    assert_answers(study, 15)
    assert len(study.optimizer.history) == 15


def test_a_reason_that_is_no_proper_text_ends_no_run(study):
    def cannot_read(x):
        if x[0] > 0.5:
            raise FileNotFoundError("cannot read " + os.fsdecode(b"r\xe9.csv") + "\x00\nat all")
        return f(x)

    study.run(cannot_read, 9, max_failures=100)
    assert study.pending() == []
    failed = [trial for trial in study.rows() if trial.status == "failed"]
    assert failed
    for trial in failed:
        assert trial.short_reason == "FileNotFoundError: cannot read r\\udce9.csv\x00"
    path = study.path
    study.close()
    with nr.Study.open(path) as again:
        assert again.trials()["reason"].to_list() == [trial.reason for trial in again.rows()]


@pytest.mark.parametrize("name", ["callback", "stop", "argument"])
def test_what_is_no_function_is_refused_before_anything_is_asked(study, name):
    with pytest.raises(TypeError, match=f"{name} must be .*function"):
        study.run(f, 5, **{name: 3})
    assert study.counts() == {"pending": 0, "told": 0, "failed": 0, "history": 0}


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_ends_the_run_with_true(study, answer):
    assert study.run(f, 9, callback=lambda progress: answer if progress.done == 3 else 1) == (
        "callback"
    )
    assert study.counts()["told"] == 3


class TwoPartsError(Exception):
    """An error that cannot be made again from its pickle."""

    def __init__(self, what, code):
        super().__init__(f"{what}: {code}")


def raises_two_parts(x):
    raise TwoPartsError("no licence", 7)


def test_an_error_that_cannot_be_pickled_comes_back_from_a_process_as_text(study):
    with ProcessPoolExecutor(2) as processes:
        with pytest.raises(RunError, match="TwoPartsError: no licence: 7"):
            study.run(raises_two_parts, 5, executor=processes, workers=2, max_failures=2)
        assert processes.submit(abs, -3).result() == 3  # the pool is whole
    failed = [trial for trial in study.rows() if trial.status == "failed"]
    assert [trial.times_given for trial in failed] == [1, 1, 1]
    for trial in failed:
        assert trial.short_reason.endswith("TwoPartsError: no licence: 7")
        assert "in raises_two_parts" in trial.reason


@pytest.mark.parametrize("workers", [1, 3])
def test_too_many_failures_stop_the_run_and_the_study_goes_on(study, workers):
    def never(x):
        raise OSError("no connection")

    with pytest.raises(RunError, match="max_failures=4; the last one: OSError: no connection"):
        study.run(never, 50, workers=workers, max_failures=4)
    assert study.counts()["failed"] == 5
    study.run(f, 10)
    assert study.counts()["told"] == 10


@pytest.mark.parametrize("value", [float("nan"), "a lot", None])
def test_what_is_no_number_is_a_failure(study, value):
    with pytest.raises(RunError, match="no finite number"):
        study.run(lambda x: value, 5, max_failures=0)
    assert study.counts()["failed"] == 1


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


def test_a_trial_that_hangs_is_given_to_another_worker(study):
    release = threading.Event()
    calls = []

    def hangs_at_first(x):
        calls.append(x)
        if len(calls) == 1:
            release.wait(30)
        return f(x)

    study.run(hangs_at_first, 12, workers=3, trial_timeout=0.3)
    release.set()
    assert_answers(study, 12)
    assert "reassigned" in study.events()["event"].to_list()


def test_workers_that_all_hang_end_the_run(study):
    release = threading.Event()
    try:
        with pytest.raises(RunError, match="hang"):
            study.run(lambda x: release.wait(30), 12, workers=2, trial_timeout=0.05, attempts=1)
    finally:
        release.set()
    failed = study.trials().filter(status="failed")
    assert all("timed out after 0.05 s" in reason for reason in failed["reason"])


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
