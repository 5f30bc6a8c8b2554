"""Regularised evolution on a list with a neighbour rule (Real et al. 2019)."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.algorithms.uniform import Uniform
from noregret.results import BatchInfo
from noregret.spaces import as_candidates


class RegularizedEvolution(Uniform):
    """Regularised (ageing) evolution (Real et al. 2019, Algorithm 1), on a list.

    The population are the last evaluations told; the oldest dies, however good. Some members are
    drawn with replacement, the one with the best reward is the parent, and a mutation of it is
    evaluated. A mutation changes one feature: a uniform draw from the candidates that differ from
    the parent in exactly one column; where the list has none, from those that differ in the fewest
    (with continuous columns that is any other candidate). A reward is taken as it is, with its
    noise. Evaluations nobody asked for join the population as they are told.

    Predictions and recommendations come from the sparse GP, as for :class:`~noregret.Uniform`.

    Parameters
    ----------
    domain
        A list of candidates.
    kernel, noise, norm, delta, lam, seed, width
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

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        population: int = 100,
        tournament: int = 10,
        features: Any = None,
        **others: Any,
    ) -> None:
        candidates = as_candidates(domain)
        self.population = _checks.count("population", population)
        self.tournament = _checks.count("tournament", tournament)
        self._given: Floats | None = None
        if features is not None:
            self._given = _table(features, len(candidates))
        elif candidates.are_objects:
            raise ValueError("features must be given where the candidates are objects")
        super().__init__(candidates, kernel, **others)

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        count, asked = n or 1, self.t + self.pending
        if self._auto:
            self._sync()  # fits, where one is due
        learning = self._auto is not None and not self._auto.fitted
        born = min(count, count + asked - self.population)
        if learning or not self.t or born <= 0:
            return self._draw(count), None
        ids = np.concatenate([self._draw(count - born), [self._mutation() for _ in range(born)]])
        self._uniform = False  # not all of them
        return ids.astype(np.int64), None

    def _mutation(self) -> int:
        """A child of the winner of a tournament."""
        observations = self._observations
        alive = min(self.population, self.t)
        drawn = self.t - alive + self._rng.integers(alive, size=self.tournament)
        winner = drawn[int(np.argmax(observations.rewards[drawn]))]
        return int(self._rng.choice(self._neighbours(int(observations.history_rows[winner]))))

    def _neighbours(self, row: int) -> Ints:
        """The candidates that differ from an arm in one feature, or in the fewest."""
        observations = self._observations
        if self._given is None:  # the parent may be of a replaced list
            table, parent = self._points, observations.points[row]
        else:
            table, parent = self._given, self._given[observations.ids[row]]
        changed = (table != parent).sum(axis=1)
        others = changed[changed > 0]
        if not len(others):  # all are the same
            return np.arange(len(table))
        return np.flatnonzero(changed == others.min())

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        if self._given is not None:
            options["features"] = self._given.tolist()
        return options

    def _replace(self, points: Points, prior: Floats) -> None:
        if self._given is not None:
            raise ValueError("features describe the old candidates: the list cannot be replaced")
        super()._replace(points, prior)


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
