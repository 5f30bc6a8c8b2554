"""The rows of a file that adds candidates: read by the rules by which the study was made."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noregret._checks import first_few
from noregret.cli.candidate_columns import NAMED_ROWS, check_names, no_column, refuse_cells
from noregret.cli.csv_files import id_column, style_of
from noregret.spaces.cells import booleans, is_gap, nearest, numbers
from noregret.spaces.encoding import Feature, encoder_of
from noregret.spaces.survey import ColumnSurvey, survey
from noregret.spaces.tables import Table

if TYPE_CHECKING:
    from noregret._types import Floats
    from noregret.study import Study


class AddedRows:
    """New candidates of a study, from a table with the columns that it was made from.

    Parameters
    ----------
    study
        The study.
    path
        The table. Cells that cannot be read are refused with their places.
    sheet
        The sheet of a spreadsheet; ``None``: the first.

    Attributes
    ----------
    notes
        What was done, in sentences.
    """

    def __init__(self, study: "Study", path: str, sheet: str | None = None) -> None:
        self._study = study
        features = _features(study)
        self._style = style_of(study)
        self._table = Table(path, sheet=sheet, decimal_comma=self._style.decimal == ",")
        self._encoder = encoder_of(features, self._table.decimal)
        self.notes = list(self._table.notes)
        self._rows = self._table.read()
        if not len(self._rows.frame):
            raise ValueError(f"{path} has no rows")
        self._refuse_missing()
        if study.names is not None:
            check_names(self._table, self._rows, id_column(study))
        found = survey([self._rows], self._encoder.columns, self._table.decimal)
        refuse_cells(
            self._table,
            [one for feature in self._encoder.features if (one := self._complaint(feature, found))],
            "Correct the cells: nothing was added.",
        )
        for feature in self._encoder.features:
            self._note_words(feature)

    @cached_property
    def points(self) -> "Floats":
        """What the kernel sees (n × d), encoded with the means of the old candidates."""
        return self._encoder.encode(self._rows.frame)

    @property
    def names(self) -> list[str] | None:
        """The names (n), if the study's other candidates have some."""
        if self._study.names is None:
            return None
        return self._rows.frame[id_column(self._study)].cast(pl.String).to_list()

    @property
    def shown(self) -> pl.DataFrame | None:
        """The columns that the study shows of its candidates; texts may be missing."""
        table = self._study.table
        if table is None:
            return None
        kinds = {n: k for n, k in table.schema.items() if n != "name" or self._study.names is None}
        return pl.DataFrame([self._as_shown(name, kind) for name, kind in kinds.items()])

    def _refuse_missing(self) -> None:
        needed = [*self._encoder.columns]
        if self._study.names is not None:
            needed.insert(0, id_column(self._study))
        for name in needed:
            if name not in self._table.columns:
                raise ValueError(
                    f"{no_column('', name, self._table)}; the study was made from "
                    f"{', '.join(needed)}"
                )

    def _complaint(self, feature: Feature, found: dict[str, ColumnSurvey]) -> str:
        """What cannot be read in a feature's column, with the places; else an empty text."""
        column, cells = found[feature.name], self._rows.frame[feature.name]
        if feature.kind == "category":
            return ""
        if feature.gaps(cells):
            rows = first_few(self._rows.lines[is_gap(cells).to_numpy()].tolist(), NAMED_ROWS)
            return (
                f"{self._table.place} {rows}, column {feature.name!r}: a gap. The study knows of "
                "none in this column, so that nothing can be filled in"
            )
        if feature.kind == "number":
            if column.numbers < column.filled or 0 < column.percents < column.filled:
                return column.complaint(self._table.place)
            return self._percents(feature, column)
        wrong = np.flatnonzero(feature.unreadable(cells, self._table.decimal).to_numpy())
        return "\n  ".join(
            f"{self._table.place} {self._rows.lines[i]}, column {feature.name!r}: "
            f"{str(cells[int(i)])!r} is neither yes nor no"
            for i in wrong[:NAMED_ROWS]
        )

    def _percents(self, feature: Feature, column: ColumnSurvey) -> str:
        """Whether 10% and 0.1 meet in a column: the study holds 10 or 0.1, and not both."""
        if feature.percent is None or not column.filled:
            return ""
        if column.percents and not feature.percent:
            return (
                f"column {feature.name!r}: its numbers have a percent sign, and those of the study "
                "have none; write them as in the study"
            )
        if feature.percent and not column.percents:
            if max(abs(column.low), abs(column.high)) <= 1.0:
                return (
                    f"column {feature.name!r}: its numbers are at most 1 and have no percent sign, "
                    "and those of the study have one; write 15% for 0.15"
                )
            self.notes.append(
                f"Column {feature.name!r} has no percent signs, and the study's has: 51.2 is taken "
                "as 51.2%."
            )
        return ""

    def _note_words(self, feature: Feature) -> None:
        """Say which words of a category the study does not know."""
        unknown = feature.unknown_words(self._rows.frame[feature.name])
        if unknown:
            near = nearest(unknown[0], feature.categories)
            self.notes.append(
                f"{feature.name!r} has words that the study does not know: "
                f"{', '.join(unknown[:5])}{near or '.'} They are described by none of its "
                "categories."
            )

    def _as_shown(self, name: str, kind: pl.DataType) -> pl.Series:
        """A column as the study's table holds it: as numbers, or verbatim."""
        source = self._study.settings["about"].get("shown", {}).get(name, name)
        if source not in self._rows.frame.columns:
            return pl.Series(name, [None] * len(self._rows.frame), dtype=kind)
        cells: pl.Series = self._rows.frame[source].alias(name)
        if kind.is_numeric():
            found = numbers(cells, self._table.decimal)
            whole = kind.is_integer() and bool((found.is_null() | (found == found.round())).all())
            return found.cast(kind) if whole else found
        if kind == pl.Boolean:
            return booleans(cells).cast(kind)
        is_number = any(
            one.name == source and one.kind == "number" for one in self._encoder.features
        )
        if is_number and self._table.decimal != self._style.decimal:
            cells = cells.cast(pl.String)
            plain = cells.str.replace(self._table.decimal, self._style.decimal, literal=True)
            return plain.zip_with(numbers(plain, self._style.decimal).is_not_null(), cells)
        return cells.cast(kind)


def _features(study: "Study") -> list[dict[str, Any]]:
    """How the columns of the study's own file became coordinates."""
    features = study.settings["about"].get("features")
    if not features:
        raise ValueError(
            f"{study.path} was not made from a table of features, so that no file can be added to "
            "it; Study.add takes points"
        )
    return list(features)
