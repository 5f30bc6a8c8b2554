"""``noregret report``: one page about a study."""

from pathlib import Path
from typing import Annotated

import typer

from noregret.cli.app import Json, StudyPath, command, open_to_look, print_json, say


@command("report", "noregret report plates.db -o report.html")
def report(
    study: StudyPath,
    output: Annotated[str, typer.Option("-o", "--output", help="The page.")] = "report.html",
    as_json: Json = False,
) -> None:
    """Write one self-contained page: plots, the best choices, settings."""
    from noregret.reporting.report import write_report

    with open_to_look(study) as opened:
        write_report(opened, Path(output))
    if as_json:
        print_json({"output": output})
        return
    say(f"{output} written.")
