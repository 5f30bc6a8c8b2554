"""``noregret ask``, ``tell`` and ``import``: questions and answers as CSV."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.app import Json, StudyPath, Wait, command, print_json, say
from noregret.cli.choices import id_column, values_of
from noregret.cli.output import Output

if TYPE_CHECKING:
    from noregret.results import Trials
    from noregret.study import Study

#: lines named in an error
_NAMED_LINES = 20

#: a row of a CSV, by column
Row = dict[str, str]


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
        choice = _choice(study, trials, i)
        # The number and the value win over features of the same name.
        rows.append({"trial": number} | choice | {"trial": number, "value": None})
    return rows


def _choice(study: "Study", trials: "Trials", i: int) -> dict[str, Any]:
    id_ = int(trials.ids[i])
    if not study.domain.listed:
        return values_of(study, id_, trials.points[i])
    name = id_ if trials.names is None else trials.names[i]
    row = {} if study.table is None else study.table.row(id_, named=True)
    return {id_column(study): name, **{key: row[key] for key in row if key != "name"}}


def _write(file: Any, rows: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
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
    from noregret.study import Study

    with Study.open(study) as opened:
        found = _read_answers(opened, Path(answers), overwrite)
        values = {number: answer for number, answer in found.items() if isinstance(answer, float)}
        if values:
            opened.tell(list(values), list(values.values()), overwrite=overwrite)
        for number, answer in found.items():
            if isinstance(answer, str):
                opened.tell(number, failed=answer, overwrite=overwrite)
        counts = opened.counts()
    if as_json:
        print_json({"values": len(values), "failed": len(found) - len(values), "counts": counts})
        return
    say(
        f"{len(values)} values and {len(found) - len(values)} failures told; "
        f"{counts['pending']} trials still open."
    )


def _read_answers(study: "Study", path: Path, overwrite: bool) -> dict[int, float | str]:
    """By trial number the value, or why the trial failed; an error names every wrong line."""
    known = {row["trial"]: row for row in study.trials().iter_rows(named=True)}
    column = id_column(study)
    found: dict[int, float | str] = {}
    wrong: list[str] = []
    for line, row in _lines(path, ("trial", "value")):
        try:
            answer = _answer(row)
            if answer is None:
                continue
            trial = _trial(row, known, column)
            number = trial["trial"]
            if number in found:
                raise ValueError(f"trial {number} comes twice")
            if not overwrite:
                _check_not_answered(trial, answer)
        except ValueError as error:
            wrong.append(f"line {line}: {error}")
        else:
            found[number] = answer
    _refuse(path, wrong)
    return found


def _answer(row: Row) -> float | str | None:
    """The value of a row, or why there is none; ``None`` where the trial is still open."""
    text, reason = _cell(row, "value"), _cell(row, "failed")
    if text and reason:
        raise ValueError(f"trial {row['trial']} has both a value and a failure")
    return _finite(text) if text else reason or None


def _trial(row: Row, known: dict[int, dict[str, Any]], column: str) -> dict[str, Any]:
    """The trial that a row answers, as the study knows it."""
    try:
        trial = known[int(_cell(row, "trial"))]
    except (KeyError, ValueError):
        raise ValueError(f"there is no trial {row['trial']!r}") from None
    named, name = _cell(row, column), str(trial.get("name", trial["id"]))
    if named and named != name:
        raise ValueError(f"trial {trial['trial']} is {name}, not {named}")
    return trial


def _check_not_answered(trial: dict[str, Any], answer: float | str) -> None:
    value = answer if isinstance(answer, float) else None
    if trial["status"] != "pending" and trial["value"] != value:
        had = trial["value"] if trial["status"] == "told" else "reported as failed"
        raise ValueError(f"trial {trial['trial']} was told {had} before (--overwrite?)")


@command("import", "noregret import plates.db history.csv")
def import_history(
    study: StudyPath,
    history: Annotated[
        str, typer.Argument(help="A CSV with the id column of the study and a value column.")
    ],
    as_json: Json = False,
) -> None:
    """Tell evaluations made before or elsewhere (a warm start)."""
    from noregret.study import Study

    with Study.open(study) as opened:
        chosen, values = _read_history(opened, Path(history))
        if chosen:
            opened.tell_history(chosen, values)
        counts = opened.counts()
    if as_json:
        print_json({"imported": len(chosen), "counts": counts})
        return
    say(f"{len(chosen)} evaluations imported.")


def _read_history(study: "Study", path: Path) -> tuple[list[int], list[float]]:
    """Ids and values of a file; an error names every wrong line."""
    if study.size is None:
        raise ValueError("only the candidates of a list can be imported; this study is on a box")
    column = id_column(study)
    names = map(str, range(study.size)) if study.names is None else study.names
    ids = {name: id_ for id_, name in enumerate(names)}
    chosen: list[int] = []
    values: list[float] = []
    wrong: list[str] = []
    for line, row in _lines(path, (column, "value")):
        name = _cell(row, column)
        try:
            if name not in ids:
                raise ValueError(f"there is no candidate {name!r}")
            values.append(_finite(_cell(row, "value")))
            chosen.append(ids[name])
        except ValueError as error:
            wrong.append(f"line {line}: {error}")
    _refuse(path, wrong)
    return chosen, values


def _lines(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
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


def _cell(row: Row, column: str) -> str:
    """The text in a column, empty where there is none."""
    return (row.get(column) or "").strip()


def _finite(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"value {text!r} is not a finite number")
    return value
