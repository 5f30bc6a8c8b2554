"""Who is next? The maximisers of functions drawn from the sparse posterior.

A function is zᵀθ with θ ~ N(V⁻¹Zᵀy, λV⁻¹), plus what the dictionary's span leaves out of the prior:
an independent value of that variance for each candidate, so that each candidate's value has the
posterior's mean and variance σ̃² (BBKB eqs. 1 and 3). All picks use the posterior of the batch
start, and differ by chance.
"""

from collections.abc import Iterator

import numpy as np

from noregret._types import Floats, Points
from noregret.picking.boxes.search import climb
from noregret.picking.boxes.ucb import BoxUCB
from noregret.picking.chooser import Picks, Situation, best_told
from noregret.picking.lists.maxima import best_in_room
from noregret.picking.lists.ucb import ListUCB
from noregret.picking.looks import LooksByBounds

#: functions drawn at first, and at most, at a time
_FIRST_DRAWS, _MOST_DRAWS = 16, 256


class DrawnFunctions(LooksByBounds[ListUCB | BoxUCB]):
    """Picks the maximiser of one drawn function after another, until the rule ends the batch."""

    def choose(self, now: Situation, limit: int) -> Picks:
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
        points = np.array(picks) if picks else fantasy.posterior.inducing[:0]
        upper = now.bounds.inside(fantasy.block(points))
        width = now.bounds.width
        return Picks(np.array(ids, dtype=np.int64), points, upper, width, rule.ratio)

    def _maximisers(self, now: Situation) -> Iterator[tuple[int, Points]]:
        if isinstance(self.by_bounds, ListUCB):
            return _on_list(self.by_bounds, now)
        return _in_box(self.by_bounds, now)


def _on_list(by_bounds: ListUCB, now: Situation) -> Iterator[tuple[int, Points]]:
    """The maximisers over a list.

    Of each function the best candidate that may be picked, until there is none.
    """
    posterior, rng = now.bounds.posterior, now.rng
    draws = _FIRST_DRAWS
    while now.room.open:
        thetas = posterior.draw(draws, rng)

        def values(points: Points, thetas: Floats = thetas) -> Floats:
            Z = posterior.embed(points)
            spread = np.sqrt(posterior.residual(Z, points))[:, None]
            return np.asarray(Z @ thetas + spread * rng.standard_normal((len(Z), thetas.shape[1])))

        for id_ in best_in_room(by_bounds.tops(now, draws, values, now.room), now.room):
            yield id_, by_bounds.space.points[id_]
        draws = min(2 * draws, _MOST_DRAWS)


def _in_box(by_bounds: BoxUCB, now: Situation) -> Iterator[tuple[int, Points]]:
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
            yield -1, climb(search, objective, start, objective(start)[0], 1)[0]
