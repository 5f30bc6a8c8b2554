"""``noregret tell`` and ``import``: answers from files."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.app import Json, StudyPath, Wait, command, print_json, say
from noregret.cli.csv_files import Style, style_of, write_csv
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
    skip_bad: SkipBad = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Tell answers to trials that were asked for.

    Rows may come in any order. Rows without a value stay open. Other columns are ignored. Text in a
    column named failed says why a trial has no value. Without a column named trial, the open trials
    are found by the candidates' names. If one row is wrong, the file is refused; --skip-bad leaves
    out wrong rows instead. Telling the same answers again changes nothing.
    """
    from noregret.cli.answer_files import read_answers
    from noregret.study import Study

    with Study.open(study, wait=wait) as opened:
        digest = _digest(answers)
        found = read_answers(
            opened,
            answers,
            overwrite=overwrite,
            value_column=value_column,
            id_column=id_column,
            told=not overwrite and digest in _files(opened, "file told"),
        )
        bad = _set_aside(found.wrong, answers, skip_bad, style_of(opened))
        if found.values:
            numbers, values = list(found.values), list(found.values.values())
            opened.tell(numbers, values, overwrite=overwrite)
        for number, reason in found.failures.items():
            opened.tell(number, failed=reason, overwrite=overwrite)
        if found.values or found.failures:
            opened.note("file told", name=Path(answers).name, sha256=digest)
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
    from noregret.study import Study

    if only_new and again:
        raise ValueError("--only-new and --again exclude each other")
    name = Path(history).name
    with Study.open(study, wait=wait) as opened:
        digest = _digest(history)
        before = {} if again else opened.records.imports()
        same = [one for one in before.values() if one["sha256"] == digest]
        if same:
            _say_imported(opened, name, as_json)
            return
        found = read_history(opened, history, value_column=value_column, id_column=id_column)
        edited = [number for number, one in before.items() if one["name"] == name]
        known = _rows_of(opened, edited)
        rows = found.rows
        if known:
            rows, shared = _new_rows(rows, known)
            if shared and not only_new:
                raise ValueError(
                    f"{shared} of the {len(found.rows)} rows of {name} were imported before, from "
                    f"a file of that name. --only-new imports the {len(rows)} others, --again all "
                    "of them; nothing was changed"
                )
        bad = _set_aside(found.wrong, history, skip_bad, style_of(opened))
        if rows:
            choices, values = zip(*rows, strict=True)
            source = {"name": name, "sha256": digest}
            opened.tell_history(opened.domain.unpack(list(choices)), list(values), source=source)
        counts = opened.counts()
    if as_json:
        unchanged = len(found.rows) - len(rows) + found.unchanged
        print_json({"imported": len(rows), "unchanged": unchanged, "bad": len(found.wrong),
                    "bad_rows": bad, "counts": counts})  # fmt: skip
        return
    say(f"{many(len(rows), 'measurement')} imported.")
    if found.empty:
        say(f"Left out because they have no value: {many(found.empty, 'row')}.")
    if found.unchanged:
        say(f"Already in this study, changed nothing: {many(found.unchanged, 'row')}.")
    if found.note:
        say(found.note)
    _say_bad(found.wrong, bad)


def _digest(path: str) -> str:
    """The SHA-256 of a file, which identifies its content."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _files(study: "Study", event: str) -> set[str]:
    """The SHA-256 of the files that events of this kind name."""
    return {details.get("sha256", "") for details in study.records.noted(event)}


def _say_imported(study: "Study", name: str, as_json: bool) -> None:
    if as_json:
        print_json({"imported": 0, "already": True, "counts": study.counts()})
        return
    say(f"{name} has been imported already: nothing changed. (--again imports it once more.)")


def _rows_of(study: "Study", operations: list[int]) -> Counter[Any]:
    """Choices and values that these operations took in."""
    found: Counter[Any] = Counter()
    for number in operations:
        found.update(study.records.told_by(number))
    return found


def _new_rows(rows: list[Any], known: Counter[Any]) -> tuple[list[Any], int]:
    """The rows beyond those known, repeats counted, and how many rows are known."""
    left, new = known.copy(), []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            new.append(row)
    return new, len(rows) - len(new)


def _set_aside(wrong: "list[Wrong]", path: str, skip: bool, style: Style) -> str | None:
    """Refuse a file with wrong rows, or write these rows to a file and give its name."""
    from noregret.cli.answer_rows import refusal

    if not wrong:
        return None
    if not skip:
        raise ValueError(refusal(path, wrong))
    target = Path(path).with_suffix(".bad.csv")
    with target.open("w", newline="", encoding="utf-8") as file:
        rows = ([*one.row.values(), one.text] for one in wrong)
        write_csv(file, [*wrong[0].row, "problem"], rows, style)
    return str(target)


def _say_bad(wrong: "list[Wrong]", target: str | None) -> None:
    if target is not None:
        say(f"Not told: {many(len(wrong), 'bad row')}, in {target} with what is wrong.")
