"""What is drawn: a study, the result of a run, or an optimiser."""

from dataclasses import dataclass
from typing import Any

from noregret.optimizer import Optimizer
from noregret.spaces.encoding import GAP_FLAG
from noregret.study import Study
from noregret.study.answers import Units
from noregret.study.frames import coordinate_names
from noregret.study.result import Result


@dataclass(frozen=True)
class Subject:
    """What pictures need to know.

    Attributes
    ----------
    optimizer
        The optimiser, which has the posterior.
    units
        Converts between its rewards and the user's values.
    columns
        For each dimension the ``name`` of its feature, and the ``mean`` and ``deviation`` by which
        it was standardised, or its ``category``.
    """

    optimizer: Optimizer
    units: Units
    columns: list[dict[str, Any]]

    def features(self) -> dict[str, list[int]]:
        """The dimensions of each feature: one, or one for each category.

        Dimensions that flag gaps in another one are no features of their own.
        """
        found: dict[str, list[int]] = {}
        for i, column in enumerate(self.columns):
            if not column["name"].endswith(GAP_FLAG):
                found.setdefault(column["name"], []).append(i)
        return found


def subject_of(of: Study | Result | Optimizer) -> Subject:
    """The subject of a study, a result or an optimiser; other types are refused."""
    if isinstance(of, Study):
        columns = of.settings["about"].get("columns")
        return Subject(of.optimizer, of.units, columns or _plain(of.optimizer))
    if isinstance(of, Result):
        return Subject(of.algorithm, of.units, _plain(of.algorithm))
    if isinstance(of, Optimizer):
        return Subject(of, Units(1.0, 0.0), _plain(of))
    raise TypeError(f"a study, a result or an optimiser can be drawn, got {of!r}")


def _plain(optimizer: Optimizer) -> list[dict[str, Any]]:
    names = coordinate_names(optimizer.domain)
    return [{"name": name, "mean": 0.0, "deviation": 1.0} for name in names]
