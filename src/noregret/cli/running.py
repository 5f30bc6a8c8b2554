"""``noregret run``: an external program per trial, with a live display."""

import math
import signal
import time
from types import FrameType
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from noregret.cli.app import Json, StudyPath, command, console, print_json, say
from noregret.results import Recommendation
from noregret.study import Study
from noregret.study.execution import Command, Progress

#: seconds between looks at the best choice
_LOOK = 2.0


@command(
    "run",
    'noregret run plates.db --command "python measure.py {a} {b} {c}" --budget 2000 --workers 8',
)
def run(
    study: StudyPath,
    program: Annotated[
        str,
        typer.Option(
            "--command",
            help="The program; {column} stands for a candidate's value. No shell is involved. "
            "The last line it prints is the value.",
        ),
    ],
    budget: Annotated[int, typer.Option(help="Answers the study shall have in the end.")],
    workers: Annotated[int, typer.Option(help="Programs that run at the same time.")] = 1,
    batch: Annotated[
        int | None, typer.Option(help="Trials asked for at once; default: one per free worker.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a program is killed.")
    ] = None,
    max_failures: Annotated[
        int, typer.Option(help="Stop when more programs than this have failed.")
    ] = 10,
    known_best: Annotated[
        float | None,
        typer.Option(help="The best possible value, where it is known: shows the regret."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a program for each trial until the budget is spent; the same call goes on."""
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with Study.open(study) as opened:
            evaluate = Command(program, fields_of(opened), timeout)
            display = _Display(opened, known_best)
            live = Live(console=console, get_renderable=display.table, refresh_per_second=4)
            show = not as_json and console.is_terminal
            if show:
                live.start()
            try:
                opened.run(
                    evaluate,
                    budget,
                    workers=workers,
                    batch=batch,
                    max_failures=max_failures,
                    progress=display.update,
                    argument=lambda id_, point: values_of(opened, id_),
                )
            finally:
                evaluate.stop()
                if show:
                    live.stop()
            best, counts = opened.best(), opened.counts()
            name = name_of(opened, best.id)
    finally:
        signal.signal(signal.SIGTERM, previous)
    if as_json:
        keys = ("mean", "lower", "upper", "gap")
        print_json({"counts": counts, "best": {"id": name} | {k: getattr(best, k) for k in keys}})
        return
    say(f"{counts['told']} answers, {counts['failed']} failures.")
    say(f"Best: {name}, {interval(best)}; no other is better by more than {best.gap:.4g}.")


def fields_of(study: Study) -> list[str]:
    """What may stand in braces in a command."""
    table = study.table
    id_column = study.settings["about"].get("id", "id")
    return ["id", "name", id_column, *([] if table is None else table.columns)]


def values_of(study: Study, id_: int) -> dict[str, Any]:
    """The values of a candidate's fields."""
    table = study.table
    row = {} if table is None else table.row(id_, named=True)
    name = name_of(study, id_)
    return {"id": id_, "name": name, study.settings["about"].get("id", "id"): name, **row}


def name_of(study: Study, id_: int) -> str:
    """What a candidate is called: its name, or its row number."""
    if study.settings["named"] and study.table is not None:
        return str(study.table["name"][id_])
    return str(id_)


def interval(best: Recommendation) -> str:
    """The estimate with its bounds."""
    return f"{best.mean:.4g} in [{best.lower:.4g}, {best.upper:.4g}]"


class _Display:
    """What the live display shows, brought up to date after every answer."""

    def __init__(self, study: Study, known_best: float | None) -> None:
        self._study = study
        self._known_best = known_best
        self._progress: Progress | None = None
        self._best: Recommendation | None = None
        self._looked = -math.inf

    def update(self, progress: Progress) -> None:
        self._progress = progress
        now = time.monotonic()
        if console.is_terminal and progress.told and now - self._looked > _LOOK:
            self._best = self._study.best()
            self._looked = time.monotonic()

    def table(self) -> Table:
        grid = Table.grid(padding=(0, 2))
        progress = self._progress
        if progress is None:
            grid.add_row("waiting for the first answer …")
            return grid
        grid.add_row("answers", f"{progress.told} of {progress.budget}")
        grid.add_row("failed, running", f"{progress.failed}, {progress.running}")
        left = progress.seconds_left
        words = time.strftime("%H:%M:%S", time.gmtime(left)) if left < 86400 else f"{left:.0f} s"
        grid.add_row("speed", f"{progress.rate:.2f} trials/s, about {words} left")
        info = self._study.last_batch()
        if info is not None:
            grid.add_row("last batch", f"{info['size']} trials")
            if "dictionary" in info:
                grid.add_row("dictionary", f"{info['dictionary']} inducing points")
        if self._best is not None:
            name = name_of(self._study, self._best.id)
            grid.add_row("best so far", f"{name}: {interval(self._best)}")
            grid.add_row("gap", f"{self._best.gap:.4g}")
            if self._known_best is not None:
                regret = abs(self._known_best - self._best.mean)
                grid.add_row("regret", f"{regret:.4g} (of the estimate)")
        return grid


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
