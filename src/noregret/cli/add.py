"""``noregret add``: more candidates for a running study."""

from typing import Annotated

import typer

from noregret.cli.app import Json, SheetName, StudyPath, Wait, command, print_json, say
from noregret.cli.words import many


@command("add", "noregret add plates.db more.csv")
def add(
    study: StudyPath,
    candidates: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A table with the columns that the study was made from."
        ),
    ],
    sheet: SheetName = None,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Add candidates to a running study: ids, names, answers and bounds of the others stay."""
    from noregret.cli.added_rows import AddedRows
    from noregret.spaces.tables import naming_sheets
    from noregret.study import Study

    with Study.open(study, wait=wait) as opened, naming_sheets(candidates, sheet):
        rows = AddedRows(opened, candidates, sheet)
        ids = opened.add(rows.points, names=rows.names, table=rows.shown)
        size = opened.size
    if as_json:
        print_json({"added": len(ids), "candidates": size, "notes": rows.notes})
        return
    say(f"{many(len(ids), 'candidate')} added; the study has {size:,} now.")
    for note in rows.notes:
        say(f"- {note}")
