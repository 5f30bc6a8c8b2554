"""Which choice a row of a file is about, and whether it is the choice of a trial."""

import re
from collections.abc import Callable
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.cli.answer_rows import Rows
from noregret.cli.csv_files import id_column as own_id_column
from noregret.cli.csv_files import mark
from noregret.spaces import as_space
from noregret.spaces.cells import Spelling, is_gap
from noregret.study.frames import coordinate_names, coordinates
from noregret.study.trials import Trial

if TYPE_CHECKING:
    from noregret.study import Study

#: refuses the row of a file with this number if it is about another choice than the trial
Check = Callable[[int, Trial], None]


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


class PointCheck:
    """Compares the parameters in a file with those of trials, numbers as far as they are printed.

    Parameters
    ----------
    study
        A study of a box or space.
    rows
        The rows of the file; parameters without a column are not compared.
    """

    def __init__(self, study: "Study", rows: Rows) -> None:
        self._domain = study.domain
        names = coordinate_names(study.domain)
        parameters = as_space(study.domain).parameters
        self._parameters = {
            name: parameter
            for name, parameter in zip(names, parameters, strict=True)
            if name in rows.table.columns and name not in ("trial", "failed", rows.value_column)
        }
        self._texts = {name: rows.texts(name) for name in self._parameters}
        self._numbers = {name: rows.numbers(name) for name in self._parameters}
        self._decimals = {name: rows.decimal(name) for name in self._parameters}
        self._gaps = {name: is_gap(rows.frame[name]).to_list() for name in self._parameters}

    def __call__(self, i: int, trial: Trial) -> None:
        """Refuse row i if it has other parameters than the trial."""
        point = self._domain.unpack([trial.packed])
        for name, (value,) in coordinates(self._domain, point).items():
            if name in self._parameters and not self._agrees(name, i, value):
                raise ValueError(
                    f"column {name!r}: trial {trial.number} has {value}, not "
                    f"{self._texts[name][i].strip()} (is this a file of another study?)"
                )

    def _agrees(self, name: str, i: int, value: Any) -> bool:
        """Whether the cell of a parameter is empty or has this value."""
        text, number = self._texts[name][i].strip(), self._numbers[name][i]
        parameter = self._parameters[name]
        if parameter.is_category:
            plain = (str(value).strip(), mark(str(value)).strip())
            same = text in plain or parameter.parse(text) == value
            if number is not None and isinstance(value, Real) and not isinstance(value, bool):
                same = same or number == value
        elif number is not None:
            half = half_of_last_digit(text, self._decimals[name])
            same = abs(number - value) <= half + 1e-12 * abs(value)
        else:
            same = False
        return bool(same or self._gaps[name][i])


def half_of_last_digit(text: str, decimal: str) -> float:
    """Half a unit of the last digit of a printed number: 0.05 for 4.3, 500 for 2e3."""
    mantissa, _, exponent = text.lower().rstrip("% ").partition("e")
    decimals = len(re.sub(r"\D", "", mantissa.partition(decimal)[2]))
    power = int(exponent) if re.fullmatch(r"[+-]?\d{1,3}", exponent) else 0
    return 0.5 * 10.0 ** (power - decimals) * (1 + 1e-9)


def checked_choices(study: "Study", rows: Rows, name_column: str) -> Check:
    """Compares what a file says of the choices of trials with the study.

    Where a list's column of names is missing, nothing is compared.
    """
    if study.domain.size is None:
        return PointCheck(study, rows)
    texts = rows.texts(name_column)

    def check(i: int, trial: Trial) -> None:
        name, called = study.name_of(trial.id, None), texts[i].strip()
        if called and name and called not in (name.strip(), mark(name).strip()):
            raise ValueError(
                f"column {name_column!r}: trial {trial.number} of this study is {name}, "
                f"not {texts[i]}"
            )

    return check


def located_choices(study: "Study", rows: Rows, id_column: str | None) -> Any:
    """Finds the choice of a row, as the study's file holds it, by its name or parameters."""
    if study.domain.size is None:
        return _placed(study, rows)
    return _named(study, rows, id_column)


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
