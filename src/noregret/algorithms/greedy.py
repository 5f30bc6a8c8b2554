"""ε-greedy: mostly the best known choice, now and then any."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints
from noregret.algorithms.uniform import Uniform
from noregret.batching import FixedSize
from noregret.models.surface import Surface
from noregret.results import BatchInfo


class EpsilonGreedy(Uniform):
    """ε-greedy: a uniform choice with probability ε_t, else the largest posterior mean.

    A baseline of the BBKB paper's experiments, which state no ε. The model is the sparse GP that
    BBKB uses. Choices before the first reward, and those that ``"auto"`` settings are fitted to,
    are uniform.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search, width
        As for :class:`~noregret.Uniform`.
    epsilon
        ε, a probability, the same at every step; ``None``: ε_t = t^(−1/3), the rate at which the
        cost of exploring and that of knowing too little balance without knowing the gaps.
    """

    def __init__(
        self, domain: Any, kernel: Any, *, epsilon: float | None = None, **others: Any
    ) -> None:
        if epsilon is not None and _checks.not_negative("epsilon", epsilon) > 1:
            raise ValueError(f"epsilon must be a probability, got {epsilon!r}")
        self.epsilon = epsilon
        super().__init__(domain, kernel, **others)

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        self._sync()
        count, asked = n or 1, self.t + self.pending
        if not self.t or (self._auto and self._auto.wanted(asked)):
            return self._draw(count), None
        t = asked + 1.0 + np.arange(count)
        epsilon = t ** (-1.0 / 3.0) if self.epsilon is None else np.full(count, self.epsilon)
        explore = self._rng.random(count) < epsilon
        if explore.all():
            return self._draw(count), None
        chosen: Any = np.repeat(self._largest_mean(), count, axis=0)
        chosen[explore] = self._draw(int(explore.sum()))
        self._uniform = False  # not all of them
        return chosen, None

    def _largest_mean(self) -> Ints | Floats:
        """The id (1) or the point (1 × d) with the largest posterior mean."""
        if not self._box:
            return np.array([int(np.argmax(self._model.table.mean))])
        surface = Surface(self._model, self._observations.pending)
        return self._picks(FixedSize(), surface, 0.0, 1)[0]
