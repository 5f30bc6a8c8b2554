"""The program ``noregret``."""

from noregret.cli import (
    adding,
    answers,
    checking,
    create,
    reproduce,
    retrying,
    running,
    serving,
    showing,
    telling,
)
from noregret.cli.app import app

#: modules whose commands are part of the program
COMMANDS = (
    create,
    adding,
    answers,
    telling,
    running,
    retrying,
    showing,
    checking,
    serving,
    reproduce,
)


def main() -> None:
    """Run the command line."""
    app()
