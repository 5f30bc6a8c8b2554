"""What a check says of files that are whole, and of damaged ones."""

import sqlite3

import pytest
from studies import evaluate, new

import noregret as nr
from noregret.study import StudyError
from noregret.study.storage.check import check_file


@pytest.fixture
def path(tmp_path):
    """A study of 12 trials, eight of them told."""
    path = tmp_path / "a.db"
    with new(path, names=[f"c{i}" for i in range(60)]) as study:
        for _ in range(2):
            evaluate(study, study.ask(4))
        study.ask(4)
    return path


def change(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_whole_study_has_no_problems_and_stays_as_it_is(path):
    before = path.read_bytes()
    found = check_file(path)
    assert (found.problems, found.damaged) == ([], [])
    assert (found.trials, found.operations) == (12, 5)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "words", "damaged"),
    [
        ("UPDATE trials SET value = value + 1e-9 WHERE number IN (2, 5)", "trials 2, 5", [2, 5]),
        ("DELETE FROM trials WHERE number = 3", "trial 3 is no longer there", [3]),
        ("UPDATE trials SET status = 'told' WHERE number = 9", "trial 9", [9]),
        ("UPDATE operations SET n = 5 WHERE number = 3", "operation 3", []),
        ("UPDATE events SET kind = 'other' WHERE number = 1", "event 0", []),
        ("UPDATE settings SET value = '1' WHERE key = 'seed'", "the setting 'seed'", []),
        ("UPDATE blobs SET data = x'00' WHERE name = 'table'", "'table'", []),
        ("UPDATE blobs SET data = x'00' WHERE name LIKE 'snapshot/%'", "'snapshot/", []),
        ("DELETE FROM trials WHERE number = 11", "11 trials are there", [11]),
        # Text that is no UTF-8 any more.
        ("UPDATE events SET kind = CAST(x'ff' AS TEXT) WHERE number = 1", "event 0", []),
        ("UPDATE operations SET info = CAST(x'7bff' AS TEXT) WHERE number = 3", "operation 3", []),
        ("UPDATE trials SET origin = CAST(x'ff' AS TEXT) WHERE number = 2", "trial 2", [2]),
        ("UPDATE head SET told = 7", "where the log ends", []),
    ],
)
def test_what_has_changed_is_named(path, statement, words, damaged):
    change(path, statement)
    found = check_file(path)
    assert words in "; ".join(found.problems)
    assert found.damaged == damaged


def test_all_problems_are_found_not_just_the_first(path):
    change(path, "UPDATE trials SET value = 3 WHERE number = 0")
    change(path, "UPDATE events SET kind = 'other' WHERE number = 1")
    change(path, "UPDATE blobs SET data = x'00' WHERE name = 'start'")
    found = check_file(path)
    assert len(found.problems) == 3
    assert found.damaged == [0]


def test_files_that_are_cut_off_or_no_studies(path, tmp_path):
    data = path.read_bytes()
    cut = tmp_path / "cut.db"
    cut.write_bytes(data[: len(data) // 2])
    found = check_file(cut)
    assert found.problems
    assert found.damaged is None or all(0 <= number < 12 for number in found.damaged)
    cut.write_bytes(bytes(5000))
    assert check_file(cut).damaged is None
    with pytest.raises(FileNotFoundError):
        check_file(tmp_path / "none.db")
    change(tmp_path / "other.db", "CREATE TABLE a (b)")
    with pytest.raises(StudyError, match="not a noregret study"):
        check_file(tmp_path / "other.db")


def test_while_another_process_writes(path):
    with nr.Study.open(path) as study:
        evaluate(study, study.ask(2))
        assert check_file(path).trials == 14
