"""Who is next? The simple rules that others are measured against."""

from dataclasses import replace

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Chooser, Picks, Situation, uniform_choices, uniform_picks
from noregret.spaces import Candidates


class UniformDraws(LooksByBounds[Chooser]):
    """Choices uniformly at random, with replacement."""

    def choose(self, now: Situation, limit: int) -> Picks:
        """Uniform draws."""
        return uniform_picks(now, limit)


class GreedyPicks(LooksByBounds[Chooser]):
    """The largest posterior mean, and now and then a uniform draw.

    Parameters
    ----------
    by_bounds
        Finds the largest mean, recommends and predicts.
    epsilon
        The probability of a uniform draw; ``None``: t^(−1/3) at step t.
    """

    def __init__(self, by_bounds: Chooser, epsilon: float | None) -> None:
        super().__init__(by_bounds)
        self._epsilon = epsilon

    def choose(self, now: Situation, limit: int) -> Picks:
        """Each pick is drawn uniformly with its own probability."""
        if not now.observations.t:
            return uniform_picks(now, limit)
        t = asked(now) + 1.0 + np.arange(limit)
        epsilon = t ** (-1.0 / 3.0) if self._epsilon is None else np.full(limit, self._epsilon)
        explore = now.rng.random(limit) < epsilon
        if explore.all():
            return uniform_picks(now, limit)
        # Where bounds are the means themselves, the largest bound is the largest mean.
        means = replace(now.bounds, widths=np.zeros(1))
        greedy = replace(now, bounds=means, intersected=False)
        if now.room.limited:
            best = self.by_bounds.choose(greedy, limit - int(explore.sum()))
        else:
            best = _repeated(self.by_bounds.choose(greedy, 1), limit - int(explore.sum()))
        drawn, where = uniform_choices(now, int(explore.sum()))
        # In the order in which they were decided on.
        order = np.argsort(
            np.concatenate(
                [np.flatnonzero(~explore)[: len(best.ids)], np.flatnonzero(explore)[: len(drawn)]]
            )
        )
        ids = np.concatenate([best.ids, drawn])[order]
        return some_picks(now, ids, np.concatenate([best.points, where])[order])


class Mutations(LooksByBounds[Chooser]):
    """Ageing evolution: children of the best of some of the latest evaluations.

    Parameters
    ----------
    by_bounds
        Recommends and predicts.
    space
        The candidates.
    population, tournament
        Members, and how many of them are drawn to find a parent.
    table
        What a mutation changes, a row for each candidate (A × k); ``None``: the candidates.
    """

    def __init__(
        self,
        by_bounds: Chooser,
        space: Candidates,
        population: int,
        tournament: int,
        table: Floats | None,
    ) -> None:
        super().__init__(by_bounds)
        self._space = space
        self._population = population
        self._tournament = tournament
        self._table = table

    def choose(self, now: Situation, limit: int) -> Picks:
        """Uniform draws until there is a population, then children."""
        born = min(limit, limit + asked(now) - self._population)
        if not now.observations.t or born <= 0:
            return uniform_picks(now, limit)
        drawn, _ = uniform_choices(now, limit - born)
        children = []
        for _ in range(born):
            if not now.room.open:
                break
            children.append(self._child(now))
            now.room.take(children[-1])
        ids = np.concatenate([drawn, np.array(children, dtype=np.int64)])
        return some_picks(now, ids, self._space.at(ids))

    def _child(self, now: Situation) -> int:
        """A mutation of the winner of a tournament, of those that may be picked."""
        observations = now.observations
        members = min(self._population, observations.t)
        drawn = observations.t - members + now.rng.integers(members, size=self._tournament)
        winner = drawn[int(np.argmax(observations.rewards[drawn]))]
        return int(now.rng.choice(self._neighbours(now, observations.history_rows[winner])))

    def _neighbours(self, now: Situation, row: int) -> Ints:
        """The open candidates that differ from an arm in one feature, or in the fewest."""
        if self._table is None:  # the parent may be of a replaced list
            table, parent = self._space.points, now.observations.points[row]
        else:
            table, parent = self._table, self._table[now.observations.ids[row]]
        changed = (table != parent).sum(axis=1)
        changed[now.room.closed] = -1
        others = changed[changed > 0]
        if not len(others):  # all are the same
            return np.flatnonzero(changed == 0)
        return np.flatnonzero(changed == others.min())

    def extend(self, space: Candidates) -> None:
        """The list has grown, refused where features describe the old one."""
        if self._table is not None:
            raise ValueError("features describe the old candidates: the list cannot grow")
        self._space = space
        super().extend(space)

    def restart(self, space: Candidates, *, keep: bool = False) -> None:
        """Another list, refused where features describe the old one."""
        if self._table is not None and not keep:
            raise ValueError("features describe the old candidates: the list cannot be replaced")
        self._space = space
        super().restart(space, keep=keep)


def _repeated(picks: Picks, times: int) -> Picks:
    """One pick so many times."""
    return replace(
        picks, ids=np.repeat(picks.ids, times), points=np.repeat(picks.points, times, axis=0)
    )


def asked(now: Situation) -> int:
    """Evaluations told or pending."""
    return now.observations.t + int(now.observations.pending.sum())


def some_picks(now: Situation, ids: Ints, points: Points) -> Picks:
    """Choices (n each) that were not picked by their bounds, with their bounds."""
    upper = now.bounds.at_start(now.bounds.fantasy.block(points))
    return Picks(ids, points, upper, now.bounds.width)
