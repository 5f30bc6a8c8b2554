"""Files that are damaged, or no studies."""

import os
import sqlite3

import numpy as np
import pytest
from studies import new

import noregret as nr
from noregret.study import StudyError
from noregret.study.salvage import salvage


def damage(path, pages):
    """Overwrite some pages of the file."""
    size = 4096
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * size)
            file.write(os.urandom(size))


def filled(path, n=400):
    study = new(path, algorithm="uniform", norm=100, names=[f"c{i}" for i in range(60)])
    for _ in range(n // 10):
        study.tell(study.ask(10), np.arange(10.0))
    study.close()
    return n


def pages_of(path, table):
    connection = sqlite3.connect(path)
    try:
        query = "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
        return [row[0] for row in connection.execute(query, (table,))]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no dbstat to find a table's pages with")
    finally:
        connection.close()


@pytest.mark.parametrize("which", [slice(0, 1), slice(1, 3), slice(-1, None)])
def test_a_damaged_table_is_refused_and_the_rest_is_saved(path, which):
    n = filled(path)
    damage(path, pages_of(path, "trials")[which])
    with pytest.raises(StudyError, match=r"damaged.*noregret export .* --salvage"):
        nr.Study.open(path)
    saved = salvage(path)
    assert saved.problems
    numbers = saved.trials["trial"].to_list()
    assert len(numbers) > n / 2
    assert sorted(numbers + saved.lost) == list(range(n))
    assert saved.trials["value"].to_list() == [number % 10 for number in numbers]
    assert saved.trials["name"].to_list() == [f"c{id_}" for id_ in saved.trials["id"]]


def test_a_file_that_is_no_database(path):
    path.write_bytes(os.urandom(8192))
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
