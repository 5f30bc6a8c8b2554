"""Rows that name their columns, as users give them: frames, dicts, labelled rows."""

from collections.abc import Mapping, Sequence
from typing import Any


def named_rows(given: Any) -> list[dict[str, Any]] | None:
    """Rows as dicts by column if the columns are named, else ``None``.

    Given may be a pandas or polars frame; a row that is a dict, a named tuple or a pandas series
    whose labels are the names of columns; or a list of such rows. A list in which only some rows
    name their columns is refused.
    """
    given = collected(given)
    if hasattr(given, "columns"):
        return rows_of(given)
    one = _named(given)
    if one is not None:
        return [one]
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)) or not given:
        return None
    rows = [_named(row) for row in given]
    found = [row for row in rows if row is not None]
    if found and len(found) < len(rows):
        wrong = rows.index(None)
        raise TypeError(
            "points must be all dicts or all rows of numbers; row "
            f"{wrong} is {given[wrong]!r:.50}, and others are dicts"
        )
    return found or None


def collected(given: Any) -> Any:
    """A lazy frame as a frame, and all else as it is."""
    is_lazy = hasattr(given, "collect") and hasattr(given, "collect_schema")
    return given.collect() if is_lazy else given


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a pandas or polars frame as dicts."""
    names = [str(name) for name in frame.columns]
    columns = [frame[name].to_list() for name in frame.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _named(row: Any) -> dict[str, Any] | None:
    """A row as a dict, if it says what its entries are called."""
    if isinstance(row, Mapping):
        return dict(row)
    if hasattr(row, "_asdict"):  # a named tuple, as frames give them
        return dict(row._asdict())
    if not (hasattr(row, "index") and hasattr(row, "to_dict")):  # else it is a pandas series
        return None
    labels = list(row.index)
    # Without labels of its own a series counts its entries.
    return None if labels == list(range(len(labels))) else {str(k): v for k, v in row.items()}
