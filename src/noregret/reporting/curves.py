"""Regret against evaluations: from a frame, from results, or from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.study.result import Result

#: colour and line of each algorithm; colours differ in lightness too (Okabe & Ito's, dark to light)
STYLES = (
    ("#000000", "-"),
    ("#0072B2", "--"),
    ("#D55E00", "-."),
    ("#009E73", ":"),
    ("#CC79A7", (0, (5, 1))),
    ("#56B4E9", (0, (3, 1, 1, 1))),
    ("#E69F00", (0, (1, 1))),
    ("#7f7f7f", (0, (8, 3))),
)


@dataclass(frozen=True)
class Curves:
    """Several runs of one algorithm.

    Attributes
    ----------
    t
        Evaluations (n).
    values
        A row per run (runs × n).
    """

    t: Ints
    values: Floats


def curves_of(runs: Any, kind: str) -> dict[str, Curves]:
    """The curves of each algorithm, by its name; ``kind`` is ``"simple"`` or ``"regret"``."""
    if isinstance(runs, pl.DataFrame):
        missing = {"algorithm", "seed", "t", kind} - set(runs.columns)
        if missing:
            raise ValueError(f"runs must have the column {sorted(missing)[0]!r}, as of compare()")
        names = runs["algorithm"].unique(maintain_order=True).to_list()
        return {name: _from_frame(runs.filter(algorithm=name), kind) for name in names}
    if isinstance(runs, Result):
        runs = [runs]
    if isinstance(runs, Sequence) and runs and all(isinstance(one, Result) for one in runs):
        names = [type(one.algorithm).__name__ for one in runs]
        runs = {
            name: [run for own, run in zip(names, runs, strict=True) if own == name]
            for name in names
        }
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError(
            "runs must be what compare() returns, results of runs, or results or arrays by the "
            f"name of each algorithm, got {runs!r:.200}"
        )
    return {str(name): _from_runs(str(name), given, kind) for name, given in runs.items()}


def _from_frame(frame: pl.DataFrame, kind: str) -> Curves:
    table = frame.pivot("t", index="seed", values=kind, sort_columns=False)
    t = np.array([int(column) for column in table.columns[1:]], dtype=np.int64)
    order = np.argsort(t)
    return Curves(t[order], table.drop("seed").to_numpy()[:, order])


def _from_runs(name: str, given: Any, kind: str) -> Curves:
    if isinstance(given, Result):
        given = [given]
    if len(given) and all(isinstance(one, Result) for one in given):
        if any(one.regret is None for one in given):
            raise ValueError(f"runs: results of {name!r} need optimum=... to have a regret")
        shortest = min(len(one.regret) for one in given)
        rows = np.stack([one.regret[:shortest] for one in given])
        total = np.minimum.accumulate if kind == "simple" else np.cumsum
        values = total(rows, axis=1)
    else:
        lengths = {np.shape(one) for one in given}
        if len(lengths) > 1:
            raise ValueError(f"runs: all of {name!r} must have the same number of evaluations")
        values = np.atleast_2d(np.asarray(given, dtype=np.float64))
    if values.ndim != 2 or not values.size:
        raise ValueError(f"runs: {name!r} must be an array of runs × evaluations")
    return Curves(np.arange(1, values.shape[1] + 1), values)
