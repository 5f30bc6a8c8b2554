"""``noregret reproduce``: the papers' figures and tables, computed again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from noregret.cli.app import Json, command, console, print_json, print_table, say

if TYPE_CHECKING:
    from rich.progress import TaskID

    from noregret.experiments.experiment import Experiment, Files
    from noregret.experiments.tasks import Task


@command("reproduce", "noregret reproduce bbkb-fig1 --quick")
def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Experiments; see --list.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Name every experiment.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Run them all, one after another.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller problem: seconds, not minutes.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's own settings: for some, hours.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Repetitions (of slow algorithms fewer, unless --full)."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes; default: one per core.")
    ] = None,
    out: Annotated[
        str, typer.Option(metavar="DIR", help="The folder for the results.")
    ] = "results",
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Compute everything again, also what the folder of --out holds."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run figures and tables of the papers behind the algorithms again.

    Writes the pictures (PNG), the raw numbers (Parquet) and a summary (JSON) to a folder.

    Interrupt it when you like: the same command goes on where it stopped.
    """
    from noregret.experiments.registry import experiments, find
    from noregret.linalg.threads import worker_count

    if listed:
        _list(as_json)
        return
    if quick and full:
        raise ValueError("--quick and --full exclude each other")
    if every == bool(ids):
        raise ValueError("give the ids of experiments, or --all; --list names them")
    chosen = list(experiments().values()) if every else [find(name) for name in ids or []]
    size = "quick" if quick else "full" if full else "page"
    repetitions = {one.id: runs for one in chosen if one.repeated or not every}
    for one in chosen:  # a wrong setting is refused before anything runs
        one.settings(size, repetitions.get(one.id))
    written = {}
    for one in chosen:
        files = _run(
            one, Path(out), size, repetitions.get(one.id), jobs or worker_count(), fresh, as_json
        )
        written[one.id] = [str(path) for path in (*files.pictures, files.table, files.summary)]
        if not as_json:
            say(f"{one.id}: {', '.join(written[one.id])}")
    if as_json:
        print_json(written)


def _list(as_json: bool) -> None:
    from noregret.experiments.registry import experiments

    known = experiments().values()
    if as_json:
        keys = ("id", "paper", "figure", "title", "minutes")
        print_json([{key: getattr(one, key) for key in keys} for one in known])
        return
    table = Table("id", "paper", "figure", "what", "minutes on two cores")
    for one in known:
        table.add_row(one.id, one.paper, one.figure, one.title, f"{one.minutes:g}")
    print_table(table)


def _run(
    experiment: "Experiment",
    out: Path,
    size: str,
    runs: int | None,
    jobs: int,
    fresh: bool,
    quiet: bool,
) -> "Files":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    from noregret.experiments.experiment import reproduce as run_experiment
    from noregret.experiments.tasks import labels

    names = labels(experiment.tasks(experiment.settings(size, runs)))
    text = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    bar = Progress(
        TextColumn("{task.description}", table_column=text),
        BarColumn(20),
        MofNCompleteColumn(),
        Elapsed(),
        console=console,
        disable=quiet,
        expand=True,
    )
    with bar:
        whole = bar.add_task(experiment.id, total=len(names))
        running: dict[str, TaskID] = {}

        def started(task: "Task") -> None:
            running[task.key] = bar.add_task(f"  {names[task.key]}", total=1)

        def finished(task: "Task") -> None:
            if task.key in running:
                bar.remove_task(running.pop(task.key))
            bar.advance(whole)

        return run_experiment(
            experiment,
            out,
            size=size,
            runs=runs,
            jobs=jobs,
            fresh=fresh,
            started=started,
            finished=finished,
        )
