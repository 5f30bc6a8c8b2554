"""The table of a study's lock file: which process holds the lock."""

import json

from noregret.study.database import Database
from noregret.study.rows import Holder


class HolderTable:
    """One row that says which process holds the lock."""

    def __init__(self, database: Database) -> None:
        self._run = database.execute

    def write(self, holder: Holder) -> None:
        """Put this holder in place of any other."""
        self._run("CREATE TABLE IF NOT EXISTS holder (token TEXT, about TEXT)")
        self._run("DELETE FROM holder")
        self._run("INSERT INTO holder VALUES (?, ?)", (holder.token, json.dumps(holder.about)))

    def read(self) -> Holder | None:
        """The holder, if there is one."""
        rows = self._run("SELECT token, about FROM holder")
        return Holder(rows[0][0], json.loads(rows[0][1])) if rows else None
