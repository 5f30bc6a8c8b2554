"""Independent pieces of an experiment, each stored as soon as it is computed.

A task is a function of plain arguments. Its answer is kept under a name made of both, so that an
interrupted experiment goes on where it stopped, and experiments that need the same runs share them.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import polars as pl

from noregret.linalg.threads import one_blas_thread
from noregret.study.evaluating.workers import processes

#: the column of an answer with the processor seconds that the task took
COST = "cell_seconds"


@dataclass(frozen=True)
class Task:
    """One piece of work.

    Attributes
    ----------
    function
        A function of a module (not a lambda), which returns a table. The same arguments give the
        same table, except for measured times.
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

    def compute(self) -> pl.DataFrame:
        """The answer, with the arguments and the cost as columns."""
        started = time.process_time()
        with one_blas_thread():
            frame = self.function(**self.arguments)
        given = [pl.lit(value).alias(name) for name, value in self.arguments.items()]
        cost = pl.lit(time.process_time() - started).alias(COST)
        return frame.with_columns(*given, cost)


def grid(function: Callable[..., pl.DataFrame], /, **values: Iterable[Any]) -> list[Task]:
    """A task for every combination of values; those of the last argument change first."""
    rows = product(*values.values())
    return [Task(function, dict(zip(values, row, strict=True))) for row in rows]


def labels(tasks: Sequence[Task]) -> dict[str, str]:
    """What people see while a task runs, by its key: the arguments in which the tasks differ."""
    values: dict[str, set[Any]] = {}
    for task in tasks:
        for name, value in task.arguments.items():
            values.setdefault(name, set()).add(value)
    found = {}
    for task in tasks:
        parts = [
            value if isinstance(value, str) else f"{name} {value}"
            for name, value in task.arguments.items()
            if len(values[name]) > 1
        ]
        found[task.key] = ", ".join(parts) or task.function.__name__
    return found


class Store:
    """Answers of tasks in a folder, one Parquet file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def check(self) -> None:
        """Make the folder; refuse one that cannot be written to before anything is computed."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise ValueError(
                f"out must be a folder that can be written to: {self.folder} cannot be ({error})"
            ) from error

    def _path(self, task: Task) -> Path:
        return self.folder / f"{task.key}.parquet"

    def read(self, task: Task) -> pl.DataFrame | None:
        """The stored answer, or None; also None where the file is damaged."""
        path = self._path(task)
        if not path.exists():
            return None
        try:
            return pl.read_parquet(path)
        except pl.exceptions.PolarsError:
            return None

    def write(self, task: Task, frame: pl.DataFrame) -> None:
        """Store an answer: all of it, or nothing."""
        path = self._path(task)
        part = path.with_suffix(f".{os.getpid()}.part")
        frame.write_parquet(part)
        part.replace(path)

    def forget(self, task: Task) -> None:
        """Drop a stored answer."""
        self._path(task).unlink(missing_ok=True)


def compute(
    tasks: Sequence[Task], store: Store, jobs: int, started: Callable[[Task], None]
) -> Iterator[tuple[Task, pl.DataFrame]]:
    """Compute and store what is missing, ``jobs`` tasks at a time; yields tasks with their answers.

    ``started`` is called when work on a task begins. Tasks that are stored already come first.
    """
    missing = []
    for task in {task.key: task for task in tasks}.values():
        stored = store.read(task)
        if stored is None:
            missing.append(task)
        else:
            yield task, stored
    if jobs == 1:
        for task in missing:
            started(task)
            frame = task.compute()
            store.write(task, frame)
            yield task, frame
        return
    with processes(jobs) as pool:
        running: dict[Future[pl.DataFrame], Task] = {}
        queue = iter(missing)
        try:
            while True:
                for task in islice(queue, jobs - len(running)):
                    running[pool.submit(task.compute)] = task
                    started(task)
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    frame = future.result()
                    store.write(task, frame)
                    yield task, frame
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "a worker process died, perhaps because memory ran out: use fewer jobs; "
                "what is done is stored"
            ) from error
