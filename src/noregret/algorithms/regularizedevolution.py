"""Regularised evolution on a list with a neighbour rule (Real et al. 2019)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.algorithms.uniform import SPARSE_WIDTHS
from noregret.learning.learner import Learning
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.baselines import Mutations
from noregret.picking.ucb import ucb
from noregret.spaces import as_candidates


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RegularizedEvolution(Optimizer):
    """Regularised (ageing) evolution (Real et al. 2019, Algorithm 1), on a list.

    The population is the last evaluations told; the oldest one leaves, however good it is. Some
    members are drawn with replacement. The one with the best reward is the parent, and a mutation
    of it is evaluated. A mutation changes one feature: a uniform draw from the candidates that
    differ from the parent in exactly one column; where the list has none, from those that differ in
    the fewest (with continuous columns that is any other candidate). A reward is taken as it is,
    with its noise. Evaluations nobody asked for join the population as they are told.

    Predictions and recommendations come from the sparse GP, as for :class:`~noregret.Uniform`;
    settings that are ``"auto"`` are fitted to the uniform draws at the start.

    Proved: the bounds, as for :class:`~noregret.Uniform`. Not proved: a bound on the regret.

    Parameters
    ----------
    domain
        A list of candidates.
    kernel, noise, norm, delta, lam, seed, width, bounds, search, repeats, aim
        As for :class:`~noregret.Uniform`.
    population
        Members, and uniform draws at the start. 100 in the code behind the BBKB paper's experiment
        (github.com/automl/nas_benchmarks).
    tournament
        Members drawn to find a parent, 10 there.
    features
        What a mutation changes, one row per candidate (A × k): a table of numbers. By default the
        candidates themselves.
    """

    population: int = 100
    tournament: int = 10
    features: Any = None

    def __post_init__(self) -> None:
        if self.features is not None:
            table = _table(self.features, len(as_candidates(self.domain)))
            object.__setattr__(self, "features", table.tolist())  # as a file stores it
        super().__post_init__()

    def parts(self) -> Parts:
        """A dictionary for the bounds; children of the fittest are next."""
        candidates = as_candidates(self.domain)
        _checks.count("population", self.population)
        _checks.count("tournament", self.tournament)
        if self.features is None and candidates.are_objects:
            raise ValueError("features must be given where the candidates are objects")
        table = None if self.features is None else np.array(self.features, dtype=np.float64)
        by_bounds = ucb(candidates, self.search)
        return Parts(
            chooser=Mutations(by_bounds, candidates, self.population, self.tournament, table),
            widths=SPARSE_WIDTHS,
            proved=("theory",),
            dictionary="grow",
            learning=Learning(fit_on="random", max_points=1000, share=0.0),
            spreads=False,
        )


def _table(features: Any, length: int) -> Floats:
    try:
        table = np.array(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError("features must be a table of numbers, one row per candidate") from error
    if table.ndim != 2 or len(table) != length:
        raise ValueError(
            f"features must have one row for each of the {length} candidates, got shape "
            f"{table.shape}"
        )
    if not np.all(np.isfinite(table)):
        raise ValueError("features must be finite")
    return table
