"""The papers' synthetic problems: functions to *maximise*, with their optimum and their noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.kernels import Kernel, Matern
from noregret.problems.noise import Noise
from noregret.spaces import Box, Candidates

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
        Of an evaluation.
    norm
        The function's norm in the RKHS of the kernel it is made of; infinite where it is made of
        none.
    """

    name: str
    domain: Box | Candidates
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
        if not isinstance(self.domain, Box):
            raise TypeError(f"only a box has a grid; {self.name} is a list already")
        return _on_list(self.name, self.domain.grid(n), self.function, self.noise, self.norm)

    def values(self) -> Floats:
        """The function at every candidate (A)."""
        if isinstance(self.domain, Box):
            raise TypeError(f"{self.name} has no list of candidates: see on_grid")
        return _in_blocks(self.function, self.domain.points)


def _on_list(
    name: str, candidates: Candidates, function: Function, noise: Noise, norm: float
) -> Problem:
    """A problem on a list, with the list's own optimum."""
    values = _in_blocks(function, candidates.points)
    best = float(values.max())
    where = candidates.points[values == best]
    return Problem(name, candidates, function, best, where, noise, norm)


def _in_blocks(function: Function, points: Floats) -> Floats:
    blocks = np.array_split(points, -(-len(points) // _BLOCK))
    return np.concatenate([function(block) for block in blocks])


# -- classics of global optimisation, to be minimised -------------------------------------------


def branin(X: Floats) -> Floats:
    """Branin's function (n × 2 → n), usually on [−5, 10] × [0, 15]."""
    a, b = X.T
    bowl = np.square(b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6)
    return np.asarray(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def six_hump_camel(X: Floats) -> Floats:
    """The six-hump camel function (n × 2 → n), usually on [−3, 3] × [−2, 2]."""
    a, b = X.T
    return np.asarray((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2)


def rosenbrock(X: Floats) -> Floats:
    """Rosenbrock's function in two dimensions (n × 2 → n), usually on [−5, 10]²."""
    a, b = X.T
    return np.asarray(100 * np.square(b - a**2) + np.square(a - 1))


def bohachevsky(X: Floats) -> Floats:
    """Bohachevsky's first function (n × 2 → n), usually on [−100, 100]²."""
    a, b = X.T
    waves = 0.3 * np.cos(3 * np.pi * a) + 0.4 * np.cos(4 * np.pi * b)
    return np.asarray(a**2 + 2 * b**2 - waves + 0.7)


_HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])


def hartmann(X: Floats) -> Floats:
    """Hartmann's function in six dimensions (n × 6 → n), on the unit cube."""
    apart = np.square(X[:, None] - _HARTMANN_P)
    return np.asarray(-np.exp(-(_HARTMANN_A * apart).sum(axis=2)) @ _HARTMANN_WEIGHTS)


def ackley(X: Floats) -> Floats:
    """Ackley's function in any dimension (n × d → n), usually on [−32.768, 32.768]ᵈ."""
    root = -20 * np.exp(-0.2 * np.sqrt(np.square(X).mean(axis=1)))
    return np.asarray(root - np.exp(np.cos(2 * np.pi * X).mean(axis=1)) + 20 + np.e)


def levy(X: Floats) -> Floats:
    """Levy's function in any dimension (n × d → n), usually on [−10, 10]ᵈ."""
    W = 1 + (X - 1) / 4
    body, last = W[:, :-1], W[:, -1]
    middle = np.square(body - 1) * (1 + 10 * np.square(np.sin(np.pi * body + 1)))
    end = np.square(last - 1) * (1 + np.square(np.sin(2 * np.pi * last)))
    return np.asarray(np.square(np.sin(np.pi * W[:, 0])) + middle.sum(axis=1) + end)


def _negative(function: Function) -> Function:
    return lambda X: -function(X)


def _classic(
    name: str, f: Function, sides: list[tuple[float, float]], deviation: float, minimizers: Floats
) -> Problem:
    """−f on its usual box, with Gaussian noise."""
    optimum = -float(f(minimizers[:1])[0])
    noise = Noise("gaussian", deviation)
    return Problem(name, Box(sides), _negative(f), optimum, minimizers, noise)


_BRANIN_SIDES = [(-5.0, 10.0), (0.0, 15.0)]
_BRANIN_MINIMIZERS = np.array([[-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475]])
_HARTMANN_MINIMIZER = np.array(
    [
        0.20168951100670543,
        0.15001069182345797,
        0.47687397422189703,
        0.2753324304940561,
        0.31165161660011326,
        0.6573005340656204,
    ]
)

#: negatives of classics on their usual boxes, with Gaussian noise, by name
BOXES: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        _classic("Branin", branin, _BRANIN_SIDES, 1.0, _BRANIN_MINIMIZERS),
        _classic("Hartmann-6", hartmann, [(0.0, 1.0)] * 6, 0.1, _HARTMANN_MINIMIZER[None]),
        _classic("Ackley-5", ackley, [(-32.768, 32.768)] * 5, 0.5, np.zeros((1, 5))),
        _classic("Levy-4", levy, [(-10.0, 10.0)] * 4, 0.5, np.ones((1, 4))),
    )
}


def _scaled(
    name: str,
    f: Function,
    sides: list[tuple[float, float]],
    minimizers: Floats,
    highest: Floats,
) -> Problem:
    """−f moved to the unit square and to values in [−1, 1]; ``highest``: where f is largest (2)."""
    box = Box(sides)
    span = box.upper - box.lower
    low, high = float(f(minimizers[:1])[0]), float(f(highest[None])[0])

    def function(X: Floats) -> Floats:
        return np.asarray(1.0 - 2.0 * (f(box.lower + X * span) - low) / (high - low))

    unit = (minimizers - box.lower) / span
    return Problem(name, Box([(0.0, 1.0)] * 2), function, 1.0, unit, Noise("uniform", 0.1))


#: "four common two-dimensional global optimisation baselines" of π-GP-UCB Figure 2, by name. The
#: paper prints neither which four nor their boxes: these are in the library it cites (Surjanovic &
#: Bingham 2013), on that library's boxes. On the unit square, scaled to [−1, 1] there, maximised.
SCALED: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        _scaled("Branin", branin, _BRANIN_SIDES, _BRANIN_MINIMIZERS, np.array([-5.0, 0.0])),
        _scaled(
            "Six-hump camel",
            six_hump_camel,
            [(-3.0, 3.0), (-2.0, 2.0)],
            np.array([[1.0], [-1.0]]) * [0.08984201310031807, -0.7126564030207396],
            np.array([3.0, 2.0]),
        ),
        _scaled(
            "Rosenbrock",
            rosenbrock,
            [(-5.0, 10.0)] * 2,
            np.ones((1, 2)),
            np.array([10.0, -5.0]),
        ),
        _scaled(
            "Bohachevsky",
            bohachevsky,
            [(-100.0, 100.0)] * 2,
            np.zeros((1, 2)),
            np.array([100.0, 100.0]),
        ),
    )
}


# -- ξ-greedy Thompson sampling, Section 5 ------------------------------------------------------


def bimodal(dimension: int, sigma: float = 1.0) -> Problem:
    """f¹ (one dimension) and f² (two): bumps at 2 and, twice as high, at 5 (eqs. 11 and 12).

    The box is not printed; [0, 8]ᵈ holds both bumps. The lower bump's tail moves the maximiser
    from 5 to 4.983 in one dimension, and less in two.
    """
    dimension = _checks.count("dimension", dimension)
    centres, heights = np.array([2.0, 5.0]), np.array([5.0, 10.0])
    scale = (2 * np.pi) ** (-dimension / 2)

    def parts(X: Floats) -> Floats:
        apart = np.square(X[:, None, :] - centres[:, None]).sum(axis=2)
        return np.asarray(scale * heights * np.exp(-0.5 * apart))

    def function(X: Floats) -> Floats:
        return np.asarray(parts(X).sum(axis=1))

    best = np.full((1, dimension), 5.0)
    for _ in range(60):  # the gradient is zero where x is the bumps' weighted mean
        weights = parts(best)[0]
        best[:] = weights @ centres / weights.sum()
    return Problem(
        "f¹" if dimension == 1 else "f²" if dimension == 2 else f"f, {dimension} dimensions",
        Box([(0.0, 8.0)] * dimension),
        function,
        float(function(best)[0]),
        best,
        Noise("gaussian", sigma),
    )


def unimodal(beta: float) -> Problem:
    """f_β = β exp(−(x − 5)²/8) on [0, 10] (the box is not printed), with noise of deviation 0.1."""
    beta = _checks.positive("beta", beta)

    def function(X: Floats) -> Floats:
        return np.asarray(beta * np.exp(-np.square(X[:, 0] - 5.0) / 8.0))

    name, box, best = f"f_β, β = {beta:g}", Box([(0.0, 10.0)]), np.array([[5.0]])
    return Problem(name, box, function, beta, best, Noise("gaussian", 0.1))


# -- random functions of an RKHS ----------------------------------------------------------------


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
    return _on_list(f"100 bumps of {kernel!r}", LINE, function, noise, function.norm)


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
    return _on_list(name, grid, function, Noise("uniform", 1.0), function.norm)
