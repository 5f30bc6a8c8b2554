"""Studies survive being killed at any moment, and disks that are full.

Children are forked, so that hundreds of deaths cost little; the system kills each (SIGKILL),
either before its k-th SQL statement or (SIGPROF) after a random time of the processor.
"""

import contextlib
import copy
import functools
import hashlib
import os
import resource
import signal
import sqlite3
import subprocess
import traceback
import warnings

import numpy as np
import pytest

import noregret as nr
from noregret.study import FullError
from noregret.study.storage import replay
from noregret.study.storage.file import StudyFile
from noregret.study.storage.storage import Storage

X = np.random.default_rng(1).uniform(size=(40, 2))
BUDGET = 40


def answer(number, x):
    """A noisy value, the same whenever the trial is evaluated."""
    noise = int(hashlib.sha256(str(number).encode()).hexdigest()[:8], 16) / 2**32 - 0.5
    return float(np.sin(5 * x[0]) + np.cos(3 * x[1])) + 0.2 * noise


def create(path, algorithm="bbkb"):
    nr.Study.create(
        path, X, algorithm, kernel=nr.RBF(0.3), noise=0.1, width="practical", seed=5
    ).close()


def by_hand(path):
    """History first, then ask and tell; one trial in seven fails, one answer is changed."""
    with nr.Study.open(path) as study:
        ask_and_tell(study)


def ask_and_tell(study):
    if not study.counts()["history"]:
        study.tell_history([3, 4], [0.5, 0.25])
    while True:
        counts = study.counts()
        if not counts["pending"] and counts["told"] + counts["failed"] >= BUDGET:
            return
        if not counts["pending"] and counts["told"] > 20:
            study.tell(2, 0.125, overwrite=True)
        trials = study.get(study.pending()) if counts["pending"] else study.ask(4)
        for number, x in zip(trials, trials.points, strict=True):
            if number % 7 == 5:
                study.tell(number, failed="spilt")
            else:
                study.tell(number, answer(number, x))


def by_run(path):
    """The study's own loop; one trial in seven fails."""

    def f(x):
        number = study.pending("run")[0]
        if number % 7 == 5:
            raise OSError("spilt")
        return answer(number, x)

    with nr.Study.open(path) as study:
        study.run(f, BUDGET, batch=4)


def in_child(work):
    """Fork and run ``work`` there; the child's process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads sleep in BLAS's pool
        pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def killed_before_statement(work, k):
    """Run ``work`` in a child that dies before its k-th SQL statement; whether it finished."""

    def child():
        execute, left = StudyFile.execute, [k]

        def counted(self, *arguments):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(self, *arguments)

        StudyFile.execute = counted
        work()

    return finished(in_child(child))


def killed_after(work, seconds):
    """Run ``work`` in a child that is killed after so much processor time; whether it finished."""

    def child():
        signal.setitimer(signal.ITIMER_PROF, seconds)
        work()

    return finished(in_child(child))


def finished(pid):
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGPROF)
        return False
    assert status == 0
    return True


def assert_same(path, whole):
    """All trials, every bit of the optimiser, and what it asks next."""
    with nr.Study.open(path) as study, nr.Study.open(whole, read_only=True) as other:
        columns = ["trial", "id", "value", "status"]
        assert study.trials().select(columns).equals(other.trials().select(columns))
        assert replay.dump(study.optimizer, candidates=True) == replay.dump(
            other.optimizer, candidates=True
        )
        plate = copy.deepcopy(other.optimizer).ask(5, fill=True)
        assert study.ask(5).ids.tolist() == plate.ids.tolist()


def die_until_done(tmp_path, work, algorithm, rng, deaths):
    """Kill ``work`` again and again, start over when it finished, until ``deaths`` were died."""
    whole = tmp_path / "whole.db"
    create(whole, algorithm)
    work(whole)
    died = rounds = 0
    while died < deaths:
        path = tmp_path / f"{rounds}.db"
        create(path, algorithm)
        at_work = functools.partial(work, path)
        while True:
            if rng.random() < 0.5:
                over = killed_before_statement(at_work, int(rng.integers(1, 150)))
            else:
                over = killed_after(at_work, float(rng.exponential(0.05)))
            if over:
                break
            died += 1
        assert_same(path, whole)
        rounds += 1
    return died


@pytest.mark.parametrize("work", [by_hand, by_run])
def test_killed_at_random_points(tmp_path, work, monkeypatch):
    monkeypatch.setattr(replay, "_ASKS", 3)
    die_until_done(tmp_path, work, "bbkb", np.random.default_rng(0), deaths=6)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["bbkb", "bkb", "gpucb", "gpbucb", "uniform"])
@pytest.mark.parametrize("work", [by_hand, by_run])
def test_killed_hundreds_of_times(tmp_path, work, algorithm, monkeypatch):
    monkeypatch.setattr(replay, "_ASKS", 3)
    died = die_until_done(tmp_path, work, algorithm, np.random.default_rng(1), deaths=100)
    print(f"killed {died} times")


def test_killed_while_a_study_is_created(tmp_path):
    """Either there is no study, or a whole one."""
    for k in (*range(1, 30, 3), 60):
        path = tmp_path / f"{k}.db"
        done = killed_before_statement(lambda path=path: create(path), k)
        if path.exists():
            with contextlib.suppress(nr.StudyError), nr.Study.open(path) as study:
                assert len(study.ask(1)) == 1
                continue
        assert not done
    assert done


def test_a_file_that_may_not_grow(tmp_path):
    """Every write fails at some size: nothing told is lost, nothing is counted twice."""
    whole, path = tmp_path / "whole.db", tmp_path / "a.db"
    create(whole)
    by_hand(whole)
    create(path)

    def limited(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with pytest.raises(FullError, match="cannot be written"):
            by_hand(path)

    refused = 0
    for size in range(4096, 200_000, 16_384):
        pid = in_child(lambda size=size: limited(size))
        status = os.waitpid(pid, 0)[1]
        refused += status == 0
    assert refused >= 2
    by_hand(path)
    assert_same(path, whole)


def test_the_same_process_goes_on_after_a_full_disk(tmp_path):
    path, whole = tmp_path / "a.db", tmp_path / "whole.db"
    create(path)
    create(whole)
    by_hand(whole)
    file = StudyFile.open(path, write=True)
    study = nr.Study(file)
    study.tell_history([3, 4], [0.5, 0.25])
    pages = file.execute("PRAGMA page_count")[0][0]
    file.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(FullError, match="full"):
        ask_and_tell(study)
    file.execute("PRAGMA max_page_count = 1000000")
    study.close()
    by_hand(path)
    assert_same(path, whole)


def test_a_snapshot_that_finds_no_room_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(replay, "_ASKS", 2)
    path = tmp_path / "a.db"
    create(path)
    put = Storage.put_snapshot
    file = StudyFile.open(path, write=True)
    with nr.Study(file) as study:
        study.tell(study.ask(1), 1.0)

        def no_room(self, operation, data):
            raise FullError("no room")

        monkeypatch.setattr(Storage, "put_snapshot", no_room)
        with pytest.warns(RuntimeWarning, match="no snapshot could be stored: no room"):
            trials = study.ask(1)
        assert study.pending() == list(trials)
        monkeypatch.setattr(Storage, "put_snapshot", put)
        study.tell(trials, [0.5] * len(trials))
        assert len(file.storage.snapshots()) == 1


def test_a_full_file_system(tmp_path):
    """The same on a file system that is really full."""
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(mount)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip("mounting a small file system needs to be root")
    try:
        whole, path = tmp_path / "whole.db", mount / "a.db"
        create(whole)
        by_hand(whole)
        create(path)
        filler = mount / "filler"
        for _ in range(5):
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(b"0" * 1024)
            with pytest.raises(FullError):
                by_hand(path)
            filler.unlink()
            with nr.Study.open(path) as study:
                if study.pending():
                    trials = study.get(study.pending())
                    number = int(trials.numbers[0])
                    study.tell(number, answer(number, trials.points[0]))
        by_hand(path)
        assert_same(path, whole)
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_killed_while_taking_the_lock(tmp_path):
    """A holder that dies while it writes its name leaves a lock that others can take."""
    path = tmp_path / "a.db"
    create(path)

    def die_at(k):
        connect, left = sqlite3.connect, [k]

        class Dying(sqlite3.Connection):
            def execute(self, *arguments):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().execute(*arguments)

        sqlite3.connect = lambda *a, **o: connect(*a, **o | {"factory": Dying})
        nr.Study.open(path)

    for k in range(1, 12):
        assert not finished(in_child(lambda k=k: die_at(k)))
        with nr.Study.open(path) as study:
            assert study.pending() == []
