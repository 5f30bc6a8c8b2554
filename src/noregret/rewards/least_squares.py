"""The contract of reward estimates, and the simplest one: every reward counts as it is."""

from abc import abstractmethod
from typing import Protocol

import numpy as np

from noregret._checks import shown
from noregret._types import Floats
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations


class RewardEstimate(Protocol):
    """Turns rewards into the weights of the posterior mean.

    Only ``sums`` must be defined. By default the weights are those of least squares.
    What it remembers is saved with the run: arrays, numbers, and objects made of them. It changes
    its state in one step at the end, so that an interruption leaves it as it was.
    """

    @property
    def spread(self) -> float | None:
        """The noise's deviation as the estimate found it; ``None``: as it is assumed."""
        return None

    @property
    def is_least_squares(self) -> bool:
        """Whether the mean is that of least squares on the rewards as they were told.

        Only then are differences of values bounded as well, and only then does the misfit of the
        mean say whether rewards contradict the norm.
        """
        return False

    @property
    def revision(self) -> int:
        """How often the moment or scale has changed. After a change older bounds are void."""
        return 0

    @abstractmethod
    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """The sum of rewards that least squares is to see, by arm (u).

        Called at a batch start, with the model as it was before these rewards.
        """

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """Weights of the mean in place of least squares, after the model has been updated.

        Those of the first λ (m), or of all (g × m); ``None``: those of least squares.
        """
        return None

    def restart(self) -> None:
        """Forget what was computed: kernel, units or λ have changed."""
        return


def checked_sums(
    estimate: RewardEstimate, model: SparseGP, observations: Observations, assumed: Assumptions
) -> Floats:
    """The ``sums`` of an estimate (u); others than a finite number for each arm are refused."""
    given = estimate.sums(model, observations, assumed)
    sums = np.asarray(given, dtype=np.float64)
    if sums.shape != (len(observations),) or not np.all(np.isfinite(sums)):
        raise ValueError(
            f"{type(estimate).__name__}.sums must return {len(observations)} finite numbers, one "
            f"for each choice told or pending, got {shown(given)}"
        )
    return sums


class LeastSquares(RewardEstimate):
    """Every reward counts as it is."""

    is_least_squares = True

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Sums of the rewards by arm (u)."""
        return np.asarray(assumed.seen(observations.sums, observations.told))
