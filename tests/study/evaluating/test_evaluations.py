"""Evaluations under way: who works on what, what fails, what hangs."""

import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from studies import X, assert_answers, f, new

import noregret as nr
from noregret.study import RunError


@pytest.fixture
def study(path):
    with new(path) as study:
        yield study


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
