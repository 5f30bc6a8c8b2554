"""``noregret retry``: candidates that were set aside are asked for again."""

from typing import Annotated

import typer

from noregret.cli.app import Json, StudyPath, Wait, command, print_json, say
from noregret.cli.words import many


@command("retry", "noregret retry plates.db cmp007 cmp012")
def retry(
    study: StudyPath,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="The candidates' names; see noregret status."),
    ] = None,
    all_of_them: Annotated[
        bool, typer.Option("--all", help="All candidates that are set aside.")
    ] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Ask again for candidates that failed too often in a run; their failures stop counting."""
    from noregret.cli.answer_choices import Names
    from noregret.cli.csv_files import id_column
    from noregret.study import Study

    if bool(names) == all_of_them:
        raise ValueError("give either the names of the candidates to bring back or --all")
    with Study.open(study, wait=wait) as opened:
        if all_of_them:
            ids = opened.aside()["id"].to_list()
        else:
            known = Names(opened)
            ids = [known.find(id_column(opened), name) for name in names or []]
        if ids:
            opened.retry(ids)
        called = [opened.name_of(id_, None) for id_ in dict.fromkeys(ids)]
    if as_json:
        print_json({"retried": called})
        return
    say(
        f"Failures of {many(len(called), 'candidate')} no longer count: {', '.join(called)}."
        if called
        else "No candidate is set aside."
    )
