"""``noregret ask``: questions as CSV."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.app import EXHAUSTED, Json, StudyPath, Wait, command, print_json, say
from noregret.cli.csv_files import Style, id_column, style_of, value_column, values_of, write_csv
from noregret.cli.output import Output
from noregret.cli.words import many

if TYPE_CHECKING:
    from noregret.study import Study
    from noregret.study.trials import Trials


@command("ask", "noregret ask plates.db -n 96 > plate.csv")
def ask(
    study: StudyPath,
    n: Annotated[
        int | None,
        typer.Option(
            "-n", "--number", metavar="N", help="How many trials; default: the study's batch."
        ),
    ] = None,
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive",
            help="Give only as many as can be chosen without loss before answers come, at most n.",
        ),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="A file instead of standard output."),
    ] = None,
    open_: Annotated[
        bool,
        typer.Option(
            "--open",
            help="Write the trials that are still open, and ask for no new ones: for a lost file.",
        ),
    ] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Ask what to evaluate next: a CSV with an empty value column, to be filled and told.

    -n 96 gives 96 rows, of different candidates if the list is long enough. Trials count as
    handed out once they have been written. Exit code 7: there is nothing left to ask for.
    """
    from noregret.study import Study

    def deliver(trials: "Trials") -> None:
        if not len(trials) and not as_json:
            return
        rows = _questions(opened, trials)
        if rows and (output is not None or not as_json):
            plate.write(lambda file: _write(file, rows, style_of(opened)))
        if as_json:
            print_json({"trials": rows} | ({} if output is None else {"output": output}))

    if open_:
        if n is not None or adaptive:
            raise ValueError("--open writes the trials that are open: leave out -n and --adaptive")
        with Output(output, study) as plate, Study.open(study, read_only=True) as opened:
            _refuse_to_replace(plate, output, opened)
            found = opened.records.pending()
            deliver(opened.get(found))
            plate.keep()
        say(f"{many(len(found), 'trial')} still open.")
        return
    with Output(output, study) as plate, Study.open(study, wait=wait) as opened:
        _refuse_to_replace(plate, output, opened)
        before = opened.counts()["pending"]
        wanted = n if n is not None else opened.settings["batch"]
        numbers = list(opened.ask(n, adaptive=adaptive, deliver=deliver))
        if numbers:
            plate.keep()
        words = _about_plate(opened, numbers, wanted, adaptive)
        if numbers and before:
            earlier = many(before, "trial")
            words.append(f"Still open from earlier: {earlier} (ask --open writes them again).")
    for line in words:
        say(line)
    if not numbers:
        raise typer.Exit(EXHAUSTED)


def _refuse_to_replace(plate: Output, path: str | None, study: "Study") -> None:
    """Refuse to write over the candidates, or over a plate with answers not told yet."""
    plate.spare_candidates(study)
    if path is None or not Path(path).is_file():
        return
    from noregret.cli.answer_files import holds_answers

    if holds_answers(study, path):
        raise ValueError(
            f"{path} holds answers that have not been told, or cannot be read, and was not "
            f"replaced: tell it first (noregret tell {study.path} {path}), or name another file"
        )


def _about_plate(
    study: "Study", numbers: list[int], wanted: int | None, adaptive: bool
) -> list[str]:
    """What users should know about the trials they were given."""
    end = "Every candidate has been asked for as often as it may be (--repeats), or is set aside"
    if not numbers:
        waiting = study.counts()["pending"]
        words = [f"{end}: there is nothing left to ask for."]
        return words + ([f"Still to come: {many(waiting, 'answer')}."] if waiting else [])
    words = [f"{many(len(numbers), 'trial')} to evaluate."]
    if (study.records.last_batch() or {}).get("spread"):
        words.append(
            "Too little is known yet to predict values, so these are spread over the whole list: "
            "each is the one of a few random candidates that is the least like the others."
        )
    if wanted is not None and len(numbers) < wanted and adaptive:
        words.append(
            f"The adaptive batch ends after {len(numbers)} of {wanted}: further trials are chosen "
            "better after these answers. Without --adaptive you get all of them now."
        )
    elif wanted is not None and len(numbers) < wanted:
        words.append(f"{end}: these are the last ones.")
    return words


def _questions(study: "Study", trials: "Trials") -> list[dict[str, Any]]:
    """A row per trial: its number, what the choice is called, its features, an empty value.

    If a feature has the name of one of the other columns, an underscore is added to its name.
    """
    value = value_column(study)
    rows = []
    for i, number in enumerate(trials):
        row: dict[str, Any] = {"trial": number}
        if study.domain.size is not None:
            id_ = int(trials.ids[i])
            row[id_column(study)] = id_ if trials.names is None else trials.names[i]
        for name, cell in _features(study, trials, i).items():
            while name in (*row, value):
                name += "_"
            row[name] = cell
        rows.append(row | {value: None})
    return rows


def _features(study: "Study", trials: "Trials", i: int) -> dict[str, Any]:
    """The features of the i-th choice that are shown."""
    id_ = int(trials.ids[i])
    if study.domain.size is None:
        return values_of(study, id_, trials.points[i])
    row = {} if study.table is None else study.table.row(id_, named=True)
    return {key: row[key] for key in row if key != "name" or study.names is None}


def _write(file: Any, rows: list[dict[str, Any]], style: Style) -> None:
    write_csv(file, list(rows[0]), [list(row.values()) for row in rows], style)
