"""What the model and its bounds assume: as given, or learnt so far."""

from dataclasses import dataclass
from typing import TypeVar

from noregret._types import Floats, Ints
from noregret.kernels.base import Kernel

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
    """

    kernel: Kernel
    noise: float
    norm: float
    lams: tuple[float, ...]
    scale: float
    shift: float = 0.0
    unit: float = 1.0

    @property
    def lam(self) -> float:
        """The first λ."""
        return self.lams[0]

    def seen(self, sums: Floats, counts: Ints | Floats | float = 1.0) -> Floats:
        """Sums of ``counts`` rewards (n), as the model sees them."""
        if not self.shift and self.unit == 1.0:
            return sums
        return (sums - self.shift * counts) / self.unit

    def reward(self, value: Number) -> Number:
        """A value of the model, in the units of the rewards."""
        return self.shift + self.unit * value


def noise_lams(noise: float, scale: float, *, many: bool) -> tuple[float, ...]:
    """λ = ξ², at least 1e-8 of the largest k(x, x); with ``many``, a grid of multiples of it."""
    lam = max(noise**2, SMALLEST_LAM * scale)
    return tuple(factor * lam for factor in LAM_GRID) if many else (lam,)
