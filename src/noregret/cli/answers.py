"""``noregret ask``: questions as CSV."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.app import Json, StudyPath, Wait, command, print_json, say
from noregret.cli.choices import id_column, value_column, values_of
from noregret.cli.output import Output
from noregret.cli.spreadsheets import write_csv

if TYPE_CHECKING:
    from noregret.results import Trials
    from noregret.study import Study


@command("ask", "noregret ask plates.db -n 96 > plate.csv")
def ask(
    study: StudyPath,
    n: Annotated[
        int | None, typer.Option("-n", "--number", help="How many; default: the study's batch.")
    ] = None,
    fill: Annotated[
        bool,
        typer.Option(help="Give exactly n, also where an adaptive batch would be shorter."),
    ] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file instead of standard output.")
    ] = None,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Ask what to evaluate next: a CSV with an empty value column, to be filled and told.

    Trials count as handed out once they have been written.
    """
    from noregret.study import Study

    def deliver(trials: "Trials") -> None:
        rows = _questions(opened, trials)
        if as_json:
            print_json({"trials": rows})
        else:
            plate.write(lambda file: _write(file, rows))

    with Output(output) as plate, Study.open(study, wait=wait) as opened:
        wanted = n if n is not None else opened.settings["batch"]
        numbers = list(opened.ask(n, fill=fill, deliver=deliver))
        plate.keep()
    say(f"{len(numbers)} trials to evaluate.")
    if wanted is not None and len(numbers) < wanted:
        say(
            f"The adaptive batch ends after {len(numbers)} of {wanted}: more would not be chosen "
            "better before answers have come. --fill asks for them all the same."
        )


def _questions(study: "Study", trials: "Trials") -> list[dict[str, Any]]:
    """A row per trial: its number, what the choice is called, its features, an empty value."""
    rows = []
    for i, number in enumerate(trials):
        rows.append({"trial": number, **_choice(study, trials, i), value_column(study): None})
    return rows


def _choice(study: "Study", trials: "Trials", i: int) -> dict[str, Any]:
    id_ = int(trials.ids[i])
    if not study.domain.listed:
        return values_of(study, id_, trials.points[i])
    name = id_ if trials.names is None else trials.names[i]
    row = {} if study.table is None else study.table.row(id_, named=True)
    return {id_column(study): name, **{key: row[key] for key in row if key != "name"}}


def _write(file: Any, rows: list[dict[str, Any]]) -> None:
    write_csv(file, list(rows[0]), [list(row.values()) for row in rows])
