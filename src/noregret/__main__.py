"""The program ``noregret``, also as ``python -m noregret``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, also while modules are loaded."""
    try:
        from noregret.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
