"""Noisy functions to minimise on boxes, with instances that nobody chose by hand.

An instance is a number. It draws where a classic function has its minimum and how its axes lie.
Even instances are for tuning, odd ones for reporting. BBOB-noisy brings its own instances.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from noregret._types import Floats

#: values (n) of points (n × d), to be minimised
Function = Callable[[Floats], Floats]

#: uniform points that the median and the deviation of a function are measured at
_SAMPLE = 8192
#: noise over the function's standard deviation on its box
NOISE_LEVEL = 0.3
#: evaluations whose median stands for the value without noise, for BBOB-noisy
_REPEATS = 201


@dataclass(frozen=True)
class Task:
    """One instance of a function on the unit cube.

    Attributes
    ----------
    name, instance, noise
        Which it is; ``noise`` is ``"gaussian"``, ``"heavy"`` or ``"own"``.
    dimension
        d.
    value
        Without noise (n × d → n).
    draw
        One noisy value of a point (d), from a generator.
    optimum, median
        The smallest value, and the median over the cube.
    """

    name: str
    instance: int
    noise: str
    dimension: int
    value: Function
    draw: Callable[[Floats, np.random.Generator], float]
    optimum: float
    median: float

    def missing(self, X: Floats) -> Floats:
        """The share of the way from the median to the optimum still missing at points (n × d)."""
        return np.asarray((self.value(X) - self.optimum) / (self.median - self.optimum))


def ackley(X: Floats) -> Floats:
    """Ackley's function in any dimension."""
    root = -20 * np.exp(-0.2 * np.sqrt(np.square(X).mean(axis=1)))
    return np.asarray(root - np.exp(np.cos(2 * np.pi * X).mean(axis=1)) + 20 + np.e)


def levy(X: Floats) -> Floats:
    """Levy's function in any dimension."""
    W = 1 + (X - 1) / 4
    body, last = W[:, :-1], W[:, -1]
    middle = np.square(body - 1) * (1 + 10 * np.square(np.sin(np.pi * body + 1)))
    end = np.square(last - 1) * (1 + np.square(np.sin(2 * np.pi * last)))
    return np.asarray(np.square(np.sin(np.pi * W[:, 0])) + middle.sum(axis=1) + end)


def ellipsoid(X: Floats) -> Floats:
    """Σ 100^(i/(d−1)) x_i²."""
    return np.asarray(np.square(X) @ np.logspace(0.0, 2.0, X.shape[1]))


def rosenbrock(X: Floats) -> Floats:
    """A curved valley; minimum 0 at (1, …, 1)."""
    steps = 100.0 * np.square(X[:, 1:] - X[:, :-1] ** 2) + np.square(X[:, :-1] - 1.0)
    return np.asarray(steps.sum(axis=1))


def rastrigin(X: Floats) -> Floats:
    """A bowl with a grid of wells."""
    return np.asarray((np.square(X) + 10.0 - 10.0 * np.cos(2.0 * np.pi * X)).sum(axis=1))


def griewank(X: Floats) -> Floats:
    """A wide bowl with small waves."""
    waves = np.cos(X / np.sqrt(np.arange(1, X.shape[1] + 1))).prod(axis=1)
    return np.asarray(1.0 + np.square(X).sum(axis=1) / 4000.0 - waves)


def styblinski_tang(X: Floats) -> Floats:
    """Two wells a dimension; the minimum at −2.903534 in each."""
    return np.asarray(0.5 * (X**4 - 16.0 * X**2 + 5.0 * X).sum(axis=1))


def dixon_price(X: Floats) -> Floats:
    """A steep curved valley; minimum 0 at x_i = 2^(2^(1−i) − 1)."""
    i = np.arange(2, X.shape[1] + 1)
    rest = (i * np.square(2.0 * X[:, 1:] ** 2 - X[:, :-1])).sum(axis=1)
    return np.asarray(np.square(X[:, 0] - 1.0) + rest)


def zakharov(X: Floats) -> Floats:
    """A bowl and a very steep plate."""
    plate = X @ (0.5 * np.arange(1, X.shape[1] + 1))
    return np.asarray(np.square(X).sum(axis=1) + plate**2 + plate**4)


def powell(X: Floats) -> Floats:
    """Powell's singular function of eight variables; minimum 0 at 0."""
    a, b, c, d = (X[:, i::4] for i in range(4))
    terms = np.square(a + 10 * b) + 5 * np.square(c - d) + (b - 2 * c) ** 4 + 10 * (a - d) ** 4
    return np.asarray(terms.sum(axis=1))


def alpine(X: Floats) -> Floats:
    """Σ |x sin x + 0.1x|."""
    return np.asarray(np.abs(X * np.sin(X) + 0.1 * X).sum(axis=1))


def salomon(X: Floats) -> Floats:
    """Rings around the minimum."""
    r = np.sqrt(np.square(X).sum(axis=1))
    return np.asarray(1.0 - np.cos(2.0 * np.pi * r) + 0.1 * r)


def ridge(X: Floats) -> Floats:
    """A sharp ridge: x_1² + 10·‖the others‖."""
    return np.asarray(X[:, 0] ** 2 + 10.0 * np.sqrt(np.square(X[:, 1:]).sum(axis=1)))


def powers(X: Floats) -> Floats:
    """Σ |x_i|^(2 + 4i/(d−1))."""
    return np.asarray((np.abs(X) ** np.linspace(2.0, 6.0, X.shape[1])).sum(axis=1))


_HARTMANN_3_A = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
_HARTMANN_3_P = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)


_HARTMANN_6_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN_6_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann_3(X: Floats) -> Floats:
    """Hartmann's function in three dimensions, on the unit cube."""
    return _hartmann(_HARTMANN_3_A, _HARTMANN_3_P, X)


def hartmann_6(X: Floats) -> Floats:
    """Hartmann's function in six dimensions, on the unit cube."""
    return _hartmann(_HARTMANN_6_A, _HARTMANN_6_P, X)


def _hartmann(rates: Floats, centres: Floats, X: Floats) -> Floats:
    apart = (rates * np.square(X[:, None] - centres)).sum(axis=2)
    return np.asarray(-np.exp(-apart) @ np.array([1.0, 1.2, 3.0, 3.2]))


_SHEKEL_B = 0.1 * np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5])
_SHEKEL_C = np.array(
    [
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
    ]
).T


def shekel(X: Floats) -> Floats:
    """Ten narrow wells in four dimensions."""
    apart = np.square(X[:, None] - _SHEKEL_C).sum(axis=2)
    return np.asarray(-(1.0 / (apart + _SHEKEL_B)).sum(axis=1))


def cosine_mixture(X: Floats) -> Floats:
    """A bowl with shallow waves; minimum −0.1d at 0."""
    return np.asarray((np.square(X) - 0.1 * np.cos(5.0 * np.pi * X)).sum(axis=1))


_DIXON_PRICE: Floats = np.exp2(np.exp2(1.0 - np.arange(1.0, 6.0)) - 1.0)
_HARTMANN_3 = np.array([0.1145889, 0.5556489, 0.8525470])
_HARTMANN_6 = np.array([0.2016895, 0.1500107, 0.4768740, 0.2753324, 0.3116516, 0.6573005])
_SHEKEL = np.array([4.0007465, 4.0005929, 3.9996634, 3.9995098])

#: function, minimiser (d), and the side of the box, by name
CLASSICS: dict[str, tuple[Function, Floats, float]] = {
    "ackley-5": (ackley, np.zeros(5), 65.536),
    "alpine-7": (alpine, np.zeros(7), 20.0),
    "cosine-4": (cosine_mixture, np.zeros(4), 2.0),
    "dixon-price-5": (dixon_price, _DIXON_PRICE, 20.0),
    "ellipsoid-6": (ellipsoid, np.zeros(6), 10.0),
    "griewank-6": (griewank, np.zeros(6), 1200.0),
    "hartmann-3": (hartmann_3, _HARTMANN_3, 1.0),
    "hartmann-6": (hartmann_6, _HARTMANN_6, 1.0),
    "levy-4": (levy, np.ones(4), 20.0),
    "powell-8": (powell, np.zeros(8), 9.0),
    "powers-10": (powers, np.zeros(10), 2.0),
    "rastrigin-3": (rastrigin, np.zeros(3), 10.24),
    "ridge-10": (ridge, np.zeros(10), 10.0),
    "rosenbrock-4": (rosenbrock, np.ones(4), 15.0),
    "salomon-5": (salomon, np.zeros(5), 20.0),
    "shekel-4": (shekel, _SHEKEL, 10.0),
    "styblinski-tang-5": (styblinski_tang, np.full(5, -2.9035340), 10.0),
    "zakharov-8": (zakharov, np.zeros(8), 15.0),
}


def classic(name: str, instance: int, noise: str) -> Task:
    """A classic function whose minimum lies anywhere in the middle 80 % of each side.

    Every other pair of instances is rotated at random; the others have axes flipped and swapped.
    """
    f, minimiser, side = CLASSICS[name]
    d = len(minimiser)
    rng = np.random.default_rng([instance, sum(name.encode())])
    place = rng.uniform(0.1, 0.9, d)
    turn = _rotation(rng, d)
    if (instance // 2) % 2:
        turn = np.eye(d)[rng.permutation(d)] * rng.choice([-1.0, 1.0], d)

    def value(X: Floats) -> Floats:
        return f(minimiser + side * (X - place) @ turn.T)

    sample = value(rng.uniform(size=(_SAMPLE, d)))
    scale = NOISE_LEVEL * float(sample.std())

    def draw(x: Floats, rng: np.random.Generator) -> float:
        return float(value(x[None])[0]) + scale * _noise(noise, rng)

    optimum = float(f(minimiser[None])[0])
    return Task(name, instance, noise, d, value, draw, optimum, float(np.median(sample)))


def _rotation(rng: np.random.Generator, d: int) -> Floats:
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def _noise(kind: str, rng: np.random.Generator) -> float:
    """Gaussian, or Student's t with two degrees of freedom: its variance is infinite."""
    return float(rng.standard_normal() if kind == "gaussian" else rng.standard_t(2))


#: functions of BBOB-noisy with Gaussian and with Cauchy noise, severe and moderate, and dimensions
BBOB = tuple(
    f"bbob-{number}-{dimension}"
    for number, dimension in (
        (101, 2), (103, 5), (104, 10), (106, 20), (107, 5), (109, 10), (110, 3), (113, 5),
        (115, 10), (116, 20), (118, 3), (121, 10), (122, 5), (125, 5), (128, 2), (130, 3),
    )
)  # fmt: skip


@lru_cache(maxsize=256)
def _bbob_problem(number: int, dimension: int, instance: int) -> Any:
    """The problem and its optimum (it needs ``coco-experiment``)."""
    import cocoex

    chosen = f"function_indices:{number - 100} dimensions:{dimension}"
    suite = cocoex.Suite("bbob-noisy", "", f"{chosen} instance_indices:{instance}")
    problem = suite.get_problem(0)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the minimiser is only given as a file
        try:
            problem._best_parameter("print")
            minimiser = np.loadtxt("._bbob_problem_best_parameter.txt").reshape(-1)
        finally:
            os.chdir(here)
    return suite, problem, float(np.median([problem(minimiser) for _ in range(_REPEATS)]))


def bbob(name: str, instance: int) -> Task:
    """A function of BBOB-noisy, with the noise it brings; instance i is its i + 1-th."""
    _, number, d = name.split("-")
    dimension = int(d)
    _, problem, optimum = _bbob_problem(int(number), dimension, instance + 1)

    def value(X: Floats) -> Floats:
        points = 10.0 * X - 5.0
        return np.array([np.median([problem(x) for _ in range(_REPEATS)]) for x in points])

    def draw(x: Floats, rng: np.random.Generator) -> float:
        return float(problem(10.0 * x - 5.0))

    rng = np.random.default_rng(instance)
    median = float(np.median([draw(x, rng) for x in rng.uniform(size=(1024, dimension))]))
    return Task(name, instance, "own", dimension, value, draw, optimum, median)


def task(name: str, instance: int, noise: str) -> Task:
    """A task by its name; BBOB-noisy brings its own noise."""
    if name in CLASSICS:
        return classic(name, instance, noise)
    if name in BBOB:
        return bbob(name, instance)
    known = ", ".join([*CLASSICS, *BBOB])
    raise ValueError(f"unknown function {name!r}; there are {known}")
