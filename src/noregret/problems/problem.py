"""A function to maximise, with its optimum and its noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.problems.noise import Noise
from noregret.spaces import Candidates, Domain, as_box, as_candidates

Function: TypeAlias = Callable[[Floats], Floats]

#: points at which a function is evaluated in one go
_BLOCK = 5000


@dataclass(frozen=True, eq=False)
class Problem:
    """A function to maximise from noisy evaluations.

    Attributes
    ----------
    name
        As the papers and tables call it.
    domain
        A :class:`~noregret.Box` or a list of :class:`~noregret.Candidates`.
    function
        From n × d points to n values.
    optimum
        The largest value on the domain.
    maximizers
        k × d points where it is attained.
    noise
        The noise of an evaluation.
    norm
        The function's norm in the RKHS of the kernel that it is made of; infinite if it is not made
        of a kernel.
    """

    name: str
    domain: Domain
    function: Function
    optimum: float
    maximizers: Floats
    noise: Noise
    norm: float = math.inf

    def draw(self, points: Floats, rng: np.random.Generator) -> Floats:
        """Noisy evaluations of points (n × d): n rewards."""
        return self.noise.draw(self.function(points), rng)

    def on_grid(self, n: int) -> "Problem":
        """The same function on a grid of n values per dimension of its box."""
        if self.domain.size is not None:
            raise TypeError(f"only a box has a grid; {self.name} is a list already")
        grid = as_box(self.domain).grid(n)
        return on_list(self.name, grid, self.function, self.noise, self.norm)

    def values(self) -> Floats:
        """The function at every candidate (A)."""
        if self.domain.size is None:
            raise TypeError(f"{self.name} has no list of candidates: see on_grid")
        return _in_blocks(self.function, as_candidates(self.domain).points)


def on_list(
    name: str, candidates: Candidates, function: Function, noise: Noise, norm: float
) -> Problem:
    """A problem on a list, with the list's own optimum."""
    values = _in_blocks(function, candidates.points)
    best = float(values.max())
    where = candidates.points[values == best]
    return Problem(name, candidates, function, best, where, noise, norm)


def _in_blocks(function: Function, points: Floats) -> Floats:
    blocks = np.array_split(points, -(-len(points) // _BLOCK))
    found = [_checks.rewards(function(block), len(block), "function(points)") for block in blocks]
    return np.concatenate(found)
