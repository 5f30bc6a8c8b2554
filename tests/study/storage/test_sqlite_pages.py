"""Rows found by their bytes, against the rows that SQLite itself reads."""

import sqlite3

import pytest

from noregret.study.storage.sqlite_pages import Pages

ROWS = [
    (1, None, -1.5, "short", b"\x00\xff"),
    (2, 0, 1.0, "", b""),
    (3, 1, -0.0, "ä" * 300, b"x" * 50),
    (7, -129, 1e300, "a", bytes(range(256)) * 40),  # goes on in other pages
    (300, 1 << 40, 0.1, "b" * 5000, b"y" * 20_000),
    (2**31, -(1 << 62), 2.5, "last", b"z"),
]
#: a header of six types: NULL or a number, a real number, then a text and bytes of any length
HEADER = rb"[\x06-\x09]\x00[\x00-\x09]\x07"


def connect(path, page_size):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, i, r REAL, s TEXT, b BLOB)")
    return connection


def found(path):
    """Rows by number, as far as their number is among those that are possible."""
    rows = [(number, *values[1:]) for numbers, values in Pages(path).records(HEADER)
            for number in numbers if len(values) == 5]  # fmt: skip
    return set(rows)


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_every_row_is_found(tmp_path, page_size):
    path = tmp_path / "a.db"
    connection = connect(path, page_size)
    # Real numbers that are whole are stored as integers, unless they have a fraction.
    rows = [row for row in ROWS if not row[2].is_integer()]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    assert connection.execute("SELECT * FROM t ORDER BY n").fetchall() == rows
    connection.close()
    assert set(rows) <= found(path)


def test_what_was_committed_to_the_log_beside_the_file_counts(tmp_path):
    path = tmp_path / "a.db"
    connection = connect(path, 4096)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    rows = [(n, n, n + 0.5, f"row {n}", b"") for n in range(40)]
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows[:30])
    connection.execute("COMMIT")
    assert set(rows[:30]) <= found(path)
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows[30:])
    assert not set(rows[30:]) & found(path)
    connection.execute("ROLLBACK")
    connection.close()


def test_bytes_that_are_no_database_have_no_rows(tmp_path):
    path = tmp_path / "a.db"
    for content in (b"", b"SQLite format 3\0", bytes(range(256)) * 100):
        path.write_bytes(content)
        list(Pages(path).records(HEADER))  # nothing is raised
    path.write_bytes(b"\x06\x00" * 5000)
    assert not [values for _, values in Pages(path).records(HEADER) if len(values) == 5]
