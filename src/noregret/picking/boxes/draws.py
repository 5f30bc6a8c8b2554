"""The maximisers over a box of functions drawn from the sparse posterior."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from noregret._types import Floats, Points
from noregret.picking.boxes.search import Search, climb
from noregret.picking.chooser import Situation, best_told

#: functions drawn at a time
_DRAWS = 16


class BoxDraws:
    """Maximises drawn functions over a box or space.

    Parameters
    ----------
    search
        Searches the box.
    """

    def __init__(self, search: Search) -> None:
        self._search = search

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """A box stays as it is."""

    def extend(self, space: Any) -> None:
        """A box stays as it is."""

    def maximisers(self, now: Situation) -> Iterator[tuple[int, Points]]:
        """The best of Sobol points and the best points told, moved uphill, for each function.

        Around its maximum a function goes on as zᵀθ + ε√(k(x, x) − ‖z‖²) with the ε drawn there:
        the same value at the start, the posterior's mean and variance everywhere, and smooth enough
        to climb.
        """
        search, posterior, rng = self._search, now.bounds.posterior, now.rng
        points = search.screen(best_told(now), rng)
        Z = posterior.embed(points)
        spread = np.sqrt(posterior.residual(Z, points))[:, None]
        while True:
            thetas = posterior.draw(_DRAWS, rng)
            outside = rng.standard_normal((len(points), _DRAWS))
            best = (Z @ thetas + spread * outside).argmax(axis=0)
            for i, row in enumerate(best.tolist()):
                theta, own = thetas[:, i], float(outside[row, i])

                def objective(
                    X: Floats, theta: Floats = theta, own: float = own
                ) -> tuple[Floats, Floats]:
                    return posterior.drawn(X, theta, own)

                start = points[row : row + 1]
                yield -1, climb(search, objective, start, objective(start)[0], 1)[0]
