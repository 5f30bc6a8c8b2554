"""Classic functions of global optimisation to minimise, and problems to maximise made from them."""

from functools import partial

import numpy as np

from noregret._types import Floats
from noregret.problems.noise import Noise
from noregret.problems.problem import Function, Problem
from noregret.spaces import Box


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


_BRANIN_SIDES = [(-5.0, 10.0), (0.0, 15.0)]
_BRANIN_MINIMIZERS = np.array([[-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475]])


def _moved(f: Function, lower: Floats, span: Floats, low: float, high: float, X: Floats) -> Floats:
    return np.asarray(1.0 - 2.0 * (f(lower + X * span) - low) / (high - low))


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
    function = partial(_moved, f, box.lower, span, low, high)
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
