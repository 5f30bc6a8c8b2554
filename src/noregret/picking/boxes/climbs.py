"""Climbs of many functions in the unit cube, side by side.

Each climb is BFGS with the bounds of the cube: coordinates at a bound that the gradient points out
of are held, and the others move by the quasi-Newton step, which is shortened until the value rises.
All climbs take their steps together, so that one call evaluates all functions.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noregret._types import Floats, Ints

#: a climb ends when its step is shorter than this, in sides of the cube
_SMALLEST_STEP = 1e-7
#: lengths of the first step and of the longest
_FIRST_STEP, _LONGEST_STEP = 0.02, 0.3
#: a step must reach this part of the rise that the gradient promises; else it is shortened by this
#: factor
_RISE, _SHORTER = 1e-4, 0.25
#: a step that must be shorter than this part goes along the gradient instead
_GIVEN_UP = 0.01


def climb_side_by_side(
    objectives: Callable[[Floats, Ints], tuple[Floats, Floats]], starts: Floats, calls: int = 100
) -> tuple[Floats, Floats]:
    """Where each start (n × d) climbs to (n × d), and the values there (n).

    Parameters
    ----------
    objectives
        Gives values (k) and gradients (k × d) at points (k × d) of the climbs with these numbers
        (k): each climb may have its own function.
    starts
        Points of the unit cube.
    calls
        Calls of the functions at most.
    """
    ends = np.clip(starts, 0.0, 1.0)
    climbing = np.arange(len(ends))
    levels, slopes = objectives(ends, climbing)
    inverses = _first_inverses(slopes)  # of the negative curvature, as far as it is known
    guessed, shares = np.ones(len(ends), dtype=bool), np.ones(len(ends))
    for _ in range(calls):
        tried = _ahead(ends[climbing], slopes[climbing], inverses[climbing], shares[climbing])
        moving = np.abs(tried - ends[climbing]).max(axis=1) > _SMALLEST_STEP
        climbing, tried = climbing[moving], tried[moving]
        if not len(climbing):
            break
        step, before = tried - ends[climbing], slopes[climbing]
        level, slope = objectives(tried, climbing)
        rises = level >= levels[climbing] + _RISE * np.einsum("ni,ni->n", before, step)
        shares[climbing] = np.where(rises, 1.0, _SHORTER * shares[climbing])
        risen = climbing[rises]
        # Gradients of coordinates that are held must not change the curvature of the others.
        change = np.where(step != 0.0, before - slope, 0.0)
        inverses[risen] = _updated(inverses[risen], step[rises], change[rises], guessed[risen])
        ends[risen], levels[risen], slopes[risen] = tried[rises], level[rises], slope[rises]
        guessed[risen] = False
        # A step that is cut off at bounds may lead downhill however short it is.
        lost = climbing[~guessed[climbing] & (shares[climbing] < _GIVEN_UP)]
        inverses[lost], guessed[lost], shares[lost] = _first_inverses(slopes[lost]), True, 1.0
    return ends, levels


def _first_inverses(slopes: Floats) -> Floats:
    """Inverse curvatures (n × d × d) that give short steps along the gradients (n × d)."""
    length = np.maximum(np.linalg.norm(slopes, axis=1), 1e-300)
    return np.asarray((_FIRST_STEP / length)[:, None, None] * np.eye(slopes.shape[1]))


def _ahead(x: Floats, slopes: Floats, inverses: Floats, shares: Floats) -> Floats:
    """The points (n × d) that are tried next."""
    free = np.where(slopes > 0, x < 1.0, x > 0.0)
    step = free * np.einsum("nij,nj->ni", inverses, free * slopes)
    length = np.maximum(np.linalg.norm(step, axis=1), 1e-300)
    step *= (shares * np.minimum(1.0, _LONGEST_STEP / length))[:, None]
    return np.asarray(np.clip(x + step, 0.0, 1.0))


def _updated(inverses: Floats, step: Floats, change: Floats, guessed: NDArray[np.bool_]) -> Floats:
    """Inverse curvatures (n × d × d) after steps (n × d) that lowered gradients by ``change``.

    This is the BFGS formula, left out where it would make an inverse indefinite. Inverses that were
    ``guessed`` (n) first take their scale from the step.
    """
    product = np.einsum("ni,ni->n", step, change)
    square = np.einsum("ni,ni->n", change, change)
    # Squares of tiny changes underflow, and say nothing about curvatures.
    sound = (product > 1e-10 * np.sqrt(square) * np.linalg.norm(step, axis=1)) & (square > 1e-300)
    product, square = np.where(sound, product, 1.0), np.where(sound, square, 1.0)
    identity = np.eye(step.shape[1])
    scaled = (product / square)[:, None, None] * identity
    before = np.where((sound & guessed)[:, None, None], scaled, inverses)
    part = step / product[:, None]
    left = identity - part[:, :, None] * change[:, None, :]
    found = left @ before @ left.transpose(0, 2, 1) + part[:, :, None] * step[:, None, :]
    return np.where(sound[:, None, None], found, inverses)
