"""What is shown of the candidates of a study: their names and their table."""

from typing import Any

import polars as pl

from noregret.spaces import Domain, list_length
from noregret.study.sql import Storage
from noregret.study.tables import from_bytes, in_words


class Shown:
    """Names and table of a study's candidates, read from its file when they are needed.

    Parameters
    ----------
    storage
        The tables of the file.
    named
        Whether the candidates have names.
    """

    def __init__(self, storage: Storage, *, named: bool) -> None:
        self._storage, self._named = storage, named
        self._table: pl.DataFrame | None = None

    def table(self, domain: Domain) -> pl.DataFrame | None:
        """What to show of each candidate (n rows, ``name`` first if there are names)."""
        if self._table is None or len(self._table) != list_length(domain):
            data = self._storage.get_blob("table")
            self._table = None if data is None else from_bytes(data)
        return self._table

    def names(self, domain: Domain) -> pl.Series | None:
        """The names of the candidates (n); ``None`` if none were given."""
        table = self.table(domain) if self._named else None
        return None if table is None else table["name"]

    def name_of(self, domain: Domain, id_: int, point: Any) -> str:
        """How a choice is shown: by its name, its id, or its values on a box or space."""
        names = self.names(domain)
        if names is not None:
            return str(names[id_])
        return str(id_) if domain.listed else in_words(point)
