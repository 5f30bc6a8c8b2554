"""Certificates: how far from the best a choice can still be, for any norm, after the run.

The condition ‖y − f‖² ≤ S² does not involve the norm, so bounds for another norm need no new run. A
certificate can say up to which norm it holds (the Proofs page, Theorem 2).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret._types import Floats
from noregret.widths import proved

#: the largest norm that is tried is this many times the one assumed
_LARGEST = 1e6
#: steps of the search for the largest norm on a list
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
        How many candidates can still be the best; ``None`` on a box.
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
    alive: int | None
    certified: bool
    assumptions: str
    norm: float
    smallest_norm: float
    largest_norm: float | None = None
    tol: float | None = None

    def __str__(self) -> str:
        if self.norm < self.smallest_norm:  # no function fits, so bounds contradict each other
            return f"Not certified.\n{self.assumptions}"
        word = "Certified" if self.certified else "Not certified"
        choice, rest = (
            (f"the value at {_in_words(self.point)}", "no point is better by more than")
            if self.alive is None
            else (f"choice {self.id}", "no choice is better by more than")
        )
        alive = "" if self.alive is None else f"; {self.alive:,} can still be the best"
        lines = [
            f"{word}: {choice} lies in [{self.lower:.4g}, {self.upper:.4g}], and {rest} "
            f"{self.gap:.4g}{alive}.",
            self.assumptions,
        ]
        if self.largest_norm:
            lines.append(
                f"The gap is at most {self.tol:g} for every norm up to {self.largest_norm:.4g}."
            )
        elif self.largest_norm is not None:
            lines.append(f"The gap is above {self.tol:g} whatever the norm.")
        return "\n".join(lines)


def _in_words(point: Any) -> str:
    """A point of a box, with four digits."""
    if isinstance(point, dict):
        parts = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in point.items())
        return ", ".join(parts)
    return np.array2string(np.asarray(point), precision=4)


@dataclass(frozen=True)
class AllowedFunctions:
    """All functions that the rewards allow, at level δ.

    Attributes
    ----------
    lams, ridges
        Every λ, and λyᵀ(Q + λI)⁻¹y for it (g each).
    square
        S²: ‖y − f‖² ≤ S² with probability 1 − δ.
    trace
        tr R: the prior variance of the evaluations that the dictionary leaves out.
    """

    lams: Floats
    ridges: Floats
    square: float
    trace: float

    def widths(self, norm: float) -> Floats:
        """Bounds on ‖f − mean‖ in the norm of V, for every λ and functions of this norm (g)."""
        radius = math.sqrt(max(self.square, 0.0)) + norm * math.sqrt(self.trace)
        return np.sqrt(np.maximum(radius**2 + self.lams * norm**2 - self.ridges, 0.0))

    def smallest_norm(self) -> float:
        """The smallest norm that the rewards allow."""
        return proved.smallest_norm(self.square, self.lams, self.ridges, self.trace)


@dataclass(frozen=True)
class ListValues:
    """The values that allowed functions can have at the candidates of a list.

    Attributes
    ----------
    allowed
        The functions.
    means, leverages
        Posterior means and leverages of the candidates for every λ (g × n each).
    best, apart
        The position of the recommended one, and the leverages of the differences between each
        candidate and this one, for every λ (g × n).
    """

    allowed: AllowedFunctions
    means: Floats
    leverages: Floats
    best: int
    apart: Floats

    def bounds(self, norm: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the candidates (n each) for functions of at most this norm."""
        reach = self.allowed.widths(norm)[:, None] * np.sqrt(self.leverages)
        return (self.means - reach).max(axis=0), (self.means + reach).min(axis=0)

    def interval(self, norm: float) -> tuple[float, float]:
        """Lower and upper bound of the recommended candidate."""
        lower, upper = self.bounds(norm)
        return float(lower[self.best]), float(upper[self.best])

    def better(self, norm: float) -> Floats:
        """How much better than the recommended candidate each of them can be (n)."""
        lower, upper = self.bounds(norm)
        ahead = self.means - self.means[:, self.best, None]
        ahead = ahead + self.allowed.widths(norm)[:, None] * np.sqrt(self.apart)
        ahead = ahead.min(axis=0)
        ahead += 1e-9 * (np.abs(ahead) + np.abs(self.means[0]))  # for round-off, as in a run
        return np.asarray(np.minimum(upper - lower[self.best], ahead))

    def gap(self, norm: float) -> float:
        """By how much some candidate may be better than the recommended one."""
        return max(float(np.delete(self.better(norm), self.best).max(initial=0.0)), 0.0)

    def alive(self, norm: float) -> int:
        """How many candidates can still be the best."""
        lower, upper = self.bounds(norm)
        return int(((upper >= lower.max()) & (self.better(norm) >= 0.0)).sum())

    def largest_norm(self, tol: float, start: float) -> float:
        """The largest norm for which the gap is at most ``tol``; 0 where none is."""
        least = self.allowed.smallest_norm()
        return largest_norm(lambda norm: self.gap(norm) <= tol, least, start, _STEPS)


def largest_norm(within: Callable[[float], bool], least: float, start: float, steps: int) -> float:
    """The largest norm for which a gap is small enough, or 0 where none is.

    Wider sets have wider gaps, so the norm is found by bisection.

    Parameters
    ----------
    within
        Whether the gap is small enough for a norm.
    least
        The smallest norm that the rewards allow.
    start
        The norm assumed: up to a million times as much is tried.
    steps
        Each step halves the interval of the norm's logarithm.
    """
    low, high = max(least, start / _LARGEST), start * _LARGEST
    if not within(low):
        return 0.0
    for _ in range(steps):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if within(middle) else (low, middle)
    return low
