"""``noregret ask``, ``tell`` and ``import``: questions and answers as CSV."""

import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from noregret.cli.app import Json, StudyPath, command, print_json, say
from noregret.results import Trials
from noregret.study import Study

#: lines named in an error
_NAMED_LINES = 20

Answers = dict[int, tuple[float | None, str | None]]


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
    as_json: Json = False,
) -> None:
    """Ask what to evaluate next: a CSV with an empty value column, to be filled and told."""
    with Study.open(study) as opened:
        wanted = n if n is not None else opened.settings["batch"]
        numbers = list(opened.ask(n))
        while fill and wanted is not None and len(numbers) < wanted:
            numbers += list(opened.ask(wanted - len(numbers)))
        header, rows = rows_of(opened, opened.get(numbers))
    if as_json:
        print_json({"trials": [dict(zip(header, row, strict=True)) for row in rows]})
    elif output is not None:
        with Path(output).open("w", newline="", encoding="utf-8") as file:
            _write(file, header, rows)
    else:
        _write(sys.stdout, header, rows)
    say(f"{len(numbers)} trials handed out.")
    if wanted is not None and len(numbers) < wanted:
        say(
            f"The adaptive batch ends after {len(numbers)} of {wanted}: more would not be chosen "
            "better before answers have come. --fill asks for them all the same."
        )


def rows_of(study: Study, trials: Trials) -> tuple[list[str], list[list[Any]]]:
    """Trial number, id, raw features and an empty value for each trial."""
    id_column = study.settings["about"].get("id", "id")
    table = study.table
    shown = [] if table is None else [c for c in table.columns if c != "name"]
    header = ["trial", id_column, *shown, "value"]
    rows: list[list[Any]] = []
    for i, number in enumerate(trials):
        id_ = int(trials.ids[i])
        features = [] if table is None else [table[column][id_] for column in shown]
        name = trials.names[i] if trials.names is not None else id_
        rows.append([number, name, *features, None])
    return header, rows


def _write(file: Any, header: list[str], rows: list[list[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


@command("tell", "noregret tell plates.db plate.csv")
def tell(
    study: StudyPath,
    answers: Annotated[str, typer.Argument(help="A CSV with columns trial and value.")],
    overwrite: Annotated[
        bool, typer.Option(help="Replace answers given before by different ones.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell answers: any order, rows without a value are left open, other columns are ignored.

    Text in a column named failed says why a trial has no value. One wrong line refuses the file.
    """
    with Study.open(study) as opened:
        found = _read_answers(opened, Path(answers), overwrite)
        values = {number: v for number, (v, _) in found.items() if v is not None}
        if values:
            opened.tell(list(values), list(values.values()), overwrite=overwrite)
        for number, (_, reason) in found.items():
            if reason is not None:
                opened.tell(number, failed=reason, overwrite=overwrite)
        counts = opened.counts()
    if as_json:
        print_json({"values": len(values), "failed": len(found) - len(values), "counts": counts})
        return
    say(
        f"{len(values)} values and {len(found) - len(values)} failures told; "
        f"{counts['pending']} trials still open."
    )


def _read_answers(study: Study, path: Path, overwrite: bool) -> Answers:
    """The answers of a file, or an error with every wrong line."""
    frame = study.trials()
    known = {row["trial"]: row for row in frame.iter_rows(named=True)}
    id_column = study.settings["about"].get("id", "id")
    found: Answers = {}
    wrong: list[str] = []
    for line, row in _lines(path, ("trial", "value")):
        reason = (row.get("failed") or "").strip() or None
        text = (row["value"] or "").strip()
        if not text and reason is None:
            continue
        number = _whole(row["trial"])
        trial = known.get(number) if number is not None else None
        if number is None or trial is None:
            wrong.append(f"line {line}: there is no trial {row['trial']!r}")
            continue
        if number in found:
            wrong.append(f"line {line}: trial {number} comes twice")
            continue
        named = (row.get(id_column) or "").strip()
        if named and named != str(trial.get("name", trial["id"])):
            wrong.append(
                f"line {line}: trial {number} is {trial.get('name', trial['id'])}, not {named}"
            )
            continue
        value = None
        if reason is None:
            value = _number(text)
            if value is None:
                wrong.append(f"line {line}: value {text!r} is not a finite number")
                continue
        elif text:
            wrong.append(f"line {line}: trial {number} has both a value and a failure")
            continue
        if trial["status"] != "pending" and not overwrite and trial["value"] != value:
            had = trial["value"] if trial["status"] == "told" else "reported as failed"
            wrong.append(f"line {line}: trial {number} was told {had} before (--overwrite?)")
            continue
        found[number] = value, reason
    _refuse(path, wrong)
    return found


@command("import", "noregret import plates.db history.csv")
def import_history(
    study: StudyPath,
    history: Annotated[
        str, typer.Argument(help="A CSV with the id column of the study and a value column.")
    ],
    as_json: Json = False,
) -> None:
    """Tell evaluations made before or elsewhere (a warm start)."""
    with Study.open(study) as opened:
        id_column = opened.settings["about"].get("id", "id")
        table = opened.table
        if opened.settings["named"] and table is not None:
            ids = {name: i for i, name in enumerate(table["name"])}
        else:
            ids = {str(i): i for i in range(len(opened.optimizer._points))}
        chosen: list[int] = []
        values: list[float] = []
        wrong: list[str] = []
        for line, row in _lines(Path(history), (id_column, "value")):
            name, value = (row[id_column] or "").strip(), _number((row["value"] or "").strip())
            if name not in ids:
                wrong.append(f"line {line}: there is no candidate {name!r}")
            elif value is None:
                wrong.append(f"line {line}: value {row['value']!r} is not a finite number")
            else:
                chosen.append(ids[name])
                values.append(value)
        _refuse(Path(history), wrong)
        if chosen:
            opened.tell_history(chosen, values)
        counts = opened.counts()
    if as_json:
        print_json({"imported": len(chosen), "counts": counts})
        return
    say(f"{len(chosen)} evaluations imported.")


def _lines(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV with their line numbers in the file."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            missing = [name for name in needed if name not in (reader.fieldnames or [])]
            if missing:
                raise ValueError(f"{path} has no column {', '.join(missing)}")
            for row in reader:
                yield reader.line_num, row
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from error


def _refuse(path: Path, wrong: list[str]) -> None:
    if not wrong:
        return
    more = [f"… and {len(wrong) - _NAMED_LINES} more"] if len(wrong) > _NAMED_LINES else []
    listed = "\n  ".join([*wrong[:_NAMED_LINES], *more])
    raise ValueError(f"{path} was refused, and nothing of it was told:\n  {listed}")


def _whole(text: str | None) -> int | None:
    try:
        return int((text or "").strip())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
