"""What an experiment is, and how one is run: tasks, a table, pictures, a summary."""

import datetime
import importlib.metadata
import json
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from noregret import _checks
from noregret.experiments import figures
from noregret.experiments.tasks import COST, Store, Task, compute

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: plain values that JSON can hold
Settings = Mapping[str, Any]

SIZES = ("page", "full", "quick")


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper.

    Attributes
    ----------
    id, paper, figure, title
        Its id here, the paper's short name (see the Papers page), the figure or table of the paper,
        and what the figure shows.
    minutes
        Rough duration of the settings of the results page on two cores.
    sizes
        Settings by size. ``"page"``: what the results page shows. ``"full"``: the paper's own
        settings, where they take longer than an hour; only what differs from the page's.
        ``"quick"``: only what differs, so that the experiment takes seconds. ``runs`` is the number
        of repetitions.
    tasks
        The pieces of work for given settings. Run r of every algorithm has seed r.
    plot
        Figures by a suffix of the file's name (``""`` for the only one).
    measure
        The numbers to report: ``"rows"``, a table as a list of dicts, and any other plain values.
    """

    id: str
    paper: str
    figure: str
    title: str
    minutes: float
    sizes: Mapping[str, Settings]
    tasks: Callable[[Settings], Sequence[Task]]
    plot: "Callable[[pl.DataFrame, Settings], Mapping[str, Figure]]"
    measure: Callable[[pl.DataFrame, Settings], Mapping[str, Any]]

    @property
    def repeated(self) -> bool:
        """Whether it repeats runs with several seeds, rather than making one picture."""
        return "runs" in self.sizes["page"]

    def settings(self, size: str = "page", runs: int | None = None) -> dict[str, Any]:
        """The settings of a size, with another number of runs where it is given."""
        _checks.one_of("size", size, SIZES)
        chosen = {**self.sizes["page"], **self.sizes.get(size, {})}
        if runs is not None:
            _checks.count("runs", runs)
            if not self.repeated:
                raise ValueError(f"{self.id} makes one picture and has no runs to repeat")
            chosen["runs"] = runs
        return chosen


@dataclass(frozen=True)
class Files:
    """What :func:`reproduce` wrote."""

    table: Path
    summary: Path
    pictures: tuple[Path, ...]


def reproduce(
    experiment: Experiment,
    out: Path,
    *,
    size: str = "page",
    runs: int | None = None,
    jobs: int = 1,
    fresh: bool = False,
    started: Callable[[Task], None] = lambda task: None,
    finished: Callable[[Task], None] = lambda task: None,
) -> Files:
    """Run an experiment and write its table, pictures and summary to a folder.

    Parameters
    ----------
    experiment
        What to run.
    out
        The folder to write to. Its folder ``cells`` keeps the tasks computed so far, by package
        version.
    size, runs
        See :meth:`Experiment.settings`.
    jobs
        Tasks computed at the same time, each in a process of its own; 1: in this process.
    fresh
        Compute all tasks again, also those that are stored.
    started, finished
        Called as work on a task begins and ends.
    """
    _checks.count("jobs", jobs)
    settings = experiment.settings(size, runs)
    tasks = list(experiment.tasks(settings))
    # Another version of the package may compute other numbers.
    store = Store(out / "cells" / importlib.metadata.version("noregret"))
    figures.check()
    store.check()
    if fresh:
        for task in tasks:
            store.forget(task)
    answers = {}
    for task, frame in compute(tasks, store, jobs, started):
        answers[task.key] = frame
        finished(task)
    frames = [answers[task.key] for task in tasks]
    table = pl.concat(frames, how="diagonal")
    stem = out / experiment.id
    table_path, summary_path = stem.with_suffix(".parquet"), stem.with_suffix(".json")
    table.write_parquet(table_path)
    pictures = []
    for suffix, figure in experiment.plot(table, settings).items():
        path = out / f"{experiment.id}{suffix}.png"
        figures.save(figure, path)
        pictures.append(path)
    seconds = sum(float(frame[COST][0]) for frame in frames if len(frame))
    summary = {
        "id": experiment.id,
        "paper": experiment.paper,
        "figure": experiment.figure,
        "size": size,
        "settings": settings,
        "paper_settings": experiment.settings("full"),
        "seeds": sorted({task.arguments["seed"] for task in tasks if "seed" in task.arguments}),
        "cells": len(tasks),
        "processor_minutes": round(seconds / 60.0, 2),
        "pictures": [path.name for path in pictures],
        "measured": experiment.measure(table, settings),
        "versions": _versions(),
        "machine": _machine(),
        "date": datetime.date.today().isoformat(),
    }
    summary_path.write_text(json.dumps(_plain(summary), indent=1, ensure_ascii=False) + "\n")
    return Files(table_path, summary_path, tuple(pictures))


def _versions() -> dict[str, str]:
    names = ("noregret", "numpy", "scipy", "polars")
    found = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version(), **found}


def _machine() -> dict[str, Any]:
    return {"system": platform.system(), "machine": platform.machine(), "cores": os.cpu_count()}


def _plain(value: Any) -> Any:
    """Values that every JSON reader takes: NumPy numbers as numbers, NaN and infinity as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | bool | int) or value is None:
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number
