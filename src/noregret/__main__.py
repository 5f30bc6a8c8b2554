"""``python -m noregret``: the command line."""

from noregret.cli.main import main

main()
