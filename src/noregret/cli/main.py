"""The program ``noregret``."""

import io
import sys

from noregret.cli import (
    add,
    ask,
    best,
    check,
    create,
    export,
    report,
    reproduce,
    retry,
    run,
    serve,
    status,
    tell,
)
from noregret.cli.app import app

#: modules whose commands are part of the program
COMMANDS = (
    create,
    ask,
    tell,
    run,
    status,
    best,
    report,
    export,
    add,
    retry,
    serve,
    check,
    reproduce,
)

#: the order in which the help lists the commands: as they are used
_ORDER = (
    *("create", "ask", "tell", "import", "run", "status", "best", "report", "export"),
    *("add", "retry", "serve", "check", "reproduce"),
)
app.registered_commands.sort(key=lambda one: _ORDER.index(str(one.name)))


def main() -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names may have letters that the encoding of a terminal or pipe lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    app()
