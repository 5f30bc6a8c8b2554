"""Names and table of a study's candidates, which people see beside their values."""

import io
from collections.abc import Sequence
from typing import Any

import polars as pl

from noregret import _checks
from noregret.spaces import Domain
from noregret.study.errors import StudyError
from noregret.study.storage.storage import Storage

#: names of the columns of a study's tables
_COLUMNS = {
    "trial", "id", "name", "value", "failed", "status", "origin", "asked", "given", "done",
    "reason", "mean", "lower", "upper", "evaluations",
}  # fmt: skip


class CandidateTable:
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
        if self._table is None or len(self._table) != domain.size:
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
        return point_in_words(point) if domain.size is None else str(id_)


def point_in_words(point: Any) -> str:
    """A point of a box or space in few digits: ``rate=0.1, kind=a``, or coordinates."""
    if isinstance(point, dict):
        return ", ".join(f"{name}={_short(value)}" for name, value in point.items())
    return ", ".join(_short(x) for x in point)


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def check_names(domain: Domain) -> None:
    """Refuse parameters with the name of a column of a study's tables."""
    taken = [name for name in domain.names or () if name.lower() in _COLUMNS]
    if taken and domain.size is None:
        raise StudyError(
            f"parameters must not be called {', '.join(sorted(_COLUMNS))} in a study; {taken[0]} is"
        )


def table_to_show(size: int | None, names: Sequence[Any] | None, table: Any) -> pl.DataFrame | None:
    """The table that is shown of a list of ``size`` candidates, names first; checked."""
    if names is None and table is None:
        return None
    if size is None:
        raise StudyError("names and table are for lists of candidates, not for a box")
    shown = pl.DataFrame() if table is None else _as_table(table)
    if table is not None and len(shown) != size:
        raise StudyError(f"table must have {size} rows, one per candidate, got {len(shown)}")
    if names is None:
        return shown
    words = [str(name) for name in names]
    if len(words) != size:
        raise StudyError(f"names must be {size}, one per candidate, got {len(words)}")
    column = pl.Series("name", words, dtype=pl.String)
    twice = column.filter(column.is_duplicated())
    if len(twice):
        raise StudyError(f"names must all be different; {twice[0]!r} comes twice")
    if "name" in shown.columns:
        raise StudyError(
            "table must not have a column 'name' if names are given: rename the column"
        )
    return pl.DataFrame([column, *shown.get_columns()])


def _as_table(given: Any) -> pl.DataFrame:
    """A polars or pandas frame as a polars one; columns of several types as texts."""
    if isinstance(given, pl.DataFrame):
        return given
    if not hasattr(given, "columns") or not hasattr(given, "iloc"):
        raise TypeError(f"table must be a frame of polars or pandas, got {_checks.shown(given)}")
    names = [str(name) for name in given.columns]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise StudyError(f"table must have columns of different names; {twice[0]!r} comes twice")
    columns = []
    for i, name in enumerate(names):
        cells, missing = given.iloc[:, i].to_list(), given.iloc[:, i].isna()
        values = [None if gone else one for one, gone in zip(cells, missing, strict=True)]
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) > 1 and not kinds <= {int, float}:
            values = [None if value is None else str(value) for value in values]
        columns.append(pl.Series(name, values, strict=False))
    return pl.DataFrame(columns)


def longer_table(
    old: pl.DataFrame | None,
    size: int,
    names: Sequence[Any] | None,
    table: Any,
    named: bool,
) -> pl.DataFrame | None:
    """The table of all candidates once ``size`` more have been added; checked.

    Parameters
    ----------
    old
        The table of the candidates so far.
    size
        How many are added.
    names, table
        Names and table of the new candidates, as for a new study. Missing columns stay empty.
    named
        Whether the others have names: then the new ones need names, else they must have none.
    """
    if named != (names is not None):
        raise StudyError(
            "names must be given: the study's other candidates have some"
            if named
            else "names must not be given: the study's other candidates have none"
        )
    new = table_to_show(size, names, table)
    if old is None:
        return None
    if new is None:
        new = old.clear(size)
    if named:
        known = new["name"].filter(new["name"].is_in(old["name"].implode()))
        if len(known):
            others = f" and {len(known) - 1:,} more" if len(known) > 1 else ""
            raise StudyError(
                f"names must be new; in the study already: {known[0]!r}{others}. Leave out these "
                f"rows: {len(new) - len(known):,} of {len(new):,} are new"
            )
    unknown = [name for name in new.columns if name not in old.columns]
    if unknown:
        raise StudyError(
            f"table must have the study's columns; {unknown[0]!r} is not one of "
            f"{', '.join(old.columns)}"
        )
    # Whole numbers stay whole only as long as no other number comes.
    wider = [
        name
        for name in new.columns
        if old.schema[name].is_integer() and new.schema[name].is_float()
    ]
    old = old.cast(dict.fromkeys(wider, pl.Float64))
    new = new.cast({name: old.schema[name] for name in new.columns})
    return pl.concat([old, new], how="diagonal")


def beside(frame: pl.DataFrame, table: pl.DataFrame, ids: Sequence[int]) -> pl.DataFrame:
    """A frame (n rows) with the table's rows of these ids (n) at its right.

    Names come once. A feature with the name of one of our columns gets an underscore at its end.
    """
    features = table.drop("name", strict=False)
    taken = set(frame.columns)
    renamed = {}
    for name in features.columns:
        free = name
        while free in taken:
            free += "_"
        taken.add(free)
        renamed[name] = free
    if not renamed:
        return frame
    return frame.hstack(features[list(ids)].rename(renamed))


def to_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as Parquet."""
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def from_bytes(data: bytes) -> pl.DataFrame:
    """What :func:`to_bytes` made."""
    return pl.read_parquet(io.BytesIO(data))
