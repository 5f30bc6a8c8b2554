"""``noregret tell`` and ``import``: answers from files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.app import Json, SheetName, StudyPath, Wait, command, print_json, say
from noregret.cli.csv_files import style_of, write_csv
from noregret.cli.output import Output
from noregret.cli.words import many

if TYPE_CHECKING:
    from noregret.cli.answer_rows import Wrong
    from noregret.study import Study

ValueColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column with the values; default: the study's."),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="The column with the candidates' names; default: the study's."
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Tell the good rows, and write the others to FILE.bad.csv for correction.",
    ),
]


@command("tell", "noregret tell plates.db plate.csv")
def tell(
    study: StudyPath,
    answers: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A table (CSV, XLSX, Parquet) with a column trial, or of candidates' names.",
        ),
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace answers given before by different ones.")
    ] = False,
    value_column: ValueColumn = None,
    id_column: IdColumn = None,
    sheet: SheetName = None,
    skip_bad: SkipBad = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Tell answers to trials that were asked for.

    Rows may come in any order. Rows without a value stay open. Names and parameters must be those
    of the trials. Other columns are ignored. Text in a column named failed says why a trial has no
    value. Without a column named trial, the open trials are found by the candidates' names. If
    one row is wrong, the file is refused; --skip-bad leaves out wrong rows instead. Telling the
    same answers again changes nothing: rows are known by file name, column, candidate and value.
    """
    from noregret.cli.answer_files import read_answers
    from noregret.spaces.tables import naming_sheets
    from noregret.study import Study

    with Study.open(study, wait=wait) as opened, naming_sheets(answers, sheet):
        found = read_answers(
            opened,
            answers,
            overwrite=overwrite,
            value_column=value_column,
            id_column=id_column,
            sheet=sheet,
        )

        def mended(path: str) -> bool:
            again = read_answers(
                opened, path, overwrite=False, value_column=value_column, id_column=id_column
            )
            told = {**found.values, **found.failures}.items()
            return not {**again.values, **again.failures}.items() <= told

        bad = _set_aside(found.wrong, answers, skip_bad, opened, mended)
        about = found.source.about
        if found.values:
            numbers, values = list(found.values), list(found.values.values())
            opened.tell(numbers, values, overwrite=overwrite, source=about)
        for number, reason in found.failures.items():
            opened.tell(number, failed=reason, overwrite=overwrite, source=about)
        found.source.note_known(opened, found.known)
        counts = opened.counts()
    summary = {
        "values": len(found.values),
        "failed": len(found.failures),
        "unchanged": found.unchanged,
        "bad": len(found.wrong),
        "bad_rows": bad,
        "counts": counts,
    }
    if as_json:
        print_json(summary)
        return
    say(
        f"{many(len(found.values), 'value')} and {many(len(found.failures), 'failure')} told; "
        f"{many(counts['pending'], 'trial')} still open."
    )
    if found.unchanged:
        say(f"{many(found.unchanged, 'row')} had been told before and changed nothing.")
    if found.note:
        say(found.note)
    _say_bad(found.wrong, bad)


@command("import", "noregret import plates.db history.csv")
def import_history(
    study: StudyPath,
    history: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A table (CSV, XLSX, Parquet) with the names and a value column."
        ),
    ],
    value_column: ValueColumn = None,
    id_column: IdColumn = None,
    sheet: SheetName = None,
    skip_bad: SkipBad = False,
    only_new: Annotated[
        bool, typer.Option("--only-new", help="Leave out rows imported from this file before.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Import all rows, also those imported before.")
    ] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Tell evaluations made before or elsewhere (a warm start).

    What `export` writes can be imported. A second import of the same file changes nothing.
    """
    from noregret.cli.answer_files import read_history
    from noregret.cli.taken_in import new_rows
    from noregret.spaces.tables import naming_sheets
    from noregret.study import Study

    if only_new and again:
        raise ValueError("--only-new and --again exclude each other")
    with Study.open(study, wait=wait) as opened, naming_sheets(history, sheet):
        found = read_history(
            opened, history, value_column=value_column, id_column=id_column, sheet=sheet
        )
        source, rows = found.source, found.rows
        if not again:
            same = source.was_read(opened)
            rows = new_rows(rows, source.rows(opened))
            if same and not rows:
                _say_imported(opened, source.name, as_json)
                return
            shared = len(found.rows) - len(rows)
            if shared and rows and not same and not only_new:
                raise ValueError(
                    f"{shared} of the {len(found.rows)} rows of {source.name} were told or "
                    "imported before, from a file of that name. --only-new imports the "
                    f"{len(rows)} others, --again all of them; nothing was changed"
                )

        def mended(path: str) -> bool:
            again = read_history(opened, path, value_column=value_column, id_column=id_column)
            new = new_rows(again.rows, again.source.rows(opened))
            return any(row not in found.rows for row in new)

        bad = _set_aside(found.wrong, history, skip_bad, opened, mended)
        if rows:
            choices, values = zip(*rows, strict=True)
            points = opened.domain.unpack(list(choices))
            opened.tell_history(points, list(values), source=source.about)
        counts = opened.counts()
    unchanged = len(found.rows) - len(rows) + found.unchanged
    if as_json:
        print_json({"imported": len(rows), "unchanged": unchanged, "bad": len(found.wrong),
                    "bad_rows": bad, "counts": counts})  # fmt: skip
        return
    say(f"{many(len(rows), 'measurement')} imported.")
    if found.empty:
        say(f"Left out because they have no value: {many(found.empty, 'row')}.")
    if unchanged:
        say(f"Already in this study, changed nothing: {many(unchanged, 'row')}.")
    if found.note:
        say(found.note)
    _say_bad(found.wrong, bad)


def _say_imported(study: "Study", name: str, as_json: bool) -> None:
    if as_json:
        print_json({"imported": 0, "already": True, "counts": study.counts()})
        return
    say(f"{name} was told or imported already: nothing changed. (--again imports it once more.)")


def _set_aside(
    wrong: "list[Wrong]", path: str, skip: bool, study: "Study", mended: Callable[[str], bool]
) -> str | None:
    """Refuse a file with wrong rows, or write these rows to a file and give its name.

    An earlier file of wrong rows is not replaced if it has been ``mended``.
    """
    from noregret.cli.answer_rows import refusal

    if not wrong:
        return None
    if not skip:
        raise ValueError(refusal(path, wrong))
    target = str(Path(path).with_suffix(".bad.csv"))
    if Path(target).is_file() and mended(target):
        raise ValueError(
            f"{target} holds rows that were mended and not told, and was not replaced: give this "
            "command that file first, or remove it"
        )
    header = [*wrong[0].row, "problem"]
    rows = [[*one.row.values(), one.text] for one in wrong]
    with Output(target, str(study.path)) as bad:
        bad.spare_candidates(study)
        bad.write(lambda file: write_csv(file, header, rows, style_of(study)))
        bad.keep()
    return target


def _say_bad(wrong: "list[Wrong]", target: str | None) -> None:
    if target is not None:
        say(f"Not told: {many(len(wrong), 'bad row')}, in {target} with what is wrong.")
