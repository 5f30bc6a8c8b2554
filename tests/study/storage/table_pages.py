"""Where a table stands in a study's file."""

import sqlite3

import pytest


def pages_of(path, table):
    """The numbers of the pages that hold a table's rows."""
    connection = sqlite3.connect(path)
    try:
        query = "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
        return [row[0] for row in connection.execute(query, (table,))]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no dbstat to find a table's pages with")
    finally:
        connection.close()
