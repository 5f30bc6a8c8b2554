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
