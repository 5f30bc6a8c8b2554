"""What can still be read of a damaged study."""

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from noregret.spaces import Domain
from noregret.study import sql
from noregret.study.errors import DamagedError
from noregret.study.replay import first_optimizer
from noregret.study.rows import Trial
from noregret.study.tables import from_bytes, trials_frame

#: trials that are tried one by one where nothing says how many there are
_MOST_TRIED = 1 << 16


@dataclass(frozen=True)
class Salvaged:
    """The trials that could be read, and what could not.

    Attributes
    ----------
    trials
        As :meth:`noregret.Study.trials` gives them; names only where those can be read.
    lost
        Numbers of trials between the first and the last known that could not be read.
    problems
        What SQLite says about the file, in its words.
    """

    trials: pl.DataFrame
    lost: list[int]
    problems: list[str]


def salvage(path: Path) -> Salvaged:
    """Read every trial that can be read, in whatever state the file is; nothing is changed."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no study at {path}")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        storage = sql.Storage(sql.on(connection))
        _check_first_page(storage, path)
        trials, lost = _read(storage, 0, _last_number(storage))
        box, names = None, None
        with contextlib.suppress(sqlite3.DatabaseError, ValueError, pl.exceptions.PolarsError):
            box = _box(storage)
        with contextlib.suppress(sqlite3.DatabaseError, ValueError, pl.exceptions.PolarsError):
            names = _names(storage)
        try:
            problems = storage.problems(10)
        except sqlite3.DatabaseError as error:
            problems = [str(error)]
    finally:
        connection.close()
    return Salvaged(trials_frame(trials, box, names), lost, problems)


def _check_first_page(storage: sql.Storage, path: Path) -> None:
    try:
        tables = storage.tables()
    except sqlite3.DatabaseError as error:
        raise DamagedError(
            f"{path}: its first page, which says where everything is, cannot be read ({error}). "
            "Nothing can be saved by this program."
        ) from error
    if "trials" not in tables:
        raise DamagedError(f"{path} is an SQLite file, but not a noregret study")


def _last_number(storage: sql.Storage) -> int:
    """The largest trial number that any readable page knows of, −1 for none."""
    known = [-1]
    for read in (storage.largest_number, storage.largest_number_by_index):
        with contextlib.suppress(sqlite3.DatabaseError):
            known.append(read())
    if known == [-1]:  # neither the end of the table nor its index can be read
        known += [number for number in range(_MOST_TRIED) if _try(storage, number, number)]
    return max(known)


def _read(storage: sql.Storage, first: int, last: int) -> tuple[list[Trial], list[int]]:
    """The trials first..last that can be read, and the numbers of the others.

    What cannot be read at once is halved and tried again.
    """
    if first > last:
        return [], []
    trials = _try(storage, first, last)
    if trials is not None:
        found = {trial.number for trial in trials}
        return trials, [number for number in range(first, last + 1) if number not in found]
    if first == last:
        return [], [first]
    middle = (first + last) // 2
    left, lost_left = _read(storage, first, middle)
    right, lost_right = _read(storage, middle + 1, last)
    return left + right, lost_left + lost_right


def _try(storage: sql.Storage, first: int, last: int) -> list[Trial] | None:
    try:
        return storage.trials_between(first, last)
    except sqlite3.DatabaseError:
        return None


def _box(storage: sql.Storage) -> Domain | None:
    """The study's box, whose dimensions have names; a list is not needed here."""
    domain = first_optimizer(storage, None, None).domain
    return None if domain.listed else domain


def _names(storage: sql.Storage) -> pl.Series | None:
    table = from_bytes(storage.get_blob("table") or b"")
    return table["name"] if "name" in table.columns else None
