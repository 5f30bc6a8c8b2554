"""What all commands share: the app, errors as exit codes, where output goes.

The modules of the commands import what takes long (tables, files, experiments) inside the functions
that need it, so that ``noregret --help`` answers at once.
"""

import functools
import inspect
import itertools
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar, get_type_hints

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from noregret.study import Study

Command = TypeVar("Command", bound=Callable[..., Any])
Record = TypeVar("Record")

#: control characters, and marks that change the direction of writing
_CONTROL = ("Cc", "Cf")

#: messages for people go to stderr; stdout is for data
console = Console(stderr=True, highlight=False)

EXIT_CODES = """Exit codes: 0 done, 1 refused (the message says why, nothing was changed), 2 wrong
usage, 3 another process is writing to the study, 4 the file is damaged, 5 too many evaluations
failed, 6 the disk is full, 7 nothing is left to ask for, 130 interrupted (the study continues)."""

#: exit code if a study's file is damaged
DAMAGED = 4
#: exit code after Ctrl-C
INTERRUPTED = 130
#: exit code of ask if every candidate has been asked for as often as it may be
EXHAUSTED = 7


class _FlagsWithoutType:
    """Help that shows no type beside options that take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return found


class _Command(_FlagsWithoutType, TyperCommand):
    """A command of the app."""


class _Group(_FlagsWithoutType, TyperGroup):
    """The app itself."""


app = typer.Typer(
    name="noregret",
    cls=_Group,
    help="Find the best of many choices when every measurement is noisy and costs something.\n\n"
    "A study is one file. Create it, ask what to measure, tell the values, look at the best. "
    "`noregret COMMAND --help` has an example of each command.",
    epilog=" ".join(EXIT_CODES.split()),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from noregret import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Options that stand before the name of a command."""


StudyPath = Annotated[str, typer.Argument(metavar="STUDY", help="The study's file.")]
Wait = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", help="How long to wait while another process writes to the study."
    ),
]
SheetName = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="The sheet of a spreadsheet to read; default: the first."
    ),
]
#: the heading of options that say when enough is enough
STOPPING = "When to stop"
_stopping = functools.partial(typer.Option, rich_help_panel=STOPPING)
StopGap = Annotated[
    float | None,
    _stopping(
        metavar="NUMBER", help="Enough if no other candidate can be better by more than this."
    ),
]
Target = Annotated[
    float | None,
    _stopping(metavar="NUMBER", help="Enough if the best guaranteed value has reached this."),
]
Patience = Annotated[
    int | None,
    _stopping(metavar="N", help="Enough if this many answers in a row brought no better value."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]


@contextmanager
def open_to_look(path: str) -> "Iterator[Study]":
    """A study to look at; what the look fits is kept in the file, so that the next one is quick.

    Parameters
    ----------
    path
        The study's file; others may write to it meanwhile.
    """
    from noregret.study import Study

    with Study.open(path, read_only=True) as opened:
        yield opened
        opened.keep_look()


def command(name: str, example: str, *, looks: bool = False) -> Callable[[Command], Command]:
    """Makes a command of the app: with an example in its help, errors as exit codes.

    A command that only looks ends in silence when nobody reads its output any more, as with
    ``| head``.
    """

    def register(function: Command) -> Command:
        @functools.wraps(function)
        def guarded(*arguments: Any, **options: Any) -> Any:
            try:
                return function(*arguments, **options)
            except KeyboardInterrupt:
                message = "interrupted: what was done is stored; run the command again to go on"
                _stop(message, INTERRUPTED, options)
            except BrokenPipeError:
                # The reader of stdout has gone: nothing must be printed at the end either.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                if looks:
                    raise typer.Exit(1) from None
                _stop("nobody reads the output: nothing was changed", 1, options)
            except (ValueError, TypeError, OSError) as error:
                _stop(str(error), _exit_code(error), options)

        words = _unwrapped(function.__doc__ or "")
        app.command(name, cls=_Command, help=words, epilog=f"Example: {example}")(guarded)
        return function

    return register


def takes(record: type[Record]) -> Callable[[Callable[[Record], None]], Callable[..., None]]:
    """Lets a command be given all its options in one record, a dataclass with a field for each."""

    def expand(function: Callable[[Record], None]) -> Callable[..., None]:
        @functools.wraps(function)
        def expanded(**options: Any) -> None:
            function(record(**options))

        types = get_type_hints(record, include_extras=True)
        parameters = [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if one.default is MISSING else one.default,
                annotation=types[one.name],
            )
            for one in fields(record)  # type: ignore[arg-type]
        ]
        expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        expanded.__annotations__ = types
        return expanded

    return expand


def _unwrapped(text: str) -> str:
    """The paragraphs with one line each: the terminal breaks the lines."""
    return "\n\n".join(" ".join(one.split()) for one in inspect.cleandoc(text).split("\n\n"))


def _exit_code(error: Exception) -> int:
    from noregret.study.errors import DamagedError, FullError, LockedError, RunError

    codes: dict[type[Exception], int] = {
        LockedError: 3,
        DamagedError: DAMAGED,
        RunError: 5,
        FullError: 6,
    }
    return codes.get(type(error), 1)


def _stop(message: str, code: int, options: dict[str, Any]) -> NoReturn:
    if options.get("as_json"):
        print(json.dumps({"error": message, "exit_code": code}), file=sys.stderr)
    elif code == INTERRUPTED:
        say(message)
    else:
        console.print(Text("error:", "bold red"), plain(message), soft_wrap=True)
    raise typer.Exit(code)


def visible(text: str) -> str:
    """Text as it may go to a terminal: control characters are written out, not obeyed."""
    return "".join(
        repr(one)[1:-1] if unicodedata.category(one) in _CONTROL and one not in "\n\t" else one
        for one in text
    )


def plain(value: Any) -> Text:
    """Something from a file as text for a terminal: brackets in it are no markup."""
    return Text(visible(str(value)))


def say(text: str) -> None:
    """Print a message for people, to stderr."""
    console.print(plain(text), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print data for scripts, to stdout."""
    from noregret._json import dumps

    print(dumps(value), flush=True)


def print_rows(columns: list[str], rows: list[list[str]]) -> list[str]:
    """Print rows of texts as a table; the columns that a terminal has no room for are returned.

    Columns are left out from the right, as a table with shortened cells could not be read. The
    first one is always printed.
    """
    terminal = Console(highlight=False)
    widths = [max(cell_len(cell) for cell in cells) for cells in zip(columns, *rows, strict=True)]
    room = itertools.accumulate(widths, lambda before, width: before + width + 3, initial=1)
    fitting = sum(width <= terminal.width for width in room) - 1
    shown = max(fitting, 1) if terminal.is_terminal else len(columns)
    table = Table(*(Column(plain(name)) for name in columns[:shown]))
    for row in rows:
        table.add_row(*map(plain, row[:shown]))
    print_table(table)
    return columns[shown:]


def print_table(table: Table) -> None:
    """Print a table to stdout; in a file or pipe it is as wide as it needs."""
    terminal = Console(highlight=False)
    if terminal.is_terminal:
        terminal.print(table)
        return
    wide = Console(highlight=False, width=1000)
    with wide.capture() as captured:
        wide.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)
