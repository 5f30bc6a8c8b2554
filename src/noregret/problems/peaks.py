"""Functions with one peak or two, of ξ-greedy Thompson sampling (Basu & Ghosh 2017), Section 5."""

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.problems.noise import Noise
from noregret.problems.problem import Problem
from noregret.spaces import Box


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
