"""The user's values and the optimiser's rewards."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret._types import Floats
from noregret.results import Recommendation


@dataclass(frozen=True)
class Units:
    """reward = sign · (value − prior mean): optimisers maximise, and expect 0 at first."""

    sign: float
    prior_mean: float

    def rewards(self, values: Any) -> Floats:
        """What the optimiser is told."""
        return self.sign * (np.asarray(values, dtype=np.float64) - self.prior_mean)

    def values(self, rewards: Any) -> Any:
        """What people see: a number or an array."""
        return self.sign * rewards + self.prior_mean

    def recommendation(self, found: Recommendation) -> Recommendation:
        """The recommendation in the user's values; the gap is a difference and stays the same."""
        bounds = sorted((self.values(found.lower), self.values(found.upper)))
        measured = None if found.measured is None else self.values(found.measured)
        mean = self.values(found.mean)
        return replace(found, mean=mean, lower=bounds[0], upper=bounds[1], measured=measured)
