"""Where a study's file is, who else uses it, and what happens to it meanwhile."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from shim import run_with_shim
from studies import evaluate, new

import noregret as nr
from noregret.study import LockedError, StudyError
from noregret.study.storage import file


def in_children(works):
    """Run each in a process of its own, at the same time; their exit codes."""
    pids = []
    for work in works:
        pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(BaseException):
                code = work() or 0
            os._exit(code)
        pids.append(pid)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def test_one_of_many_who_create_the_same_study_wins(tmp_path):
    for attempt in range(3):
        path = tmp_path / f"{attempt}.db"

        def create(seed, path=path):
            try:
                new(path, seed=seed).close()
            except StudyError:
                return 9
            return 0

        codes = in_children([lambda seed=seed: create(seed) for seed in range(6)])
        assert codes.count(0) == 1
        assert codes.count(9) == 5
        with nr.Study.open(path) as study:
            assert study.settings["seed"] == codes.index(0)
        assert [p.name for p in tmp_path.glob(f"{attempt}.db*")] == [path.name]


def test_a_study_that_another_process_finishes_just_before_the_lock_stays(path, monkeypatch):
    taking = file.WriterLock

    def quicker():
        file.WriterLock = taking
        new(path, seed=77).close()

    def late(*arguments):
        assert in_children([quicker]) == [0]
        return taking(*arguments)

    monkeypatch.setattr(file, "WriterLock", late)
    with pytest.raises(StudyError, match="exists already"):
        new(path, seed=1)
    monkeypatch.undo()
    with nr.Study.open(path) as study:
        assert study.settings["seed"] == 77


def test_killed_at_the_writes_of_create(tmp_path):
    script = Path(__file__).with_name("create_and_die.py")
    deaths, whole = map(int, run_with_shim(tmp_path, script, tmp_path).split())
    assert deaths > 10
    assert whole < deaths


@pytest.mark.parametrize("change", ["moved", "deleted", "replaced"])
def test_a_study_that_is_gone_is_not_told(path, change):
    study = new(path)
    trials = study.ask(1)
    if change == "moved":
        path.rename(path.with_name("b.db"))
    else:
        path.unlink()
    if change == "replaced":
        path.write_bytes(b"")
    with pytest.raises(StudyError, match="moved, deleted or replaced"):
        evaluate(study, trials)
    study.close()
    if change == "moved":
        with nr.Study.open(path.with_name("b.db")) as again:
            assert again.pending() == list(trials)


def test_symbolic_links_share_the_lock(path, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    link = other / "link.db"
    link.symlink_to(path)
    with new(path) as study:
        with pytest.raises(LockedError, match="process"):
            nr.Study.open(link)
        evaluate(study, study.ask(1))
    with nr.Study.open(link) as study:
        assert study.counts()["told"] == 1
    assert sorted(p.name for p in other.iterdir()) == ["link.db"]


def test_a_file_with_two_names_has_no_writer(path):
    study = new(path)
    second = path.with_name("b.db")
    os.link(path, second)
    with pytest.raises(LockedError, match="hard links"):
        nr.Study.open(second)
    evaluate(study, study.ask(1))
    study.close()
    second.unlink()
    with nr.Study.open(path) as study:
        assert study.counts()["told"] == 1


def test_a_writer_waits_for_another(path):
    study = new(path)
    with pytest.raises(LockedError, match="this process already"):
        nr.Study.open(path, wait=0.1)
    timer = threading.Timer(0.3, study.close)
    timer.start()
    with nr.Study.open(path, wait=60) as second:
        second.ask(1)
    timer.join()


def test_many_who_wait_all_have_their_turn(path):
    """Writers come and go without a pause: nobody is told of a full disk."""
    new(path).close()

    def work():
        for _ in range(3):
            with nr.Study.open(path, wait=120) as study:
                evaluate(study, study.ask(1))

    assert in_children([work] * 5) == [0] * 5
    with nr.Study.open(path, read_only=True) as study:
        assert study.counts()["told"] == 15


def test_close_leaves_one_file(path):
    study = new(path)
    evaluate(study, study.ask(2))
    study.close()
    study.close()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs another user")
def test_a_folder_that_may_only_be_read(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "a.db"
    with new(path) as study:
        evaluate(study, study.ask(2))
    for one in (tmp_path, *tmp_path.parents):
        if one.stat().st_uid == 0 and one != one.parent:
            one.chmod(one.stat().st_mode | 0o055)
    path.chmod(0o644)

    def as_nobody():
        os.setuid(65534)
        with nr.Study.open(path, read_only=True) as study:
            assert study.counts()["told"] >= 1
            assert len(study.trials()) >= 1
            study.best()
        with pytest.raises(StudyError, match="cannot be written to: open the study for reading"):
            nr.Study.open(path)
        with pytest.raises(StudyError, match="make the study in a folder of your own"):
            new(path.with_name("new.db"))

    assert in_children([as_nobody]) == [0]


def test_a_table_in_place_of_a_study_is_refused(path):
    table = path.with_name("library.csv")
    table.write_text("compound,a\nc1,3\n")
    for read_only in (False, True):
        with pytest.raises(StudyError, match=r"library.csv is a table, not a study"):
            nr.Study.open(table, read_only=read_only)
    named = path.with_name("study.txt")
    new(named).close()
    nr.Study.open(named).close()


def test_what_noregret_did_not_make_is_refused(path):
    new(path).close()
    for statement in (
        "CREATE TRIGGER t AFTER UPDATE ON trials BEGIN DELETE FROM trials; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE w (a)",
    ):
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.close()
        for read_only in (False, True):
            with pytest.raises(StudyError, match="does not hold just the tables of a study"):
                nr.Study.open(path, read_only=read_only)
        connection = sqlite3.connect(path)
        kind, name = statement.split()[1:3]
        connection.execute(f"DROP {kind} {name}")
        connection.close()
    nr.Study.open(path).close()


def test_threads_share_a_study(path):
    study = new(path)
    for _ in range(5):
        trials = study.ask(4)
        start, errors = threading.Barrier(6), []

        def work(start=start, trials=trials, errors=errors):
            start.wait()
            try:
                evaluate(study, trials)
                study.best()
                study.ask(1)
                study.trials()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert study.optimizer.t == study.counts()["told"]
        assert study.optimizer.pending == study.counts()["pending"]
        study.tell(study.pending(), [0.5] * len(study.pending()))
    study.close()


def test_a_lock_left_by_a_dead_process_is_taken(path):
    new(path).close()
    script = (
        "import os, noregret as nr, sys\n"
        "study = nr.Study.open(sys.argv[1])\nstudy.ask(1)\nos.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -9
    with nr.Study.open(path) as study:
        assert study.counts()["pending"] >= 1
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_reading_leaves_one_file(path):
    with new(path) as study:
        evaluate(study, study.ask(2))
    with nr.Study.open(path, read_only=True) as study:
        study.best()
        assert len(study.trials()) == 2
        with pytest.raises(StudyError, match="cannot be opened or written to"):
            study.records._storage.add_event("a reader", {})
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_last_reader_leaves_one_file(path):
    """Also where the writer has left before."""
    with new(path) as study, nr.Study.open(path, read_only=True) as reader:
        evaluate(study, study.ask(2))
        study.close()
        assert reader.counts()["told"] == 2
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_is_read_beside_a_writer_fits_together(path):
    """The log and its end, say: the writer may change the file between two statements."""
    new(path).close()

    def write():
        with nr.Study.open(path) as study:
            for i in range(50):
                trials = study.ask(1)
                if i % 2:
                    evaluate(study, trials)
                else:
                    study.tell(trials, failed="spilt")

    writer = threading.Thread(target=lambda: done.append(in_children([write])))
    done: list[list[int]] = []
    writer.start()
    with nr.Study.open(path, read_only=True) as study:
        while writer.is_alive():
            study.pending()
            study.operations()
            study.records.failed()
    writer.join()
    assert done == [[0]]


def test_one_mutex_serves_all_that_use_a_file(tmp_path):
    """A thread that holds it keeps the others out of the study and of its records."""
    with nr.Study.create(tmp_path / "s.db", [[0.0], [1.0]], kernel=nr.RBF(), seed=0) as study:
        assert study.mutex is study.records.mutex
        done = [threading.Event(), threading.Event()]
        looks = [
            threading.Thread(target=lambda: (study.counts(), done[0].set())),
            threading.Thread(target=lambda: (study.records.rows(), done[1].set())),
        ]
        with study.mutex:
            for look in looks:
                look.start()
            assert not any(event.wait(0.05) for event in done)
        for look in looks:
            look.join()
        assert all(event.is_set() for event in done)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            "sqlite:///runs/a.db",
            ValueError,
            "storage must be .* got 'sqlite:///runs/a.db'.* 'a.db'",
        ),
        ("", IsADirectoryError, "storage must name a file, got the folder '.'"),
        (3, TypeError, "storage must be the path of a file, got 3"),
    ],
)
def test_what_is_no_path_of_a_file_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        nr.minimize(lambda x: x["a"], {"a": (0, 1)}, 2, storage=given)
    with pytest.raises(error, match=words.replace("storage", "path")):
        nr.Study.create(given, {"a": (0, 1)})
    with pytest.raises(error, match=words.replace("storage", "path")):
        nr.Study.open(given)
