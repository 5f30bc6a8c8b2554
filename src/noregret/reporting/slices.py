"""What the posterior says feature by feature: slices through the best choice, importance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats
from noregret.kernels.logs import WithLogs
from noregret.kernels.profile import Stationary
from noregret.optimizer import Optimizer
from noregret.spaces import Space, as_space
from noregret.spaces.encoding import GAP_FLAG
from noregret.study import Study
from noregret.study.answers import Units
from noregret.study.frames import coordinate_names
from noregret.study.result import Result

#: how many slices are drawn
MOST = 8
#: half the height of a slice's band, in posterior deviations
DEVIATIONS = 2.0
_STEPS = 60
#: how many pairs of uniform draws estimate how much a feature matters
_PAIRS = 1024


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


@dataclass(frozen=True)
class Slice:
    """One feature moved, the others at the best choice; values in the user's units.

    Attributes
    ----------
    name
        Name of the feature.
    x
        Values of the feature, or positions of its ``categories`` (n).
    mean, lower, upper
        The posterior mean at ``x``, and mean ∓ ``DEVIATIONS`` posterior deviations (n each).
    best
        The value of the feature in the best choice.
    categories
        The words that the feature takes, if it is not a number.
    log
        Whether the axis of the feature is logarithmic.
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


def unavailable(of: Study | Result | Optimizer) -> str:
    """Why there are no slices; an empty text if there are."""
    domain = subject_of(of).optimizer.domain
    if domain.dimension is None:
        return "The candidates are objects; there are no features to move."
    if domain.nothing.dtype == np.uint8:
        return "The candidates are packed bits (fingerprints); there are no features to move."
    return ""


def _refuse_unavailable(of: Study | Result | Optimizer) -> None:
    if unavailable(of):
        raise ValueError(f"features cannot be shown one by one: {unavailable(of)}")


def through_best(of: Study | Result | Optimizer) -> list[Slice]:
    """Slices along all features, the one that moves the mean most first.

    On a list, features with the same value in all choices measured are left out: along them the
    model only knows the prior, which says nothing of the feature.
    """
    _refuse_unavailable(of)
    subject = subject_of(of)
    optimizer = subject.optimizer
    best, domain = optimizer.recommend(), optimizer.domain
    _, points = domain.locate(domain.references([best.id], [best.point]))
    point = np.asarray(points[0], dtype=np.float64)
    if domain.size is not None:
        found = [_slice(subject, point, *feature) for feature in _varied(subject).items()]
    else:
        space = as_space(domain)
        found = [_along(subject, space, point, i) for i in range(space.dimension)]
    return sorted(found, key=lambda one: -one.range)


def _varied(subject: Subject) -> dict[str, list[int]]:
    """The features in which choices measured differ; all features if there are none."""
    told, features = np.asarray(subject.optimizer.history.points), subject.features()
    if not len(told):
        return features
    spread = np.ptp(told.astype(np.float64), axis=0)
    return {name: i for name, i in features.items() if spread[i].any()} or features


def _along(subject: Subject, space: Space, point: Floats, i: int) -> Slice:
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
    name = coordinate_names(space)[i]
    return Slice(name, x, *_bands(subject, line), float(best), categories, parameter.log)


def _bands(subject: Subject, line: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, lower and upper end of the band at points (n × d), in the user's units."""
    mean, deviation = subject.optimizer.predict_points(line, pending=False)
    ends = [subject.units.values(mean + side * DEVIATIONS * deviation) for side in (-1, 1)]
    lower, upper = np.sort(np.stack(ends), axis=0)
    return subject.units.values(mean), lower, upper


def _slice(subject: Subject, point: Floats, name: str, dimensions: list[int]) -> Slice:
    """The slice along a feature, which takes one dimension, or one for each category."""
    columns = [subject.columns[i] for i in dimensions]
    categories = tuple(str(column["category"]) for column in columns if "category" in column)
    kernel, log = subject.optimizer.assumed.kernel, False
    if categories:
        line = np.repeat(point[None], len(categories), axis=0)
        line[:, dimensions] = np.eye(len(categories))
        x = np.arange(len(categories), dtype=np.float64)
        best = float(np.argmax(point[dimensions]))
    else:
        (i,) = dimensions
        span = subject.optimizer.domain.corners[:, i]
        line = np.repeat(point[None], _STEPS, axis=0)
        log = isinstance(kernel, WithLogs) and i in kernel.columns and span.min() > 0.0
        line[:, i] = (np.geomspace if log else np.linspace)(span.min(), span.max(), _STEPS)
        scale, shift = columns[0]["deviation"], columns[0]["mean"]
        x, best = line[:, i] * scale + shift, float(point[i] * scale + shift)
    return Slice(name, x, *_bands(subject, line), best, categories, log)


def importances(of: Study | Result | Optimizer) -> pl.DataFrame:
    """How much each feature matters to the posterior mean over the whole domain, most first.

    ``share`` is the total Sobol index: the part of the variance of the posterior mean that would
    be left if all other features were known, by Jansen's estimator over pairs of uniform draws in
    which one feature is exchanged. If features act together, their shares overlap and may
    add up to more than 1.
    """
    _refuse_unavailable(of)
    subject = subject_of(of)
    optimizer = subject.optimizer
    rng = np.random.default_rng(0)
    one, other = (optimizer.domain.sample(_PAIRS, rng)[1] for _ in range(2))
    base = optimizer.predict_points(one, pending=False)[0]
    variance = np.concatenate([base, optimizer.predict_points(other, pending=False)[0]]).var()
    shares = []
    for dimensions in subject.features().values():
        mixed = one.copy()
        mixed[:, dimensions] = other[:, dimensions]
        change = optimizer.predict_points(mixed, pending=False)[0] - base
        shares.append(float(np.mean(change**2) / (2 * variance)) if variance > 0 else 0.0)
    return pl.DataFrame({"feature": list(subject.features()), "share": shares}).sort(
        "share", descending=True, maintain_order=True
    )


def lengthscales(of: Study | Result | Optimizer) -> pl.DataFrame | None:
    """The kernel's lengthscale of each dimension; ``None`` if it has not several."""
    subject = subject_of(of)
    kernel = subject.optimizer.kernel
    if not isinstance(kernel, Stationary) or not isinstance(kernel.lengthscale, list):
        return None
    names = [
        column["name"] + (f" = {column['category']}" if "category" in column else "")
        for column in subject.columns
    ]
    return pl.DataFrame({"feature": names, "lengthscale": kernel.lengthscale}).sort("lengthscale")
