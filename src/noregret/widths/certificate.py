"""Certificates: how far from the best a choice can still be, for any norm, after the run.

The condition ‖y − f‖² ≤ S² does not involve the norm, so bounds for another norm need no new run. A
certificate can say up to which norm it holds (the Proofs page, Theorem 2).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret._types import Floats
from noregret.widths import proved

#: the largest norm that is tried is this many times the one assumed
_LARGEST = 1e6
#: steps of the search for the largest norm, each of which halves the interval of its logarithm
_STEPS = 60


@dataclass(frozen=True)
class Certificate:
    """What is known about a recommendation, and under which assumptions.

    Attributes
    ----------
    id, point
        The recommended choice.
    lower, upper
        Its value lies between these.
    gap
        No choice is better than the recommended one by more than this.
    alive
        How many choices can still be the best.
    certified
        Whether all of this is proved, with probability 1 − δ, under ``assumptions``.
    assumptions
        The assumptions of the proof, or why there is no proof, in words.
    norm
        The bound on the norm that the numbers above are for.
    smallest_norm
        The smallest norm that the rewards allow; a smaller ``norm`` is refuted.
    largest_norm
        The largest norm for which the gap is still at most ``tol``; ``None`` without ``tol``.
    tol
        As asked for.
    """

    id: int
    point: Any = field(compare=False)
    lower: float
    upper: float
    gap: float
    alive: int
    certified: bool
    assumptions: str
    norm: float
    smallest_norm: float
    largest_norm: float | None = None
    tol: float | None = None

    def __str__(self) -> str:
        if self.norm < self.smallest_norm:  # no function fits, so bounds contradict each other
            return f"Not certified.\n{self.assumptions}"
        start = f"choice {self.id} lies in [{self.lower:.4g}, {self.upper:.4g}], and no choice is "
        word = "Certified" if self.certified else "Not certified"
        lines = [
            f"{word}: {start}better by more than {self.gap:.4g}; {self.alive:,} can still be the "
            "best.",
            self.assumptions,
        ]
        if self.largest_norm:
            lines.append(
                f"The gap is at most {self.tol:g} for every norm up to {self.largest_norm:.4g}."
            )
        elif self.largest_norm is not None:
            lines.append(f"The gap is above {self.tol:g} whatever the norm.")
        return "\n".join(lines)


@dataclass(frozen=True)
class ConfidenceSet:
    """All functions that the rewards allow, by their values at some choices.

    Attributes
    ----------
    lams, ridges
        Every λ, and λyᵀ(Q + λI)⁻¹y for it (g each).
    means, leverages
        Posterior means and leverages of the choices for every λ (g × n each).
    best, apart
        The position of the recommended choice, and the leverages of the differences between each
        choice and this one, for every λ (g × n).
    square
        S²: ‖y − f‖² ≤ S² with probability 1 − δ.
    trace
        tr R: the prior variance of the evaluations that the dictionary leaves out.
    """

    lams: Floats
    ridges: Floats
    means: Floats
    leverages: Floats
    best: int
    apart: Floats
    square: float
    trace: float

    def bounds(self, norm: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the choices (n each) for functions of at most this norm."""
        reach = np.sqrt(self._squares(norm) * self.leverages)
        return (self.means - reach).max(axis=0), (self.means + reach).min(axis=0)

    def _squares(self, norm: float) -> Floats:
        """Bounds on ‖f − mean‖² in the norm of V for every λ (g × 1)."""
        radius = math.sqrt(max(self.square, 0.0)) + norm * math.sqrt(self.trace)
        return np.maximum(radius**2 + self.lams * norm**2 - self.ridges, 0.0)[:, None]

    def better(self, norm: float) -> Floats:
        """How much better than the recommended choice each of the choices can be (n)."""
        lower, upper = self.bounds(norm)
        ahead = self.means - self.means[:, self.best, None]
        ahead = (ahead + np.sqrt(self._squares(norm) * self.apart)).min(axis=0)
        ahead += 1e-9 * (np.abs(ahead) + np.abs(self.means[0]))  # for round-off, as in a run
        return np.asarray(np.minimum(upper - lower[self.best], ahead))

    def smallest_norm(self) -> float:
        """The smallest norm that the rewards allow."""
        return proved.smallest_norm(self.square, self.lams, self.ridges, self.trace)

    def gap(self, norm: float) -> float:
        """By how much some choice may be better than the recommended one."""
        return max(float(np.delete(self.better(norm), self.best).max(initial=0.0)), 0.0)

    def largest_norm(self, tol: float, start: float) -> float:
        """The largest norm for which the gap is at most ``tol``; 0 where none is.

        Wider sets have wider gaps, so the norm is found by bisection.
        """
        low, high = max(self.smallest_norm(), start / _LARGEST), start * _LARGEST
        if self.gap(low) > tol:
            return 0.0
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.gap(middle) <= tol else (low, middle)
        return low
