"""``noregret run``: an external program per trial, with a live display."""

import math
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from noregret.cli.app import (
    STOPPING,
    Json,
    Patience,
    StopGap,
    StudyPath,
    Target,
    Wait,
    command,
    console,
    plain,
    print_json,
    say,
)
from noregret.cli.csv_files import fields_of, values_of
from noregret.cli.words import about_best, interval, many, say_alive, say_best

if TYPE_CHECKING:
    from rich.live import Live

    from noregret.results import Recommendation
    from noregret.study import Study
    from noregret.study.evaluating.progress import Progress


class Stop(StrEnum):
    """Rules of an algorithm that end a run."""

    CONVERGED = "converged"


#: the heading of options about programs that fail
FAILURES = "Failures"
#: seconds after which the display computes the best choice again
_BEST_EVERY = 2.0


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
            metavar="TEXT",
            help="The program; {column} stands for a candidate's value. No shell is involved. "
            "The last line it prints is the value.",
        ),
    ],
    budget: Annotated[
        int,
        typer.Option(metavar="N", help="The run ends when the study has this many values."),
    ],
    workers: Annotated[
        int, typer.Option(metavar="N", help="How many programs run at the same time.")
    ] = 1,
    batch: Annotated[
        int | None,
        typer.Option(metavar="N", help="Trials to ask for at once; default: one per free worker."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="A program that takes longer is killed."),
    ] = None,
    max_failures: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Stop when more programs than this have failed.",
            rich_help_panel=FAILURES,
        ),
    ] = 10,
    max_failures_per_candidate: Annotated[
        int,
        typer.Option(
            metavar="N",
            rich_help_panel=FAILURES,
            help="A candidate that has failed this often, and more often than it gave a "
            "value, is set aside; see noregret retry.",
        ),
    ] = 3,
    stop_gap: StopGap = None,
    target: Target = None,
    patience: Patience = None,
    stop: Annotated[
        Stop | None,
        typer.Option(
            metavar="RULE",
            help="converged: end once Thompson sampling knows where the maximum lies.",
            rich_help_panel=STOPPING,
        ),
    ] = None,
    known_best: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="The best possible value, if it is known: shows the regret."
        ),
    ] = None,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Run a program for each trial until the budget is spent. Run it again to go on.

    It ends early if enough has been found, or if every candidate has been evaluated as often as it
    may be. Candidates that fail again and again are set aside: noregret retry brings them
    back.
    """
    from noregret.study import Study
    from noregret.study.evaluating.command import Command
    from noregret.study.evaluating.workers import threads

    with _ended_by_signals(), Study.open(study, wait=wait) as opened:
        evaluate = Command(program, fields_of(opened), timeout)
        display = _Display(opened, known_best)
        show = not as_json and console.is_terminal
        shown: AbstractContextManager[object] = display.live() if show else nullcontext()
        try:
            with shown, threads(workers) as pool:
                stopped = opened.run(
                    evaluate,
                    budget,
                    executor=pool if workers > 1 else None,
                    workers=workers,
                    batch=batch,
                    max_failures=max_failures,
                    max_failures_per_candidate=max_failures_per_candidate,
                    callback=display.update,
                    stop_gap=stop_gap,
                    target=target,
                    patience=patience,
                    stop="converged" if stop is Stop.CONVERGED else None,
                    argument=lambda id_, point: values_of(opened, id_, point),
                )
        finally:
            evaluate.stop()
        best, counts = opened.best(), opened.counts()
        aside = opened.aside()["name"].to_list()
        about, words = about_best(opened, best), say_best(opened, best)
    if as_json:
        print_json({"counts": counts, "stopped": stopped, "set_aside": aside, "best": about})
        return
    say(
        f"{many(counts['told'], 'answer')}, {many(counts['failed'], 'failure')}; stopped by "
        f"{stopped}."
    )
    if aside:
        say(f"Failed too often and set aside (noregret status): {many(len(aside), 'candidate')}.")
    say(words)


class _Display:
    """What the live display shows, brought up to date after every answer."""

    def __init__(self, study: "Study", known_best: float | None) -> None:
        self._study = study
        self._known_best = known_best
        self._progress: Progress | None = None
        self._best: Recommendation | None = None
        self._best_at = -math.inf
        self._alive: str | None = None

    def update(self, progress: "Progress") -> None:
        self._progress = progress
        due = time.monotonic() - self._best_at > _BEST_EVERY
        if console.is_terminal and progress.told and due:
            self._best, self._alive = self._study.best(), say_alive(self._study)
            self._best_at = time.monotonic()

    def live(self) -> "Live":
        """The display, as a context manager."""
        from rich.live import Live

        return Live(console=console, get_renderable=self.table, refresh_per_second=4)

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
        info = self._study.records.last_batch()
        if info is not None:
            grid.add_row("last batch", many(info["size"], "trial"))
            if "dictionary" in info:
                grid.add_row("dictionary", f"{info['dictionary']} inducing points")
        if self._best is not None:
            self._show_best(grid, self._best)
        return grid

    def _show_best(self, grid: Table, best: "Recommendation") -> None:
        name = self._study.name_of(best.id, best.point)
        grid.add_row("best so far", plain(f"{name}: {interval(best)}"))
        grid.add_row("gap", f"{best.gap:.4g}")
        if self._alive is not None:
            grid.add_row("alive", self._alive)
        if self._known_best is not None:
            regret = abs(self._known_best - best.mean)
            grid.add_row("regret", f"{regret:.4g} (of the estimate)")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a signal to terminate end the run as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
