"""What the model and its bounds assume: as given, or learnt so far."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from noregret._types import Floats, Ints
from noregret.kernels.base import Kernel
from noregret.models.warp import IDENTITY, Warp

Number = TypeVar("Number", float, Floats)

#: λ is at least this part of the largest k(x, x)
SMALLEST_LAM = 1e-8
#: if no λ is given, bounds for these multiples of ξ² are intersected
LAM_GRID = (1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True)
class Assumptions:
    """Kernel, noise, norm and λ in use, and how rewards are scaled for the model.

    Attributes
    ----------
    kernel
        The prior covariance.
    noise, norm
        ξ and F.
    lams
        Each λ that has a posterior; ``predict`` uses the first.
    scale
        The largest k(x, x), as far as it is known.
    shift, unit
        The model sees (reward − shift) / unit.
    warp
        Changes rewards before that; by default they stay as they are.
    """

    kernel: Kernel
    noise: float
    norm: float
    lams: tuple[float, ...]
    scale: float
    shift: float = 0.0
    unit: float = 1.0
    warp: Warp = IDENTITY

    @property
    def lam(self) -> float:
        """The first λ."""
        return self.lams[0]

    def values(self, rewards: Floats) -> Floats:
        """Rewards (n) as the model sees them."""
        return self.seen(self.warp.apply(rewards))

    def seen(self, sums: Floats, counts: Ints | Floats | float = 1.0) -> Floats:
        """Sums of ``counts`` rewards that have been warped (n), as the model sees them."""
        if not self.shift and self.unit == 1.0:
            return sums
        return (sums - self.shift * counts) / self.unit

    def reward(self, value: Number) -> Number:
        """A value of the model, or values, in the units of the rewards.

        A quantile of the model becomes the same quantile of rewards; its mean becomes a median.
        """
        warped = self.shift + self.unit * value
        if not self.warp.strength:
            return warped
        found = self.warp.inverse(np.asarray(warped))
        return found if isinstance(value, np.ndarray) else float(found)

    def between(self, low: Number, high: Number) -> Number:
        """How far two values of the model lie apart, in the units of the rewards."""
        if not self.warp.strength:
            return self.unit * (high - low)
        return self.reward(high) - self.reward(low)

    def deviation(self, value: Number, deviation: Number) -> Number:
        """A deviation of the model at some value, in the units of the rewards.

        Half of what lies between the value minus and plus the deviation.
        """
        if not self.warp.strength:
            return self.unit * deviation
        return 0.5 * self.between(value - deviation, value + deviation)

    def noise_near(self, reward: Number) -> Number:
        """The standard deviation of the noise of rewards like these."""
        value = self.values(np.asarray(reward, dtype=np.float64))
        found = self.deviation(value, np.full_like(value, self.noise))
        return found if isinstance(reward, np.ndarray) else float(found)


def noise_lams(noise: float, scale: float, *, many: bool) -> tuple[float, ...]:
    """λ = ξ², at least 1e-8 of the largest k(x, x); with ``many``, a grid of multiples of it."""
    lam = max(noise**2, SMALLEST_LAM * scale)
    return tuple(factor * lam for factor in LAM_GRID) if many else (lam,)
