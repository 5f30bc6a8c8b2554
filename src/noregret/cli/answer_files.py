"""Answers in files: which trial or candidate a row is about, and its value."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from noregret.cli.answer_choices import Check, Names, checked_choices, located_choices
from noregret.cli.answer_rows import Rows, Wrong
from noregret.cli.csv_files import fields_of, style_of
from noregret.cli.csv_files import id_column as own_id_column
from noregret.cli.csv_files import value_column as own_value_column
from noregret.cli.taken_in import Row, Source
from noregret.spaces.cells import is_gap, numbers
from noregret.spaces.tables import TEXT, Table

if TYPE_CHECKING:
    from noregret.study import Study

_REPLICATES = "write the mean of its replicates into one row, or give this row to `noregret import`"
_STILL_OPEN = (
    "trial {number} of this study is open for this choice: give the file to `noregret tell`. "
    "(Without the column 'trial' it is a measurement that nobody asked for.)"
)


@dataclass
class Answers:
    """What a file says about trials.

    Attributes
    ----------
    source
        The file.
    values
        The value, by trial number.
    failures
        Why there is no value, by trial number.
    unchanged
        How many rows say what has been told already.
    known
        Choice and value of those that were told by another file.
    wrong
        Rows that cannot be told.
    note
        How values were read, if that is not certain.
    """

    source: Source
    values: dict[int, float] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    unchanged: int = 0
    known: list[Row] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    note: str = ""


@dataclass
class OldData:
    """What a file says about choices.

    Attributes
    ----------
    source
        The file.
    rows
        For each row the choice, as the study's file holds it, and the value.
    unchanged
        Rows that are trials of the study itself.
    empty
        Rows without a value.
    wrong
        Rows that cannot be told.
    note
        How values were read, if that is not certain.
    """

    source: Source
    rows: list[Row] = field(default_factory=list)
    unchanged: int = 0
    empty: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    note: str = ""


def read_answers(
    study: "Study",
    path: str,
    *,
    overwrite: bool,
    value_column: str | None,
    id_column: str | None,
    sheet: str | None = None,
) -> Answers:
    """The answers in a file.

    Parameters
    ----------
    study
        The study whose trials are answered.
    path
        The file.
    overwrite
        Whether answers may differ from those told before.
    value_column, id_column
        What the columns are called; ``None``: as the study calls them.
    sheet
        The sheet of a spreadsheet; ``None``: the first.
    """
    own = value_column or own_value_column(study)
    source = Source.of(path, own, sheet)
    rows = Rows(path, own, style_of(study), sheet)
    name_column = id_column or own_id_column(study)
    found = Answers(source, note=rows.note)
    reader = _by_number if "trial" in rows.table.columns and id_column is None else _by_name
    reader(study, rows, name_column, found, overwrite=overwrite)
    return found


def _answer(rows: Rows, i: int, reasons: list[str]) -> float | str | None:
    """The value of a row, or why there is none; ``None`` if the trial is still open."""
    value, reason = rows.value(i), reasons[i]
    if value is not None and reason:
        raise ValueError(f"it has both a value and a reason of failure ({reason!r})")
    return reason or value if value is None else value


def _by_number(
    study: "Study", rows: Rows, name_column: str, found: Answers, *, overwrite: bool
) -> None:
    """Answers to trials by their numbers."""
    reasons = rows.reasons(lambda: fields_of(study))
    check = checked_choices(study, rows, name_column)
    seen: set[int] = set()
    for i, text in enumerate(rows.texts("trial")):
        try:
            answer = _answer(rows, i, reasons)
            if answer is None:
                continue
            number = _whole(text)
            trial = None if number is None else study.records.trial(number)
            if number is None or trial is None:
                raise ValueError(f"column 'trial': this study has no trial {text!r}")
            check(i, trial)
            if number in seen:
                raise ValueError(f"trial {number} comes twice: {_REPLICATES}")
            seen.add(number)
            if _differs(trial, answer):
                _put(found, trial, answer, overwrite)
            else:
                found.unchanged += 1
        except ValueError as error:
            found.wrong.append(rows.wrong(i, error))


def _differs(trial: Any, answer: float | str) -> bool:
    """Whether an answer says anything that has not been told."""
    if trial.status == "told":
        return bool(trial.value != answer)
    return trial.status == "pending" or not isinstance(answer, str)


def _put(found: Answers, trial: Any, answer: float | str, overwrite: bool) -> None:
    if trial.status != "pending" and not overwrite:
        had = f"told {trial.value}" if trial.status == "told" else "reported as failed"
        raise ValueError(f"trial {trial.number} was {had} before (--overwrite?)")
    if isinstance(answer, str):
        found.failures[trial.number] = answer
    else:
        found.values[trial.number] = answer


def _whole(text: str) -> int | None:
    """A trial's number; spreadsheets may write 3 as 3.0."""
    value = numbers(pl.Series([text]))[0]
    return int(value) if value is not None and value == int(value) and value >= 0 else None


def _by_name(
    study: "Study", rows: Rows, name_column: str, found: Answers, *, overwrite: bool
) -> None:
    """Answers by the candidates' names, to their open trials in the order asked.

    Rows that the study has taken in from this file before change nothing.
    """
    if study.domain.size is None:
        raise ValueError(f"{rows.table.path} has no column 'trial', which says what a row answers")
    rows.needed(name_column)
    if overwrite:
        raise ValueError("--overwrite needs a column 'trial', which says which answer to replace")
    names, reasons = Names(study), rows.reasons(lambda: fields_of(study))
    asked: dict[int, list[tuple[int, float | str]]] = defaultdict(list)
    for i, text in enumerate(rows.texts(name_column)):
        try:
            answer = _answer(rows, i, reasons)
            if answer is not None:
                asked[names.find(name_column, text)].append((i, answer))
        except ValueError as error:
            found.wrong.append(rows.wrong(i, error))
    trials = study.trials().filter(
        pl.col("id").is_in(list(asked)) & (pl.col("origin") != "history")
    )
    open_, answered = defaultdict(list), defaultdict(list)
    for number, id_, status, value in trials.select("trial", "id", "status", "value").iter_rows():
        if status == "pending":
            open_[id_].append(number)
        else:
            answered[id_].append(value)
    known = found.source.rows(study)
    for id_, answers in asked.items():
        new = []
        for i, answer in answers:
            value = _value(answer)
            if known[(id_, None), value]:
                known[(id_, None), value] -= 1
                found.unchanged += 1
                if value in answered[id_]:
                    answered[id_].remove(value)
            else:
                new.append((i, answer))
        _match(study, id_, rows, new, open_[id_], answered[id_], found)


def _value(answer: float | str) -> float | None:
    """The value of an answer; ``None`` for a failure."""
    return None if isinstance(answer, str) else answer


def _match(
    study: "Study",
    id_: int,
    rows: Rows,
    answers: list[tuple[int, float | str]],
    open_: list[int],
    answered: list[float | None],
    found: Answers,
) -> None:
    """Give one candidate's new answers to its open trials.

    If there are more answers than open trials, another file must have told the surplus.
    """
    spare, name = len(answers) - len(open_), study.name_of(id_, None)
    for i, answer in answers:
        value = _value(answer)
        if spare > 0 and value in answered:
            answered.remove(value)
            spare -= 1
            found.unchanged += 1
            found.known.append(((id_, None), value))
        elif open_:
            number = open_.pop(0)
            if isinstance(answer, str):
                found.failures[number] = answer
            else:
                found.values[number] = answer
        else:
            why = f"{name} has no open trial for this answer; `noregret import` takes measurements "
            why += "that nobody asked for"
            if len(answers) > 1:
                many = f"{name} stands in {len(answers)} rows, but has fewer open trials"
                why = f"{many}: {_REPLICATES}"
            found.wrong.append(rows.wrong(i, ValueError(why)))


def holds_answers(study: "Study", path: str) -> bool:
    """Whether a file has answers, in the study's column of values, that were not told.

    Answers to other studies count. A text that cannot be read may be a plate with a mistake, such
    as decimal commas between commas, unless it is empty.
    """
    own = own_value_column(study)
    file = Path(path)
    if file.suffix.lower() not in TEXT:
        return False
    try:
        frame = Table(path).read().frame
    except ValueError:
        return bool(file.read_bytes().strip())
    if own not in frame.columns:
        return False
    try:
        found = read_answers(study, path, overwrite=False, value_column=None, id_column=None)
    except ValueError:
        return not is_gap(frame[own]).all()
    return bool(found.values or found.failures or found.wrong)


def read_history(
    study: "Study",
    path: str,
    *,
    value_column: str | None,
    id_column: str | None,
    sheet: str | None = None,
) -> OldData:
    """Choices and values in a file; by default the study says what the columns are called."""
    own = value_column or own_value_column(study)
    source = Source.of(path, own, sheet)
    rows = Rows(path, own, style_of(study), sheet)
    found = OldData(source, note=rows.note)
    locate = located_choices(study, rows, id_column)
    check = checked_choices(study, rows, id_column or own_id_column(study))
    numbers_of_trials = rows.texts("trial")
    for i in range(len(rows)):
        try:
            value = rows.value(i)
            if value is None:
                found.empty += 1
                continue
            choice = locate(i)
            number = _whole(numbers_of_trials[i]) if numbers_of_trials[i].strip() else None
            trial = None if number is None else study.records.trial(number)
            if trial is not None and trial.status == "pending" and _is_for(check, i, trial):
                raise ValueError(_STILL_OPEN.format(number=number))
        except (ValueError, TypeError) as error:
            found.wrong.append(rows.wrong(i, error))
            continue
        if trial is not None and (trial.packed, trial.value) == (choice, value):
            found.unchanged += 1
        else:
            found.rows.append((choice, value))
    return found


def _is_for(check: Check, i: int, trial: Any) -> bool:
    """Whether row i is about the choice of a trial."""
    try:
        check(i, trial)
    except ValueError:
        return False
    return True
