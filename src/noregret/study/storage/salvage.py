"""What can still be read of a damaged study."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from noregret.running import state
from noregret.spaces import Domain
from noregret.study.candidate_table import from_bytes
from noregret.study.errors import DamagedError
from noregret.study.frames import trials_frame
from noregret.study.storage.checksums import bytes_sum, changed_trials, row_sum
from noregret.study.storage.rows import Head
from noregret.study.storage.sqlite_pages import Pages
from noregret.study.trials import TRIAL_COLUMNS, Trial

# How rows begin: the length of the header, then the types of the first columns. A row's own number
# has type 0; texts of n bytes have type 2n + 13.
_TRIAL = rb"[\x0f-\x14]\x00"
_HEAD = rb"\x0a\x00"
_BLOB = rb"[\x05-\x09]\x17[\x01\x08\x09]"  # a name of five letters: start, table

_FLOATS = [TRIAL_COLUMNS.index(n) for n in ("value", "asked_at", "given_at", "done_at")]
#: how many checksums are computed together
_CHUNK = 20_000


@dataclass(frozen=True)
class Salvaged:
    """The trials that could be read, and what could not.

    Attributes
    ----------
    trials
        As :meth:`noregret.Study.trials` gives them; with names only if these can be read.
    lost
        Numbers of trials that could not be read, or whose rows have changed.
    """

    trials: pl.DataFrame
    lost: list[int]


def salvage(path: Path) -> Salvaged:
    """Find every trial whose row is as it was written; nothing is changed.

    The file is searched byte by byte, without SQLite: no index, header or tree is needed.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no study at {path}")
    pages = Pages(path)
    trials = _trials(pages)
    expected = max([head.trials for head in _heads(pages)], default=None)
    if not trials and expected is None:
        raise DamagedError(
            f"{path} is not a noregret study, or nothing is left of it: no row of one can be "
            "found. Nothing can be saved."
        )
    box, names = None, None
    with contextlib.suppress(LookupError, ValueError, pl.exceptions.PolarsError):
        box = _box(pages)
    with contextlib.suppress(LookupError, ValueError, pl.exceptions.PolarsError):
        names = _names(pages)
    count = max([expected or 0, *(number + 1 for number in trials)])
    lost = [number for number in range(count) if number not in trials]
    columns = list(zip(*(trials[n].row for n in sorted(trials)), strict=True))
    return Salvaged(trials_frame(columns, box, names), lost)


def _trials(pages: Pages) -> dict[int, Trial]:
    """The latest version of each trial, by its number."""
    found: dict[int, Trial] = {}
    rows: list[list[Any]] = []

    def take() -> None:
        changed = set(changed_trials(list(zip(*rows, strict=True))))
        for i, row in enumerate(rows):
            if i not in changed:
                trial = Trial(*row[:-1])
                old = found.get(trial.number)
                if old is None or _age(old) < _age(trial):
                    found[trial.number] = trial
        rows.clear()

    for numbers, values in pages.records(_TRIAL):
        if len(values) != len(TRIAL_COLUMNS) + 1:
            continue
        for i in _FLOATS:  # SQLite stores whole numbers of such columns as integers
            if isinstance(values[i], int):
                values[i] = float(values[i])
        rows += [[number, *values[1:]] for number in numbers]
        if len(rows) >= _CHUNK:
            take()
    take()
    return found


def _age(trial: Trial) -> tuple[int, int]:
    """Numbers that grow from one version of a trial to the next."""
    return trial.done_by or 0, trial.times_given


def _heads(pages: Pages) -> Iterator[Head]:
    """All versions of the head that can still be found."""
    for _, values in pages.records(_HEAD):
        if len(values) == len(astuple(Head())) + 2 and row_sum(*values[1:-1]) == values[-1]:
            yield Head(*values[1:-1])


def _blob(pages: Pages, name: str) -> bytes:
    parts: dict[int, bytes] = {}
    for _, values in pages.records(_BLOB):
        if len(values) == 4 and values[0] == name and isinstance(values[2], bytes):
            _, part, data, stored = values
            if bytes_sum(name, part, data) == stored:
                parts[part] = data
    return b"".join(parts[part] for part in range(len(parts)))


def _box(pages: Pages) -> Domain | None:
    """The study's box, for the names of its dimensions; ``None`` for a list."""
    domain = state.read(io.BytesIO(_blob(pages, "start"))).domain(None)
    return domain if domain.size is None else None


def _names(pages: Pages) -> pl.Series | None:
    table = from_bytes(_blob(pages, "table"))
    return table["name"] if "name" in table.columns else None
