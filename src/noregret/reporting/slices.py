"""Slices of the posterior through a study's best candidate, feature by feature."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.linalg import solve_triangular

from noregret._types import Floats
from noregret.algorithms.base import Optimizer
from noregret.linalg.root import safe_cholesky
from noregret.spaces import Box
from noregret.study import Study

#: evaluated candidates a slice's GP is made of
NEAREST = 500
#: slices that are drawn
MOST = 8
_STEPS = 60


@dataclass(frozen=True)
class Slice:
    """One feature moved, the others at the best candidate; values in the user's units.

    ``x`` are the feature's values, or positions of the ``categories`` it takes.
    """

    name: str
    x: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    best: float
    categories: tuple[str, ...] = ()

    @property
    def range(self) -> float:
        """How far the estimate moves."""
        return float(np.ptp(self.mean))


def unavailable(study: Study) -> str:
    """Why there are no slices, or nothing."""
    if not isinstance(study.domain, Box) and study.domain.are_objects:
        return "The candidates are objects; there are no features to move."
    return ""


def through_best(study: Study) -> list[Slice]:
    """Slices along all features, the one that moves the estimate most first."""
    optimizer = study.view()
    point = np.asarray(optimizer.recommend().point, dtype=np.float64)
    domain = study.domain
    points = domain.bounds.T if isinstance(domain, Box) else domain.points
    predict = _posterior(optimizer, point)
    abouts = _columns(study, len(point))
    found = []
    for name in dict.fromkeys(about["name"] for about in abouts):
        mine = [i for i, about in enumerate(abouts) if about["name"] == name]
        about = abouts[mine[0]]
        categories = tuple(str(abouts[i]["category"]) for i in mine if "category" in abouts[i])
        if categories:
            line = np.repeat(point[None], len(mine), axis=0)
            line[:, mine] = np.eye(len(mine))
            x, best = np.arange(len(mine), dtype=np.float64), float(np.argmax(point[mine]))
        else:
            values = points[:, mine[0]]
            line = np.repeat(point[None], _STEPS, axis=0)
            line[:, mine[0]] = np.linspace(values.min(), values.max(), _STEPS)
            scale, shift = about["deviation"], about["mean"]
            x, best = line[:, mine[0]] * scale + shift, float(point[mine[0]] * scale + shift)
        mean, deviation = predict(line)
        ends = (study.units.values(mean + side * deviation) for side in (-2, 2))
        lower, upper = np.sort(np.stack(list(ends)), axis=0)
        found.append(Slice(name, x, study.units.values(mean), lower, upper, best, categories))
    return sorted(found, key=lambda one: -one.range)


def lengthscales(study: Study) -> pl.DataFrame | None:
    """The kernel's lengthscale of each dimension, where it has several."""
    scales = getattr(study.optimizer.kernel, "lengthscale", None)
    if not isinstance(scales, list):
        return None
    names = [
        about["name"] + (f" = {about['category']}" if "category" in about else "")
        for about in _columns(study, len(scales))
    ]
    return pl.DataFrame({"feature": names, "lengthscale": scales}).sort("lengthscale")


def _columns(study: Study, dimension: int) -> list[dict[str, Any]]:
    """Name, mean and deviation of each dimension, as the study was created with."""
    columns = study.settings["about"].get("columns")
    if columns is not None:
        return list(columns)
    names = study.domain.names or [f"x{i}" for i in range(dimension)]
    return [{"name": name, "mean": 0.0, "deviation": 1.0} for name in names]


def _posterior(optimizer: Optimizer, best: Floats) -> Any:
    """Mean and deviation at any points, by an exact GP on the arms nearest to the best."""
    seen = optimizer._observations
    rows = np.flatnonzero(seen.told)
    near = optimizer.kernel(seen.points[rows], best[None])[:, 0]
    rows = rows[np.argsort(-near, kind="stable")[:NEAREST]]
    points, counts = seen.points[rows], seen.told[rows]
    gram = optimizer.kernel(points, points)
    gram[np.diag_indices_from(gram)] += optimizer.lam / counts
    lower = safe_cholesky(gram)
    target = solve_triangular(lower, seen.sums[rows] / counts, lower=True)

    def predict(where: Floats) -> tuple[Floats, Floats]:
        cross = solve_triangular(lower, optimizer.kernel(points, where), lower=True)
        variance = optimizer.kernel.diag(where) - np.einsum("ij,ij->j", cross, cross)
        return cross.T @ target, np.sqrt(np.maximum(variance, 0.0))

    return predict
