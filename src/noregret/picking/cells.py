"""Who is next in a cell of a cover? A climb to the top of its upper confidence bound."""

import numpy as np
from scipy.optimize import minimize

from noregret._types import Floats, Points
from noregret.models.covered import LocalPosterior

#: steps of a search, and of its differences, in sides of a cell
_STEPS = 15
_DIFFERENCE = 1e-5


def climb_cell(
    bounds: tuple[Floats, Floats],
    posterior: LocalPosterior,
    followed: Points,
    upper: Floats,
    beta: float,
    searches: int,
) -> tuple[Floats, float, float] | None:
    """Climb to the top of mean + β·deviation from the best of the points that a cell follows.

    Parameters
    ----------
    bounds
        The cell's lower and upper corner (d each).
    followed, upper
        The points (P × d) and their bounds (P).
    searches
        Climbs, from the best points.

    Returns
    -------
    point, mean, deviation
        The best point found (d); ``None`` where no climb got above the best point followed.
    """
    low, high = bounds
    span = high - low
    steps = _DIFFERENCE * np.concatenate([np.eye(len(low)), -np.eye(len(low))])

    def loss(v: Floats) -> tuple[float, Floats]:
        around = np.clip(v + np.concatenate([np.zeros((1, len(v))), steps]), 0.0, 1.0)
        mean, variance = posterior.predict(low + span * around)
        values = -(mean + beta * np.sqrt(variance))
        up, down = np.split(values[1:], 2)
        wide = np.diagonal(around[1 : len(v) + 1] - around[len(v) + 1 :])
        return float(values[0]), (up - down) / wide

    best, found = float(upper.max()), None
    for i in np.argsort(-upper, kind="stable")[:searches]:
        result = minimize(
            loss,
            np.clip((followed[i] - low) / span, 0.0, 1.0),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(low),
            options={"maxiter": _STEPS},
        )
        if -result.fun > best:
            best, point = -float(result.fun), low + span * np.clip(result.x, 0.0, 1.0)
            mean, variance = posterior.predict(point[None])
            found = point, float(mean[0]), float(np.sqrt(variance[0]))
    return found
