"""Files that are damaged, or no studies."""

import sqlite3

import numpy as np
import pytest
from studies import new
from table_pages import pages_of

import noregret as nr
from noregret.study import StudyError
from noregret.study.storage.salvage import salvage


def damage(path, pages):
    """Overwrite some pages of the file."""
    size, rng = 4096, np.random.default_rng(0)
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * size)
            file.write(rng.bytes(size))


def fill(path, n):
    study = new(path, algorithm="uniform", norm=100, names=[f"c{i}" for i in range(60)])
    for _ in range(n // 10):
        study.tell(study.ask(10), np.arange(10.0))
    study.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The file of a study with 400 answers."""
    path = tmp_path_factory.mktemp("whole") / "a.db"
    fill(path, 400)
    return path.read_bytes()


@pytest.fixture
def filled(whole, path):
    """A copy of it."""
    path.write_bytes(whole)
    return path


@pytest.mark.parametrize("which", [slice(0, 1), slice(1, 3), slice(-1, None)])
def test_a_damaged_table_is_refused_and_the_rest_is_saved(filled, which):
    path, n = filled, 400
    damage(path, pages_of(path, "trials")[which])
    with pytest.raises(StudyError, match=r"damaged.*noregret export .* --salvage"):
        nr.Study.open(path)
    saved = salvage(path)
    numbers = saved.trials["trial"].to_list()
    assert len(numbers) > n / 2
    assert sorted(numbers + saved.lost) == list(range(n))
    assert saved.trials["value"].to_list() == [number % 10 for number in numbers]
    assert saved.trials["name"].to_list() == [f"c{id_}" for id_ in saved.trials["id"]]


def test_a_file_that_is_no_database(path):
    path.write_bytes(np.random.default_rng(0).bytes(8192))
    with pytest.raises(StudyError, match="not a study"):
        nr.Study.open(path)
    with pytest.raises(StudyError, match="Nothing can be saved"):
        salvage(path)


def test_a_database_that_is_no_study(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE a (b)")
    connection.close()
    for read in (nr.Study.open, salvage):
        with pytest.raises(StudyError, match="not a noregret study"):
            read(path)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9, 0.99])
def test_a_file_that_was_cut_off(filled, part):
    path, n = filled, 400
    data = path.read_bytes()
    path.write_bytes(data[: int(part * len(data))])
    if part < 0.9:
        with pytest.raises(StudyError, match=r"damaged.*noregret export .* --salvage"):
            nr.Study.open(path)
    saved = salvage(path)
    whole = [number for number in range(n) if number not in saved.lost]
    assert saved.trials["trial"].to_list() == whole
    assert saved.trials["value"].to_list() == [number % 10 for number in whole]
    readable = sum(one * 4096 <= part * len(data) - 4096 for one in trial_pages(data))
    assert len(whole) >= 10 * readable


def trial_pages(data):
    """Numbers of the pages with rows of trials."""
    return [i // 4096 for i in range(0, len(data), 4096) if data[i : i + 4096].count(b"told") > 9]


def test_bytes_changed_all_over_the_file(filled):
    path, n = filled, 400
    rng, data = np.random.default_rng(0), bytearray(path.read_bytes())
    for at in rng.integers(0, len(data), 40):
        data[at] = rng.integers(256)
    data[:100] = bytes(100)  # the header too
    path.write_bytes(data)
    saved = salvage(path)
    numbers = saved.trials["trial"].to_list()
    assert len(numbers) > 0.9 * n
    assert saved.trials["value"].to_list() == [number % 10 for number in numbers]
    assert sorted(numbers + saved.lost) == list(range(n))


def test_what_is_still_in_the_log_beside_the_file(path):
    """A writer was killed, and the file itself has never seen its last answers."""
    fill(path, 50)
    study = nr.Study.open(path)
    trials = study.ask(10)
    study.tell(trials, np.arange(10.0))
    study.tell(study.ask(1), failed="spilt " * 1500)
    copy = path.with_name("copy.db")
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes(
            path.with_name(path.name + suffix).read_bytes()
        )
    expected = study.trials()
    study.close()
    saved = salvage(copy)
    assert saved.lost == []
    assert saved.trials.equals(expected)


def test_points_of_a_box_are_saved_with_their_names(path):
    box = nr.Box({"heat": (0, 1), "time": (2, 9), **{f"x{i}": (0, 1) for i in range(8)}})
    with nr.Study.create(path, box, "uniform", kernel=nr.RBF(1.0), seed=0) as study:
        study.tell(study.ask(5), np.arange(5.0))
        expected = study.trials()
    assert salvage(path).trials.equals(expected)
