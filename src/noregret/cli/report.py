"""``noregret report``: one page about a study."""

from typing import Annotated

import typer

from noregret.cli.app import Json, StudyPath, command, open_to_look, print_json, say
from noregret.cli.output import Output


@command("report", "noregret report plates.db -o report.html")
def report(
    study: StudyPath,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The page.")
    ] = "report.html",
    as_json: Json = False,
) -> None:
    """Write one self-contained page: plots, the best choices, settings."""
    from noregret.reporting.report import write_report

    with Output(output, study) as page, open_to_look(study) as opened:
        page.spare_candidates(opened)
        page.write_file(lambda path: write_report(opened, path))
        page.keep()
    if as_json:
        print_json({"output": output})
        return
    say(f"{output} written.")
