"""Independent pieces of an experiment, each stored as soon as it is computed.

A cell is a function of plain arguments. Its answer is kept under a name made of both, so that an
interrupted experiment goes on where it stopped, and experiments that need the same runs share them.
"""

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import polars as pl

from noregret._threads import one_blas_thread

#: an answer's column of processor seconds that the cell took, start to end
COST = "cell_seconds"


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Attributes
    ----------
    function
        A function of a module (not a lambda), which returns a table. Same arguments, same table,
        but for measured times.
    arguments
        Its keyword arguments: strings, numbers, booleans. They become columns of the table.
    """

    function: Callable[..., pl.DataFrame]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A file name for the answer."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        text = json.dumps([name, dict(self.arguments)], sort_keys=True)
        return f"{self.function.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"

    @property
    def label(self) -> str:
        """What people see while it runs."""
        return " ".join(str(value) for value in self.arguments.values()) or self.function.__name__

    def compute(self) -> pl.DataFrame:
        """The answer, with the arguments and the cost as columns."""
        started = time.process_time()
        with one_blas_thread():
            frame = self.function(**self.arguments)
        given = [pl.lit(value).alias(name) for name, value in self.arguments.items()]
        cost = pl.lit(time.process_time() - started).alias(COST)
        return frame.with_columns(*given, cost)


class Store:
    """Answers of cells in a folder, one Parquet file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.parquet"

    def read(self, cell: Cell) -> pl.DataFrame | None:
        """The stored answer, or None."""
        path = self._path(cell)
        return pl.read_parquet(path) if path.exists() else None

    def write(self, cell: Cell, frame: pl.DataFrame) -> None:
        """Store an answer: all of it, or nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(cell)
        part = path.with_suffix(f".{os.getpid()}.part")
        frame.write_parquet(part)
        part.replace(path)

    def forget(self, cell: Cell) -> None:
        """Drop a stored answer."""
        self._path(cell).unlink(missing_ok=True)


def compute(
    cells: Sequence[Cell], store: Store, jobs: int, started: Callable[[Cell], None]
) -> Iterator[Cell]:
    """Compute and store what is missing, ``jobs`` cells at a time; yields cells as they are done.

    ``started`` is called when work on a cell begins. Cells that are stored already come first.
    """
    missing = []
    for cell in {cell.key: cell for cell in cells}.values():
        if store.read(cell) is None:
            missing.append(cell)
        else:
            yield cell
    if jobs == 1:
        for cell in missing:
            started(cell)
            store.write(cell, cell.compute())
            yield cell
        return
    others = set(active_children())
    # Children are started afresh: a forked one would inherit threads that do not run in it.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_alone) as pool:
        running: dict[Future[pl.DataFrame], Cell] = {}
        queue = iter(missing)
        try:
            while True:
                for cell in islice(queue, jobs - len(running)):
                    running[pool.submit(cell.compute)] = cell
                    started(cell)
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    cell = running.pop(future)
                    store.write(cell, future.result())
                    yield cell
        except BaseException:
            for child in set(active_children()) - others:  # nobody waits for what they are doing
                child.terminate()
            raise


def _alone() -> None:
    """A worker keeps to one thread, and leaves Ctrl-C to the process that started it."""
    os.environ["NOREGRET_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
