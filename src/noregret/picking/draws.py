"""Who is next? The maximisers of functions drawn from the sparse posterior.

A function is zᵀθ with θ ~ N(V⁻¹Zᵀy, λV⁻¹), plus what the dictionary's span leaves out of the prior:
an independent value of that variance for each candidate, so that each candidate's value has the
posterior's mean and variance σ̃² (BBKB eqs. 1 and 3). The posterior is that of the batch start for
all picks: what makes them differ is chance.
"""

from collections.abc import Callable, Iterator

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.posterior import Posterior
from noregret.picking.chooser import Moment, Picks, best_told
from noregret.picking.looks import LooksByBounds
from noregret.picking.ucb import BoxUCB, ListUCB
from noregret.spaces import Candidates

#: functions drawn at first, and at most, at a time
_FIRST_DRAWS, _MOST_DRAWS = 16, 256
#: candidates looked at at a time
_PIECE = 4096


class DrawnFunctions(LooksByBounds[ListUCB | BoxUCB]):
    """Picks the maximiser of one drawn function after another, until the rule ends the batch."""

    def choose(self, now: Moment, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        rule, fantasy = now.rule(now.bounds.fantasy), now.bounds.fantasy
        picks: list[Points] = []
        ids: list[int] = []
        for id_, point in self._maximisers(now):
            picks.append(point)
            ids.append(id_)
            # The variance that is left is not followed inside the batch.
            if rule.add(fantasy.block(point[None]), 0) or len(picks) >= limit:
                break
        points = np.array(picks)
        upper = now.bounds.inside(fantasy.block(points))
        width = now.bounds.width
        return Picks(np.array(ids, dtype=np.int64), points, upper, width, rule.ratio)

    def _maximisers(self, now: Moment) -> Iterator[tuple[int, Points]]:
        if isinstance(self._by_bounds, ListUCB):
            return _on_list(self._by_bounds.space, now.bounds.posterior, now.rng)
        return _in_box(self._by_bounds, now)


def _on_list(
    space: Candidates, posterior: Posterior, rng: np.random.Generator
) -> Iterator[tuple[int, Points]]:
    """The maximisers over a list: a pass over it for every set of draws."""
    draws = _FIRST_DRAWS
    while True:
        thetas = posterior.draw(draws, rng)

        def values(points: Points, thetas: Floats = thetas) -> Floats:
            Z = posterior.embed(points)
            spread = np.sqrt(posterior.residual(Z, points))[:, None]
            return np.asarray(Z @ thetas + spread * rng.standard_normal((len(Z), thetas.shape[1])))

        for id_ in best_of_list(space, draws, values).tolist():
            yield id_, space.points[id_]
        draws = min(2 * draws, _MOST_DRAWS)


def best_of_list(space: Candidates, n: int, values: Callable[[Points], Floats]) -> Ints:
    """The maximisers of n functions over a list (n ids).

    ``values`` gives the functions at points (k × d): k × n.
    """
    best, ids = np.full(n, -np.inf), np.zeros(n, dtype=np.int64)
    for start in range(0, len(space), _PIECE):
        piece = values(space.at(np.arange(start, min(start + _PIECE, len(space)))))
        top = piece.argmax(axis=0)
        level = piece[top, np.arange(n)]
        ids = np.where(level > best, start + top, ids)
        best = np.maximum(best, level)
    return ids


def _in_box(by_bounds: BoxUCB, now: Moment) -> Iterator[tuple[int, Points]]:
    """The maximisers over Sobol points and the best points told, moved uphill.

    Around its maximum a function goes on as zᵀθ + ε√(k(x, x) − ‖z‖²) with the ε drawn there: the
    same value at the start, the posterior's mean and variance everywhere, and smooth enough to
    climb.
    """
    search, posterior, rng = by_bounds.search, now.bounds.posterior, now.rng
    points = search.screen(best_told(now), rng)
    Z = posterior.embed(points)
    spread = np.sqrt(posterior.residual(Z, points))[:, None]
    while True:
        thetas = posterior.draw(_FIRST_DRAWS, rng)
        outside = rng.standard_normal((len(points), _FIRST_DRAWS))
        best = (Z @ thetas + spread * outside).argmax(axis=0)
        for i, row in enumerate(best.tolist()):
            theta, own = thetas[:, i], float(outside[row, i])

            def objective(
                X: Floats, theta: Floats = theta, own: float = own
            ) -> tuple[Floats, Floats]:
                return posterior.drawn(X, theta, own)

            start = points[row : row + 1]
            yield -1, search.climb(objective, start, objective(start)[0], 1)[0]
