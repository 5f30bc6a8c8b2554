"""A monotone change of rewards, for functions whose bad values are far apart."""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats

#: the largest exponent of the inverse, so that it stays finite
_LARGEST = 500.0


@dataclass(frozen=True)
class Warp:
    """Rewards below a centre on a logarithmic scale, and the others as they are.

    A reward y < c becomes c − (s/a)·log(1 + a·(c − y)/s), which has slope 1 at c. The order of
    rewards stays, so that medians, quantiles and bounds can be mapped there and back exactly. Means
    and deviations cannot.

    Attributes
    ----------
    centre, scale
        c and s, in the units of the rewards.
    strength
        a; 0: all rewards stay as they are.
    """

    centre: float = 0.0
    scale: float = 1.0
    strength: float = 0.0

    def apply(self, rewards: Floats) -> Floats:
        """Rewards (any shape) on the new scale."""
        if not self.strength:
            return rewards
        unit = self.scale / self.strength
        return np.asarray(rewards + self._below(rewards) - unit * self._logs(rewards))

    def inverse(self, warped: Floats) -> Floats:
        """Rewards (any shape) from their values on the new scale."""
        if not self.strength:
            return warped
        unit, below = self.scale / self.strength, self._below(warped)
        far = np.expm1(np.minimum(below / unit, _LARGEST))
        return np.asarray(warped + below - unit * far)

    def log_slopes(self, rewards: Floats) -> Floats:
        """The logarithm of the slope at some rewards (any shape), at most 0."""
        return -self._logs(rewards) if self.strength else np.zeros_like(rewards)

    def _below(self, values: Floats) -> Floats:
        """How far values lie below the centre; 0 above."""
        return np.asarray(np.maximum(self.centre - values, 0.0))

    def _logs(self, rewards: Floats) -> Floats:
        return np.asarray(np.log1p(self.strength / self.scale * self._below(rewards)))


#: rewards stay as they are
IDENTITY = Warp()
