"""How the papers' experiments turn a function's value into a reward."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from noregret import _checks
from noregret._types import Floats

KINDS = ("gaussian", "uniform", "student", "pareto")


@dataclass(frozen=True)
class Noise:
    """Rewards with mean f.

    Attributes
    ----------
    kind
        ``"gaussian"``: f + N(0, parameter²). ``"uniform"``: f + U[−parameter, parameter].
        ``"student"``: f + t with that many degrees of freedom, above one. ``"pareto"``: Pareto with
        that shape, above one, and scale f (shape − 1)/shape, for f of at least zero.
    parameter
        Above zero.
    """

    kind: str
    parameter: float

    def __post_init__(self) -> None:
        _checks.one_of("kind", self.kind, KINDS)
        _checks.positive("parameter", self.parameter)
        if self.kind in ("student", "pareto") and self.parameter <= 1:
            raise ValueError(
                f"parameter must be above 1 for {self.kind} noise to have a mean, "
                f"got {self.parameter!r}"
            )

    @property
    def xi(self) -> float:
        """ξ, the sub-Gaussian constant as the papers give it; infinite for heavy tails.

        For bounded noise that is half its range.
        """
        return self.parameter if self.kind in ("gaussian", "uniform") else math.inf

    def draw(self, f: Floats, rng: np.random.Generator) -> Floats:
        """Rewards (n) of evaluations with these means (n)."""
        n, parameter = len(f), self.parameter
        if self.kind == "gaussian":
            return f + parameter * rng.standard_normal(n)
        if self.kind == "uniform":
            return f + rng.uniform(-parameter, parameter, n)
        if self.kind == "student":
            return np.asarray(f + rng.standard_t(parameter, n))
        if np.any(f < 0):
            raise ValueError(f"f must not be negative for Pareto rewards, got {f.min()}")
        return np.asarray(f * (parameter - 1.0) / parameter * (1.0 + rng.pareto(parameter, n)))

    def paired(self, horizon: int, rng: np.random.Generator) -> Callable[[Floats, int], Floats]:
        """A function from means (n) and the first evaluation's number, from 0, to rewards (n).

        The noise is drawn beforehand and depends on that number alone, so it is the same for every
        algorithm.
        """
        if self.kind == "pareto":  # the noise is a factor with mean one
            factors = self.draw(np.ones(horizon), rng)
            return lambda f, t: f * factors[t : t + len(f)]
        errors = self.draw(np.zeros(horizon), rng)
        return lambda f, t: f + errors[t : t + len(f)]
