"""AsyncTS as the BBKB paper ran it (D.1): draws lie β_t/10 deviations from the mean, not one."""

import math
from dataclasses import dataclass, replace

import numpy as np

from noregret._types import Floats, Points
from noregret.algorithms.drawn_maximizers import thompson_parts
from noregret.kernels import as_kernel
from noregret.models.features import Features, FourierFeatures
from noregret.models.pathwise import Paths
from noregret.optimizer import Optimizer
from noregret.parts import Parts, Width
from noregret.picking.baselines import asked, some_picks
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Picks, Situation, uniform_picks
from noregret.picking.lists.maxima import best_in_room, tops_of_list
from noregret.picking.lists.ucb import ListUCB


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TenthTS(Optimizer):
    """AsyncTS on a list, with draws that lie β_t/10 deviations from the mean.

    Parameters
    ----------
    width
        β_t, as for :class:`~noregret.AsyncTS`.
    n_init
        Uniform draws at the start.
    batch_size
        Points of one ``ask()``.
    """

    width: Width = "practical"
    n_init: int = 10
    batch_size: int = 1

    def parts(self) -> Parts:
        """The parts of AsyncTS, with another chooser."""
        parts = thompson_parts(self, 0.0, self.n_init, "rff")
        assert self.seed is not None
        rng = np.random.default_rng([self.seed, 1])
        features = FourierFeatures(as_kernel(self.kernel), self.domain.dimension, rng)
        return replace(parts, chooser=TenthDraws(ListUCB(self.domain), features, self.n_init))


class TenthDraws(LooksByBounds[ListUCB]):
    """Picks maximisers of drawn functions that lie nearer to the mean than posterior draws do.

    Parameters
    ----------
    by_bounds
        The chooser that recommends and predicts on the list.
    features
        The features with which functions are drawn from the prior.
    n_init
        Uniform draws at the start.
    """

    def __init__(self, by_bounds: ListUCB, features: Features, n_init: int) -> None:
        super().__init__(by_bounds)
        self._features, self._n_init = features, n_init

    def choose(self, now: Situation, limit: int) -> Picks:
        """Uniform draws at the start, then maximisers."""
        if asked(now) < self._n_init or not now.observations.t:
            return uniform_picks(now, limit)
        posterior, space = now.bounds.posterior, self.by_bounds.space
        paths = Paths(posterior, self._features, limit, now.rng)
        tenth = now.bounds.width / math.sqrt(posterior.lam) / 10.0

        def values(points: Points) -> Floats:
            mean = (posterior.embed(points) @ posterior.theta)[:, None]
            return np.asarray(mean + tenth * (paths.values(points) - mean))

        tops = tops_of_list(space, limit, values, now.room)
        ids = np.array(list(best_in_room(tops, now.room)), dtype=np.int64)
        return some_picks(now, ids, space.at(ids))
