"""Asynchronous Thompson sampling (Kandasamy et al. 2018): each worker asks when it is free."""

from dataclasses import dataclass
from typing import Any, Literal

from noregret.algorithms.drawn_maximizers import (
    CONVERGED,
    converged,
    maximizer_samples,
    refuse_features,
    thompson_parts,
)
from noregret.optimizer import Optimizer
from noregret.parts import Parts, Width


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AsyncTS(Optimizer):
    """Asynchronous Thompson sampling (Kandasamy et al. 2018): each worker asks when it is free.

    Each ``ask()`` draws a function from the posterior of what has been told so far and gives its
    maximiser. After the first ``n_init`` draws nothing is drawn uniformly. Two workers that ask
    before new values come get different points by chance alone. The parts are those of
    :class:`~noregret.ThompsonSampling`, with other defaults, except that settings that are
    ``"auto"`` are fitted to all evaluations, again when their number has grown by a quarter.

    Proved (Kandasamy et al., Theorem 2): for f drawn from the GP, a bound on the Bayes regret by
    the information gain. Not proved: learnt settings, what features leave out of the prior, the
    search of a box. Bounds are proved with ``width="theory"``, as for :class:`~noregret.Uniform`.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width, n_init, features
        As for :class:`~noregret.ThompsonSampling`.
    xi
        The probability of a uniform draw.
    batch_size
        Points of one ``ask()``.
    """

    width: Width = "practical"
    xi: float = 0.0
    n_init: int = 10
    batch_size: int = 1
    features: Literal["mercer", "nystrom", "qff", "rff"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_features(self)

    def parts(self) -> Parts:
        """A dictionary for the posterior; maximisers of its draws are next."""
        return thompson_parts(self, self.xi, self.n_init, self.features, fit_on="all")

    def maximizer_samples(self, n: int) -> Any:
        """n draws of the maximiser: ids (n), or points of a box (n × d). Changes nothing."""
        return maximizer_samples(self, n)

    def converged(self, tol: float = CONVERGED) -> bool:
        """Whether the spread of the maximiser's draws is below ``tol``, in units of the space.

        As for :meth:`ThompsonSampling.converged <noregret.ThompsonSampling.converged>`.
        """
        return converged(self, tol)
