"""Rows of a table as choices."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from noregret.spaces import Candidates
from noregret.spaces.frames import as_frame


class TableRows:
    """The rows of a table: a list of candidates whose values have names.

    Parameters
    ----------
    name, table
        How messages call the table; a pandas or polars frame, or a dict of columns.

    Attributes
    ----------
    columns
        The columns, polars series by name.
    domain
        The list of candidates.
    """

    def __init__(self, name: str, table: Any) -> None:
        if not isinstance(table, Mapping) and not hasattr(table, "columns"):
            raise TypeError(
                f"{name} must be a pandas or polars frame, or a dict of columns, got "
                f"{type(table).__name__}"
            )
        if isinstance(table, Mapping):
            lengths = {column: len(values) for column, values in table.items()}
            if len(set(lengths.values())) > 1:
                raise ValueError(f"{name} must have columns of one length, got {lengths}")
            table = pl.DataFrame(table)
        frame = as_frame(table)
        self.domain = Candidates(frame)
        self.columns = {column: frame[column] for column in frame.columns}
        self._row_of: dict[tuple[Any, ...], int] | None = None

    def values(self, row: int) -> dict[str, Any]:
        """The values of a row by name."""
        return {name: column[row] for name, column in self.columns.items()}

    def find(self, values: Mapping[str, Any]) -> int | None:
        """The row with these values; ``None`` if there is none, or if a value is missing."""
        if any(name not in values for name in self.columns):
            return None
        if self._row_of is None:
            rows = zip(*(column.to_list() for column in self.columns.values()), strict=True)
            self._row_of = {found: row for row, found in enumerate(rows)}
        return self._row_of.get(tuple(values[name] for name in self.columns))
