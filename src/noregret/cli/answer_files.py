"""Answers in files: which trial or candidate a row is about, and its value."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret.cli.answer_rows import Rows, Wrong
from noregret.cli.csv_files import id_column as own_id_column
from noregret.cli.csv_files import mark, style_of
from noregret.cli.csv_files import value_column as own_value_column
from noregret.spaces import as_space
from noregret.spaces.cells import Spelling, numbers
from noregret.study.frames import coordinate_names

if TYPE_CHECKING:
    from noregret.study import Study


@dataclass
class Answers:
    """What a file says about trials.

    Attributes
    ----------
    values
        The value, by trial number.
    failures
        Why there is no value, by trial number.
    unchanged
        How many rows say what has been told already.
    wrong
        Rows that cannot be told.
    note
        How values were read, if that is not certain.
    """

    values: dict[int, float] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    unchanged: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    note: str = ""


@dataclass
class OldData:
    """What a file says about choices.

    Attributes
    ----------
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

    rows: list[tuple[Any, float]] = field(default_factory=list)
    unchanged: int = 0
    empty: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    note: str = ""


class Names:
    """The candidates of a list by name, as files spell them."""

    def __init__(self, study: "Study") -> None:
        if study.names is None:
            names = [str(i) for i in range(study.size or 0)]
        else:
            names = study.names.to_list()
        self._ids = {name: id_ for id_, name in enumerate(names)}
        self._marked = {mark(name): id_ for name, id_ in self._ids.items() if mark(name) != name}

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self._ids)

    def find(self, column: str, text: str) -> int:
        """The id of a name; if there is none, the error offers the nearest spelling."""
        for known in (self._marked, self._ids):
            for spelling in (text, text.strip()):
                if spelling in known:
                    return known[spelling]
        raise ValueError(
            f"column {column!r}: there is no candidate {text!r}{self._spelling.offer(text)}"
        )


def read_answers(
    study: "Study",
    path: str,
    *,
    overwrite: bool,
    value_column: str | None,
    id_column: str | None,
    told: bool,
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
    told
        Whether this very file has been told before.
    """
    rows = Rows(path, value_column or own_value_column(study), style_of(study))
    name_column = id_column or own_id_column(study)
    found = Answers(note=rows.note)
    reader = _by_number if "trial" in rows.table.columns and id_column is None else _by_name
    reader(study, rows, name_column, found, overwrite=overwrite, told=told)
    return found


def _answer(rows: Rows, i: int, reasons: list[str]) -> float | str | None:
    """The value of a row, or why there is none; ``None`` if the trial is still open."""
    value, reason = rows.value(i), reasons[i].strip()
    if value is not None and reason:
        raise ValueError(f"it has both a value and a reason of failure ({reason!r})")
    return reason or value if value is None else value


def _by_number(
    study: "Study", rows: Rows, name_column: str, found: Answers, *, overwrite: bool, told: bool
) -> None:
    """Answers to trials by their numbers."""
    reasons, names = rows.texts("failed"), rows.texts(name_column)
    seen: set[int] = set()
    for i, text in enumerate(rows.texts("trial")):
        try:
            answer = _answer(rows, i, reasons)
            if answer is None:
                continue
            number = _whole(text)
            trial = None if number is None else study.records.trial(number)
            if number is None or trial is None:
                raise ValueError(f"column 'trial': there is no trial {text!r}")
            name = study.name_of(trial.id, None) if study.domain.listed else ""
            called = names[i].strip()
            if called and name and called not in (name.strip(), mark(name).strip()):
                raise ValueError(
                    f"column {name_column!r}: trial {number} is {name}, not {names[i]}"
                )
            if number in seen:
                raise ValueError(f"trial {number} comes twice")
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
    study: "Study", rows: Rows, name_column: str, found: Answers, *, overwrite: bool, told: bool
) -> None:
    """Answers by the candidates' names, to their open trials in the order asked."""
    if not study.domain.listed:
        raise ValueError(f"{rows.table.path} has no column 'trial', which says what a row answers")
    rows.needed(name_column)
    if overwrite:
        raise ValueError("--overwrite needs a column 'trial', which says which answer to replace")
    if told:
        found.unchanged = len(rows)
        return
    names, reasons = Names(study), rows.texts("failed")
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
    for id_, answers in asked.items():
        _match(study.name_of(id_, None), rows, answers, open_[id_], answered[id_], found)


def _match(
    name: str,
    rows: Rows,
    answers: list[tuple[int, float | str]],
    open_: list[int],
    answered: list[float | None],
    found: Answers,
) -> None:
    """Give one candidate's answers to its open trials.

    If there are more answers than open trials, the surplus must have been told before.
    """
    spare = len(answers) - len(open_)
    for i, answer in answers:
        value = None if isinstance(answer, str) else answer
        if spare > 0 and value in answered:
            answered.remove(value)
            spare -= 1
            found.unchanged += 1
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
                why = (
                    f"{name} stands in {len(answers)} rows, but has fewer open trials: write the "
                    "mean of its replicates into one row, or give this row to `noregret import`"
                )
            found.wrong.append(rows.wrong(i, ValueError(why)))


def read_history(
    study: "Study", path: str, *, value_column: str | None, id_column: str | None
) -> OldData:
    """Choices and values in a file; by default the study says what the columns are called."""
    own = value_column or own_value_column(study)
    rows = Rows(path, own, style_of(study))
    found = OldData(note=rows.note)
    locate = _named(study, rows, id_column) if study.domain.listed else _placed(study, rows)
    numbers_of_trials = rows.texts("trial")
    for i in range(len(rows)):
        try:
            value = rows.value(i)
            if value is None:
                found.empty += 1
                continue
            choice = locate(i)
        except (ValueError, TypeError) as error:
            found.wrong.append(rows.wrong(i, error))
            continue
        number = _whole(numbers_of_trials[i]) if numbers_of_trials[i].strip() else None
        trial = None if number is None else study.records.trial(number)
        if trial is not None and (trial.packed, trial.value) == (choice, value):
            found.unchanged += 1
        else:
            found.rows.append((choice, value))
    return found


def _named(study: "Study", rows: Rows, id_column: str | None) -> Any:
    """Finds the choice of a row by the name in its column."""
    column = id_column or own_id_column(study)
    if id_column is None and column not in rows.table.columns and study.names is not None:
        column = "name" if "name" in rows.table.columns else column
    texts, names = rows.texts(rows.needed(column)), Names(study)
    return lambda i: (names.find(column, texts[i]), None)


def _placed(study: "Study", rows: Rows) -> Any:
    """Finds the choice of a row on a box or space by its parameters."""
    names = coordinate_names(study.domain)
    texts = [rows.texts(rows.needed(name)) for name in names]
    found = [rows.numbers(name) for name in names]
    parameters = as_space(study.domain).parameters

    def locate(i: int) -> Any:
        point = {}
        for name, parameter, cells, values in zip(names, parameters, texts, found, strict=True):
            text = cells[i].strip()
            value = values[i]
            if not parameter.is_category and value is not None:
                text = repr(int(value) if value.is_integer() else value)
            try:
                point[name] = parameter.parse(text)
                parameter.encode(point[name])
            except (ValueError, TypeError) as error:
                raise ValueError(f"column {name!r}: {error}") from error
        given = list(point.values()) if study.domain.names is None else point
        ids, points = study.domain.locate([given])
        return study.domain.pack(np.asarray(ids), points)[0]

    return locate
