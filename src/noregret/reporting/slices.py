"""Slices of the posterior through a study's best choice, feature by feature."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats
from noregret.kernels.stationary import Stationary
from noregret.spaces import Space, as_space
from noregret.study import Study
from noregret.study.tables import coordinate_names

#: slices that are drawn
MOST = 8
#: half the height of a slice's band, in posterior deviations
DEVIATIONS = 2.0
_STEPS = 60


@dataclass(frozen=True)
class Slice:
    """One feature moved, the others at the best choice; values in the user's units.

    Attributes
    ----------
    name
        Of the feature.
    x
        Values of the feature, or positions of its ``categories`` (n).
    mean, lower, upper
        The posterior mean there, and mean ∓ ``DEVIATIONS`` posterior deviations (n each).
    best
        Where the best choice is.
    categories
        The words the feature takes, where it is no number.
    log
        Whether equal ratios of the feature are equal changes.
    """

    name: str
    x: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    best: float
    categories: tuple[str, ...] = ()
    log: bool = False

    @property
    def range(self) -> float:
        """How far the mean moves."""
        return float(np.ptp(self.mean))


def unavailable(study: Study) -> str:
    """Why there are no slices; empty where there are."""
    if study.domain.dimension is None:
        return "The candidates are objects; there are no features to move."
    return ""


def through_best(study: Study) -> list[Slice]:
    """Slices along all features, the one that moves the mean most first."""
    best = study.optimizer.recommend()
    _, points = study.domain.locate([best.id] if study.domain.listed else [best.point])
    point = np.asarray(points[0], dtype=np.float64)
    if not study.domain.listed:
        space = as_space(study.domain)
        along = [_along(study, space, point, i) for i in range(space.dimension)]
        return sorted(along, key=lambda one: -one.range)
    features: dict[str, list[int]] = {}
    for i, column in enumerate(_columns(study)):
        features.setdefault(column["name"], []).append(i)
    found = [_slice(study, point, name, dimensions) for name, dimensions in features.items()]
    return sorted(found, key=lambda one: -one.range)


def _along(study: Study, space: Space, point: Floats, i: int) -> Slice:
    """The slice along a parameter of a box or space."""
    parameter, (low, high) = space.parameters[i], space.corners[:, i].tolist()
    if parameter.how_many(low, high) <= _STEPS or parameter.is_category:
        entries = parameter.entries(low, high)
    else:
        entries = np.unique(parameter.snap(np.linspace(low, high, _STEPS)))
    line = np.repeat(point[None], len(entries), axis=0)
    line[:, i] = entries
    values = parameter.decode(entries)
    categories = tuple(str(value) for value in values) if parameter.is_category else ()
    x = entries if categories else np.array(values, dtype=np.float64)
    (best,) = point[i : i + 1] if categories else parameter.decode(point[i : i + 1])
    name, log = coordinate_names(space)[i], bool(getattr(parameter, "log", False))
    return Slice(name, x, *_bands(study, line), float(best), categories, log)


def _bands(study: Study, line: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, lower and upper end of the band at points (n × d), in the user's units."""
    mean, deviation = study.optimizer.predict_points(line, pending=False)
    ends = [study.units.values(mean + side * DEVIATIONS * deviation) for side in (-1, 1)]
    lower, upper = np.sort(np.stack(ends), axis=0)
    return study.units.values(mean), lower, upper


def _slice(study: Study, point: Floats, name: str, dimensions: list[int]) -> Slice:
    """The slice along a feature, which takes one dimension, or one for each category."""
    columns = [_columns(study)[i] for i in dimensions]
    categories = tuple(str(column["category"]) for column in columns if "category" in column)
    if categories:
        line = np.repeat(point[None], len(categories), axis=0)
        line[:, dimensions] = np.eye(len(categories))
        x = np.arange(len(categories), dtype=np.float64)
        best = float(np.argmax(point[dimensions]))
    else:
        (i,) = dimensions
        span = study.domain.corners[:, i]
        line = np.repeat(point[None], _STEPS, axis=0)
        line[:, i] = np.linspace(span.min(), span.max(), _STEPS)
        scale, shift = columns[0]["deviation"], columns[0]["mean"]
        x, best = line[:, i] * scale + shift, float(point[i] * scale + shift)
    return Slice(name, x, *_bands(study, line), best, categories)


def lengthscales(study: Study) -> pl.DataFrame | None:
    """The kernel's lengthscale of each dimension, where it has several."""
    kernel = study.optimizer.kernel
    if not isinstance(kernel, Stationary) or not isinstance(kernel.lengthscale, list):
        return None
    names = [
        column["name"] + (f" = {column['category']}" if "category" in column else "")
        for column in _columns(study)
    ]
    return pl.DataFrame({"feature": names, "lengthscale": kernel.lengthscale}).sort("lengthscale")


def _columns(study: Study) -> list[dict[str, Any]]:
    """Of each dimension the feature's name, and mean and deviation taken out (or its category)."""
    columns = study.settings["about"].get("columns")
    if columns is not None:
        return list(columns)
    names = coordinate_names(study.domain)
    return [{"name": name, "mean": 0.0, "deviation": 1.0} for name in names]
