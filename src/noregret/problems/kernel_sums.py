"""Random sums of kernel bumps: functions whose norm in the kernel's RKHS is known."""

import math
from dataclasses import dataclass, replace

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.kernels import Kernel, Matern
from noregret.problems.noise import Noise
from noregret.problems.problem import Problem, on_list
from noregret.spaces import Box, Candidates


@dataclass(frozen=True, eq=False)
class KernelSum:
    """Σ a_i k(·, x_i), a function of the kernel's RKHS.

    Attributes
    ----------
    kernel
        k.
    centres
        m × d points x_i.
    heights
        m coefficients a_i.
    """

    kernel: Kernel
    centres: Floats
    heights: Floats

    def __call__(self, X: Floats) -> Floats:
        """The values at n × d points (n)."""
        return np.asarray(self.kernel(X, self.centres) @ self.heights)

    @property
    def norm(self) -> float:
        """The norm in the RKHS, √(aᵀKa)."""
        square = float(self.heights @ self.kernel(self.centres, self.centres) @ self.heights)
        return math.sqrt(max(square, 0.0))

    def times(self, factor: float) -> "KernelSum":
        """The function times a number."""
        return replace(self, heights=factor * self.heights)


#: the list of TGP-UCB Section 6: 100 evenly spaced points of [0, 1]
LINE = Candidates(np.linspace(0.01, 1.0, 100))


def line(kernel: Kernel, noise: Noise, rng: np.random.Generator) -> Problem:
    """A random function on 100 points of [0, 1] (TGP-UCB Section 6): a sum of 100 kernel bumps.

    Centres are drawn uniformly from the list, heights from [−1, 1], or from [0, 1] where rewards
    are Pareto. Scaled to max |f| = 1 on the list, as in the authors' published code, so that B = 1.
    """
    centres = LINE.points[rng.integers(len(LINE), size=100)]
    heights = rng.uniform(0.0 if noise.kind == "pareto" else -1.0, 1.0, size=100)
    function = KernelSum(kernel, centres, heights)
    function = function.times(1.0 / float(np.abs(function(LINE.points)).max()))
    return on_list(f"100 bumps of {kernel!r}", LINE, function, noise, function.norm)


#: the kernel of π-GP-UCB Section 5
ROUGH = Matern(0.2, nu=1.5)


def bumps(dimension: int, rng: np.random.Generator, *, side: int = 30) -> Problem:
    """30d bumps of the Matérn-3/2 kernel on a grid of sideᵈ points (π-GP-UCB Section 5).

    Centres are uniform on the unit cube, heights on [−1, 1], noise on [−1, 1]; ``norm`` is exact.
    """
    dimension = _checks.count("dimension", dimension)
    centres = rng.random((30 * dimension, dimension))
    heights = rng.uniform(-1.0, 1.0, 30 * dimension)
    function = KernelSum(ROUGH, centres, heights)
    grid = Box([(0.0, 1.0)] * dimension).grid(side)
    name = f"{30 * dimension} bumps, {dimension} dimensions"
    return on_list(name, grid, function, Noise("uniform", 1.0), function.norm)
