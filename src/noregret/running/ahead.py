"""What a look has computed, so that the next ask need not compute it again."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.learning.beliefs import Beliefs
from noregret.observations import Observations


@dataclass(frozen=True)
class LookedAhead:
    """What the next ask will believe, computed for a look on a copy of the run.

    Attributes
    ----------
    t
        Evaluations told at the time of the look.
    beliefs, rng
        As the next ask will have them.
    events
        What happened on the way; the next ask notes it.
    """

    t: int
    beliefs: Beliefs
    rng: np.random.Generator
    events: list[dict[str, Any]]

    @property
    def fitted(self) -> bool:
        """Whether settings were fitted, which takes long."""
        return any(event["event"] == "fit" for event in self.events)

    def is_current(self, observations: Observations) -> bool:
        """Whether nothing has been told since."""
        return self.t == observations.t and self.beliefs.is_current(observations)
