"""Choices in Optuna's spaces and in tables: their forms in storage, optimiser and user code."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from noregret.spaces import Candidates, Choice, Float, Int, Space
from noregret.spaces.encoding import as_frame
from noregret.spaces.parameters import Parameter

#: where the choice of a trial is kept in the storage
ATTRIBUTE = "noregret:choice"


class Joint:
    """Choices of a space, kept in the storage as Optuna's internal numbers by name."""

    def __init__(self, distributions: dict[str, BaseDistribution]) -> None:
        self.distributions = distributions
        self.domain = Space({name: _parameter(one) for name, one in distributions.items()})

    def choice(self, batch: Any) -> dict[str, float]:
        """The choice of a batch of one, as it is stored."""
        return {n: _internal(one, batch.values[0][n]) for n, one in self.distributions.items()}

    def read(self, trial: FrozenTrial) -> dict[str, float] | None:
        """The choice that a trial evaluated; ``None`` if it lies outside the space."""
        values = {n: trial.params[n] for n in self.distributions if n in trial.params}
        found = {n: self.distributions[n].to_internal_repr(v) for n, v in values.items()}
        return found if self.fits(found) else None

    def fits(self, choice: Any) -> bool:
        """Whether a choice lies in the space."""
        return (
            isinstance(choice, Mapping)
            and choice.keys() == self.distributions.keys()
            and all(one._contains(choice[name]) for name, one in self.distributions.items())
        )

    def points(self, choices: list[dict[str, float]]) -> list[dict[str, Any]]:
        """The choices as our space has them."""
        own = self.distributions
        return [{n: _own_value(own[n], value) for n, value in one.items()} for one in choices]

    def params(self, where: Any) -> dict[str, Any]:
        """A point as users see it."""
        own = self.distributions
        return {n: d.to_external_repr(_internal(d, where[n])) for n, d in own.items()}


class Rows:
    """Choices of a table, kept in the storage as row numbers."""

    def __init__(self, table: Any) -> None:
        if not isinstance(table, Mapping) and not hasattr(table, "columns"):
            raise TypeError(
                "table must be a pandas or polars frame, or a dict of columns, got "
                f"{type(table).__name__}"
            )
        frame = as_frame(table if hasattr(table, "columns") else pl.DataFrame(table))
        self.domain = Candidates(frame)
        self._columns = {name: frame[name] for name in frame.columns}
        self.distributions = {name: _distribution(column) for name, column in self._columns.items()}
        self._row_of: dict[tuple[Any, ...], int] | None = None

    def choice(self, batch: Any) -> int:
        """The row of a batch of one."""
        return int(batch.ids[0])

    def read(self, trial: FrozenTrial) -> int | None:
        """The row that a trial evaluated; ``None`` if its values are those of no row."""
        given = {name: trial.params[name] for name in self._columns if name in trial.params}
        found = trial.system_attrs.get(ATTRIBUTE)
        if given and self.fits(found):  # a trial may ask for some of the columns only
            row = self.params(found)
            if all(row[name] == value for name, value in given.items()):
                return int(found)
        if len(given) < len(self._columns):
            return None
        if self._row_of is None:
            rows = zip(*(column.to_list() for column in self._columns.values()), strict=True)
            self._row_of = {values: row for row, values in enumerate(rows)}
        return self._row_of.get(tuple(given.values()))

    def fits(self, choice: Any) -> bool:
        """Whether there is such a row."""
        return isinstance(choice, int) and 0 <= choice < len(self.domain)

    def points(self, choices: list[int]) -> list[int]:
        """The rows' ids."""
        return choices

    def params(self, row: int) -> dict[str, Any]:
        """A row as users see it."""
        return {name: column[row] for name, column in self._columns.items()}


def varied(found: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """The distributions with more than one value."""
    return {name: one for name, one in found.items() if not one.single()}


def only_value(given: BaseDistribution) -> Any:
    """The value of a distribution that has one."""
    return given.choices[0] if isinstance(given, CategoricalDistribution) else given.low


def _parameter(given: BaseDistribution) -> Parameter:
    """The parameter that our space has for a distribution; steps and choices are counted."""
    if isinstance(given, CategoricalDistribution):
        return Choice(list(range(len(given.choices))))
    if isinstance(given, FloatDistribution) and given.step is not None:
        return Int(0, round((given.high - given.low) / given.step))
    if isinstance(given, FloatDistribution):
        return Float(given.low, given.high, log=given.log)
    assert isinstance(given, IntDistribution)
    return Int(given.low, given.high, log=given.log, step=given.step)


def _internal(given: BaseDistribution, value: Any) -> float:
    """Optuna's internal number of a value of our parameter."""
    if isinstance(given, FloatDistribution):
        number = value if given.step is None else given.low + value * given.step
        return float(min(max(number, given.low), given.high))
    return float(value)


def _own_value(given: BaseDistribution, number: float) -> Any:
    """The value of our parameter for Optuna's internal number."""
    if isinstance(given, FloatDistribution):
        return number if given.step is None else round((number - given.low) / given.step)
    return int(number)


def _distribution(column: Any) -> BaseDistribution:
    """The distribution of a table's column."""
    if column.dtype.is_integer():
        return IntDistribution(int(column.min()), int(column.max()))
    if column.dtype.is_numeric():
        return FloatDistribution(float(column.min()), float(column.max()))
    return CategoricalDistribution(column.unique(maintain_order=True).to_list())
